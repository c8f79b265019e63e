/** `join`: pictures that come in a second file, which may be late, cut, or not there. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { resoRow, resoTable } from '../support/delivery.ts'
import { startFeedServer } from './feed-server.ts'
import { RunWorld } from '../support/run-world.ts'

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
})
afterEach(() => world.end())

const media = {
  source: './media.csv',
  key: 'ResourceRecordID',
  by: 'ListingId',
  orderBy: 'Order',
  where: { MediaCategory: ['Photo'] },
}
const feed = {
  source: './north.csv',
  preset: 'reso-csv',
  delivery: 'full',
  limits: 'off',
  volatile: { refresh: '365d' },
  join: { media },
  fields: { Images: { from: 'media:MediaURL', as: 'images' } },
}
const image = (name: string): string => `https://photos.example/${name}.jpg`
const mediaRow = (id: string, name: string, order: number | string, category = 'Photo'): string =>
  `${id},${image(name)},${order},${category}`
const mediaHeader = 'ResourceRecordID,MediaURL,Order,MediaCategory'

const homes = (...ids: string[]): void => world.deliver(resoTable(...ids.map((id) => resoRow(id))), 'north.csv')
const pictures = (...rows: string[]): void => world.deliver(`${[mediaHeader, ...rows].join('\n')}\n`, 'media.csv')
/** The same pictures, of which a column has another name. */
const renamed = (column: string, name: string): void =>
  world.deliver(`${[mediaHeader.replace(column, name), ...all].join('\n')}\n`, 'media.csv')
const all = [
  mediaRow('M1', 'a10', 10),
  mediaRow('M2', 'b1', 1),
  mediaRow('M1', 'a2', 2),
  mediaRow('M1', 'plan', 1, 'Floor Plan'),
]
const imagesOf = (id: string): unknown => world.listing(id)?.['Images']
const note = 'is missing or not whole'

describe('a second file', () => {
  beforeEach(async () => {
    world.configure({ north: feed })
    homes('M1', 'M2', 'M3')
    pictures(...all)
    expect(await world.run()).toMatchObject({ error: null, counts: { create: 3 } })
  })

  test('gives each listing its rows, in their order, and its changes are changes of the listing', async () => {
    expect(imagesOf('M1')).toEqual([image('a2'), image('a10')])
    expect(imagesOf('M2')).toEqual([image('b1')])
    expect(imagesOf('M3') ?? []).toEqual([])
    expect(await world.run()).toMatchObject({ counts: { update: 0, unchanged: 3 } })
    pictures(...all, mediaRow('M3', 'c1', 1))
    expect(await world.run()).toMatchObject({ counts: { update: 1, unchanged: 2 } })
    expect(imagesOf('M3')).toEqual([image('c1')])
    // What is taken away in a whole file is gone.
    pictures(...all.slice(1), mediaRow('M3', 'c1', 1))
    expect(await world.run()).toMatchObject({ counts: { update: 1 } })
    expect(imagesOf('M1')).toEqual([image('a2')])
  })

  test.each([
    ['is not there', () => rmSync(join(world.folder, 'media.csv'))],
    ['is of no bytes', () => world.deliver('', 'media.csv')],
    ['holds no row', () => world.deliver(`${mediaHeader}\n`, 'media.csv')],
    ['is another table', () => world.deliver('Region,Median\nx,1\n', 'media.csv')],
    ['ends in the middle of a row', () => world.deliver(`${mediaHeader}\n${all[2]}\nM1,"https://phot`, 'media.csv')],
    [
      'holds a row that can not be read',
      () => world.deliver(`${mediaHeader}\n${all[2]}\n${all[0]},too,many\n`, 'media.csv'),
    ],
    ['calls the addresses otherwise', () => renamed('MediaURL', 'Link')],
    ['calls the order otherwise', () => renamed('Order', 'Sorting')],
    ['calls the category otherwise', () => renamed('MediaCategory', 'Kind')],
    ['is a page', () => world.deliver('<html><body>Log in</body></html>', 'media.csv')],
  ])('that %s clears no pictures, and the feed goes on', async (_, spoil) => {
    spoil()
    world.deliver(resoTable(resoRow('M1', { ListPrice: '260000' }), resoRow('M2'), resoRow('M4')), 'north.csv')
    const { error, counts, notes } = await world.run()
    expect({ error, counts }).toMatchObject({ error: null, counts: { create: 1, update: 1, delete: 1, unchanged: 1 } })
    expect(notes.join(' ')).toContain(`The table media (join) ${note}`)
    expect(world.listing('M1')).toMatchObject({ SalePrice: 260_000, Images: [image('a2'), image('a10')] })
    expect(imagesOf('M2')).toEqual([image('b1')])
    expect(imagesOf('M4') ?? []).toEqual([])
    expect(await world.run()).toMatchObject({ counts: { create: 0, update: 0 } })
    pictures(...all, mediaRow('M4', 'd1', 1))
    const whole = await world.run()
    expect(whole.notes.join(' ')).not.toContain(note)
    expect(imagesOf('M4')).toEqual([image('d1')])
    expect(imagesOf('M1')).toEqual([image('a2'), image('a10')])
  })
})

test('that lacks the column of one field clears nothing, though it has that of another', async () => {
  const fields = { ...feed.fields, Description: 'media:MediaCategory' }
  world.configure({ north: { ...feed, fields } })
  homes('M1')
  pictures(...all)
  expect(await world.run()).toMatchObject({ error: null, counts: { create: 1 } })
  renamed('MediaURL', 'Link')
  const { notes } = await world.run()
  expect(notes).toContainEqual(expect.stringContaining('it has no column "MediaURL"'))
  expect(imagesOf('M1')).toEqual([image('a2'), image('a10')])
})

test('that is missing ends no hold of what came from it, nor what a person decided about it', async () => {
  const ids = ['M1', 'M2', 'M3', 'M4']
  const whole = ids.map((id) => mediaRow(id, id, 1))
  world.configure({ north: { ...feed, limits: {} } })
  homes(...ids)
  pictures(...whole)
  expect(await world.run()).toMatchObject({ counts: { create: 4 } })
  expect(await world.run()).toMatchObject({ result: 'ok' })
  pictures(...whole.slice(2))
  expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 2 } })
  await world.executed('approve', 'north', '--refuse', '--yes')
  rmSync(join(world.folder, 'media.csv'))
  const between = await world.run()
  expect(between).toMatchObject({ result: 'held', counts: { hold: 0, unchanged: 4 } })
  expect(between.notes).toContainEqual(expect.stringContaining('2 held by earlier runs stay held'))
  pictures(...whole.slice(2))
  world.clock.advance(80 * 3_600_000)
  expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 2 } })
  expect(imagesOf('M1')).toEqual([image('M1')])
  pictures(...whole)
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { hold: 0, unchanged: 4 } })
})

test('that is missing ends no such hold either where the listing gets another change', async () => {
  const ids = Array.from({ length: 10 }, (_, n) => `M${n}`)
  const whole = ids.map((id) => mediaRow(id, id, 1))
  world.configure({ north: { ...feed, limits: {} } })
  homes(...ids)
  pictures(...whole)
  expect(await world.run()).toMatchObject({ counts: { create: 10 } })
  pictures(...whole.slice(3))
  expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 3 } })
  await world.executed('approve', 'north', '--refuse', '--yes')
  rmSync(join(world.folder, 'media.csv'))
  const cheaper = ['M0', 'M1'].map((id) => resoRow(id, { ListPrice: '240000' }))
  world.deliver(resoTable(...cheaper, ...ids.slice(2).map((id) => resoRow(id))), 'north.csv')
  const between = await world.run()
  expect(between).toMatchObject({ result: 'held', counts: { hold: 0, update: 2 } })
  expect(between.notes).toContainEqual(expect.stringContaining('3 held by earlier runs stay held'))
  // Two alone would be as many as may.
  pictures(...whole.slice(2))
  expect(await world.run()).toMatchObject({ result: 'held', counts: { hold: 2 } })
  expect([imagesOf('M0'), imagesOf('M1')]).toEqual([[image('M0')], [image('M1')]])
})

test('whose key a record lacks clears no pictures either', async () => {
  world.configure({ north: feed })
  homes('M1', 'M2')
  pictures(...all)
  await world.run()
  world.configure({ north: { ...feed, join: { media: { ...media, by: 'ListingKye' } } } })
  world.deliver(resoTable(resoRow('M1', { ListPrice: '260000' }), resoRow('M2')), 'north.csv')
  const { counts, notes } = await world.run()
  expect(counts).toMatchObject({ update: 1, unchanged: 1 })
  expect(notes.join(' ')).toContain('2 records have no ListingKye, which names their rows in the table media (join)')
  expect(world.listing('M1')).toMatchObject({ SalePrice: 260_000, Images: [image('a2'), image('a10')] })
})

test('of which no record has a row is told, as the keys are likely to be written in different ways', async () => {
  world.configure({ north: feed })
  homes('M1', 'M2', 'M3')
  pictures(...all.map((row) => row.replace(',', '.0,')))
  const sentence =
    'No record has a row in the table media (join): ListingId and its column ResourceRecordID may be written in different ways'
  expect(await world.run()).toMatchObject({ counts: { create: 3 }, notes: expect.arrayContaining([sentence]) })
  pictures(...all)
  expect((await world.run()).notes.join(' ')).not.toContain('No record has a row')
})

test('of which one record has more rows than a record may hold is not taken', async () => {
  world.configure({ north: { ...feed, maxRecordBytes: '20KB' } })
  homes('M1', 'M2')
  pictures(...Array.from({ length: 1000 }, (_, n) => mediaRow('M1', `a${n}`, n)))
  const { notes } = await world.run()
  expect(notes.join(' ')).toMatch(/the rows of M1 hold more than \d+ characters \(maxRecordBytes\)/)
  expect(imagesOf('M1') ?? []).toEqual([])
})

test('is read although the server says that the first one was not modified', async () => {
  const server = await startFeedServer()
  try {
    world.configure({ north: { ...feed, source: `${server.url}/north.csv` } })
    server.give(resoTable(resoRow('M1'), resoRow('M2')))
    pictures(...all)
    await world.run()
    pictures(...all.slice(1))
    expect(await world.run()).toMatchObject({ counts: { update: 1 } })
    expect(imagesOf('M1')).toEqual([image('a2')])
    expect(server.statuses).toEqual([200, 200])
  } finally {
    await server.close()
  }
})

describe('while it is missing', () => {
  const ids = Array.from({ length: 10 }, (_, n) => `M${n}`)
  const own = ids.map((id) => mediaRow(id, id, 1))
  const table = (dear: number, more: Record<string, string> = {}): void =>
    world.deliver(
      resoTable(...ids.map((id, n) => resoRow(id, n < dear ? { ListPrice: '25000000', ...more } : more))),
      'north.csv',
    )
  beforeEach(async () => {
    world.configure({ north: { ...feed, limits: {} } })
    table(0)
    pictures(...own)
    await world.run()
  })

  test.each([
    ['other words', { PublicRemarks: 'Other words now' }],
    ['nothing else', {}],
  ])('what is held of fields that it does not give ends where the feed is right again, with %s', async (_, more) => {
    table(5)
    expect(await world.run()).toMatchObject({ result: 'held' })
    rmSync(join(world.folder, 'media.csv'))
    table(0, more)
    expect(await world.run()).toMatchObject({ result: 'ok' })
    world.clock.advance(73 * 3_600_000)
    table(5)
    expect(await world.run()).toMatchObject({ result: 'held' })
    expect(world.listing('M0')).toMatchObject({ SalePrice: 250_000 })
  })

  test('a listing is counted once, of which a price is held beside its pictures', async () => {
    pictures(...own.slice(3))
    expect(await world.run()).toMatchObject({ result: 'held' })
    rmSync(join(world.folder, 'media.csv'))
    table(4)
    await world.run()
    expect((await world.executed('diff')).stdout).toMatch(/\b4 (?:are )?held\b/)
  })
})

test.each([
  [{ fields: {} }, /join\.media: no rule reads it/],
  [{ fields: { Bedrooms: 'media:Order', Images: 'media:MediaURL' } }, /fields\.Bedrooms: can't be read from media/],
  [{ extension: { Photo: 'media:MediaURL' } }, /join\.media: is for rules of fields/],
  [{ where: { 'media:MediaCategory': ['Photo'] } }, /join\.media: is for rules of fields/],
  [{ hideAddress: [{ from: 'media:Hide', equals: ['Y'] }] }, /join\.media: is for rules of fields/],
  [{ removeWhen: [{ past: 'media:Ends', why: 'ended' }] }, /join\.media: is for rules of fields/],
  [{ join: { media: { ...media, source: 'gopher://x/media.csv' } } }, /join\.media\.source: .*gopher/],
  [{ join: { media: { source: './media.csv', by: 'ListingId' } } }, /join\.media\.key/],
])('%j is an error of the configuration', async (more, problem) => {
  world.configure({ north: { ...feed, ...more } })
  await expect(world.run()).rejects.toThrow(problem)
})

test('words and reasons that look like a column of it are none', async () => {
  const removeWhen = [{ flag: { from: 'ListPrice', equals: ['media:x'] }, why: 'media:x' }]
  world.configure({ north: { ...feed, where: { ListPrice: ['media:x', '250000'] }, removeWhen } })
  homes('M1')
  pictures(...all)
  await expect(world.run()).resolves.toMatchObject({ error: null })
})
