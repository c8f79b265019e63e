/**
 * What happened to others, run again with ours: each `describe` is an incident of the field, named by what was seen there.
 * Every one asks what stays on the service, with which status the program ends, and which sentence a person is given.
 */
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exitStatus, exitStatusOf } from '../../src/core/exit.ts'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import { home, homes, keys, zillowEnd, zillowFeed, zillowRecord, zillowStart } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'
import { startFeedServer } from './feed-server.ts'
import type { FeedServer } from './feed-server.ts'

const records = (some: readonly Home[]): string => some.map((home) => zillowRecord(home)).join('')
const volatile = { refresh: '365d' }
const hour = 3_600_000
const all = homes(1, 20)

let world: RunWorld
let source: FeedServer
beforeEach(async () => {
  source = await startFeedServer()
  world = await RunWorld.start({ feeds: { north: { source: source.url, volatile } } })
})
afterEach(async () => {
  await world.end()
  await source.close()
})

const there = (): string[] => world.numbers()

/** Loads these homes and lets the service be seen once, so that all is known. */
async function loaded(some: readonly Home[] = all, feed: object = {}): Promise<void> {
  world.configure({ north: { source: source.url, volatile, ...feed } })
  source.give(zillowFeed(some))
  for (const counts of [{ create: some.length }, { unchanged: some.length }])
    expect(await world.run()).toMatchObject({ result: 'ok', counts })
  world.calls()
}

const holds = (report: ReadReport): string[] =>
  report.changes.flatMap((change) => (change.kind === 'hold' ? [change.why] : []))
const deleted = (report: ReadReport): string[] =>
  report.changes.flatMap((change) => (change.kind === 'delete' ? [change.mlsNumber] : [])).toSorted()

/** The run wrote nothing that takes away; it ended with this status and said this, in a note, a hold or its error. */
function nothingWasLost(report: ReadReport, status: number, sentence: string): void {
  expect(exitStatusOf([report.result])).toBe(status)
  expect([...report.notes, ...holds(report), report.error].join('\n')).toContain(sentence)
  expect(world.calls()).toMatchObject({ Delete: 0 })
}

describe('1: absence means one thing in a feed of everything and another in a feed of changes', () => {
  test('full: what is no longer in it goes', async () => {
    await loaded()
    source.give(zillowFeed(all.slice(2)))
    const report = await world.run()
    expect(exitStatusOf([report.result])).toBe(exitStatus.right)
    expect(report.changes.map(({ why }) => why)).toEqual(['gone from the feed', 'gone from the feed'])
    expect(there()).toEqual(keys(all.slice(2)))
  })

  test('delta: only what it names, by the status it gives; absence, even of nearly all, means nothing', async () => {
    await loaded(all, { delivery: 'delta' })
    source.give(
      zillowFeed([
        { ...all[0], status: 'Withdrawn' },
        { ...all[1], price: 123_400 },
      ]),
    )
    const report = await world.run()
    expect(report).toMatchObject({ result: 'ok', counts: { delete: 1, update: 1, hold: 0 } })
    expect(report.changes.find(({ kind }) => kind === 'delete')?.why).toContain('Withdrawn')
    expect(there()).toEqual(keys(all.slice(1)))
  })
})

describe('2: an OpenImmo file says itself whether it is everything (VOLL) or a part (TEIL)', () => {
  const openImmo = (scope: string, numbers: readonly string[], action = 'CHANGE'): string =>
    `<?xml version="1.0" encoding="UTF-8"?><openimmo><uebertragung art="OFFLINE" ${scope} modus="CHANGE" version="1.2.7" sendersoftware="Test"/><anbieter>${numbers
      .map(
        (number) =>
          `<immobilie><objektkategorie><vermarktungsart KAUF="1"/><objektart><haus haustyp="EINFAMILIENHAUS"/></objektart></objektkategorie>
<geo><plz>99999</plz><ort>Neustadt</ort></geo><preise><kaufpreis>300000</kaufpreis><waehrung iso_waehrung="EUR"/></preise>
<flaechen><wohnflaeche>120</wohnflaeche><grundstuecksflaeche>500</grundstuecksflaeche><anzahl_schlafzimmer>3</anzahl_schlafzimmer><anzahl_badezimmer>1</anzahl_badezimmer><anzahl_stellplaetze>1</anzahl_stellplaetze></flaechen>
<zustand_angaben><baujahr>1999</baujahr></zustand_angaben><freitexte><objektbeschreibung>Haus ${number}</objektbeschreibung></freitexte>
<verwaltung_techn><aktion aktionart="${action}"/><openimmo_obid>${number}</openimmo_obid></verwaltung_techn></immobilie>`,
      )
      .join('')}</anbieter></openimmo>`
  const numbers = ['OI-1', 'OI-2', 'OI-3', 'OI-4']

  test('VOLL deletes what it lacks, TEIL only what it says to delete, and a file that says nothing is a part', async () => {
    const preset = { preset: 'openimmo', defaults: { Url: 'https://makler.example', DaysOnMarket: 0 } }
    world.configure({ north: { source: source.url, volatile, ...preset } })
    source.give(openImmo('umfang="VOLL"', numbers))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 4, reject: 0 } })
    for (const part of [openImmo('umfang="TEIL"', ['OI-4']), openImmo('', ['OI-4'])]) {
      source.give(part)
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 0, hold: 0 } })
      expect(there()).toEqual(numbers)
    }
    source.give(openImmo('umfang="TEIL"', ['OI-1'], 'DELETE'))
    expect(deleted(await world.run())).toEqual(['OI-1'])
    source.give(openImmo('umfang="VOLL"', ['OI-3', 'OI-4']))
    const report = await world.run()
    expect(report.changes).toMatchObject([{ kind: 'delete', mlsNumber: 'OI-2', why: 'gone from the feed' }])
    expect(there()).toEqual(['OI-3', 'OI-4'])
  })
})

describe('3: an empty, faulty or short answer under HTTP 200 deleted every property at Christmas', () => {
  const whole = zillowFeed(all)
  const cut = zillowStart + records(all.slice(0, 15))
  const send =
    (headers: Record<string, string | number>, end: (response: ServerResponse, body: Buffer) => void) =>
    (response: ServerResponse, body: Buffer): void => {
      response.writeHead(200, { 'content-type': 'text/xml', ...headers })
      end(response, body)
    }
  const breakOff = (response: ServerResponse, body: Buffer): void => {
    response.write(body, () => response.destroy())
  }
  const end = (response: ServerResponse, body: Buffer): void => {
    response.end(body)
  }
  const { failed, held, partial } = exitStatus
  const incomplete = 'the delivery is incomplete'
  test.each<[string, string | Buffer, number, string, ((response: ServerResponse, content: Buffer) => void)?]>([
    ['an error page', '<!DOCTYPE html><html><body>Service unavailable</body></html>', failed, 'HTML'],
    ['an error as JSON', '{"error":"quota exceeded"}', failed, ''],
    ['another document', '<?xml version="1.0"?><Error>try again later</Error>', failed, 'Error'],
    ['an empty body', '', partial, incomplete],
    [
      'a root element with nothing in it',
      zillowStart + zillowEnd,
      held,
      'after this delivery 0 of 20 listings would stay',
    ],
    ['a cut in the middle of a record', whole.slice(0, Math.floor(whole.length * 0.7)), partial, incomplete],
    ['a cut between two records', cut, partial, incomplete],
    [
      'a whole document shorter than its Content-Length',
      cut + zillowEnd,
      partial,
      incomplete,
      send({ 'content-length': cut.length * 2 }, breakOff),
    ],
    [
      'a connection lost without Content-Length',
      cut,
      partial,
      incomplete,
      send({ 'transfer-encoding': 'chunked' }, breakOff),
    ],
    [
      'a gzip stream without its end',
      gzipSync(cut + zillowEnd).subarray(0, -6),
      partial,
      incomplete,
      send({ 'content-encoding': 'gzip' }, end),
    ],
  ])('%s', async (_, content, status, sentence, answer) => {
    await loaded()
    source.give(content, answer)
    nothingWasLost(await world.run(), status, sentence)
    expect(there()).toEqual(keys(all))
    source.give(whole)
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 20 } })
  })

  test('an answer of 500, then one that never comes', async () => {
    await loaded()
    source.give('', (response) => response.writeHead(500).end('oops'))
    nothingWasLost(await world.run(), failed, '500')
    source.give('', (response) => response.destroy())
    nothingWasLost(await world.run(), failed, source.url)
    expect(there()).toEqual(keys(all))
  })
})

describe('4: a cap of 5,000 deletes protects no agency of five listings', () => {
  test('three of five vanish: never more than half goes without a question', async () => {
    const five = homes(1, 5)
    await loaded(five)
    source.give(zillowFeed(five.slice(3)))
    nothingWasLost(
      await world.run(),
      exitStatus.held,
      '3 of 5 listings would leave the site; up to 2 may in 24 hours (limits.share)',
    )
    expect(there()).toEqual(keys(five))
    await world.approve()
    expect(deleted(await world.run())).toEqual(keys(five.slice(0, 3)))
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: 2, hold: 0 } })
  })
})

describe('5: a record that could not be read was taken for an absent one, and purged', () => {
  test('it is rejected with its problem, its listing stays, and what is really absent goes', async () => {
    await loaded()
    const broken = zillowRecord(all[0])
      .replace(/<Price>.*<\/Price>/, '<Price>ask</Price>')
      .replace(/<Bedrooms>.*<\/Bedrooms>/, '<Bedrooms>some</Bedrooms>')
    source.give(zillowStart + broken + records(all.slice(2)) + zillowEnd)
    const report = await world.run()
    expect(exitStatusOf([report.result])).toBe(exitStatus.partial)
    expect(report.rejects).toMatchObject([{ mlsNumber: all[0].mlsNumber }])
    expect(report.rejects[0].problems.join()).toContain('Bedrooms')
    expect(deleted(report)).toEqual(keys([all[1]]))
    expect(there()).toEqual(keys([all[0], ...all.slice(2)]))
  })

  test('without its MLSNumber and address it may be any that went with it: none of these is deleted', async () => {
    await loaded()
    const nameless = zillowRecord(all[0])
      .replace(/<MlsId>.*<\/MlsId>/, '<MlsId/>')
      .replace(/<StreetAddress>.*<\/StreetAddress>/, '<StreetAddress/>')
    source.give(zillowStart + nameless + records(all.slice(2)) + zillowEnd)
    nothingWasLost(await world.run(), exitStatus.partial, 'a record came without a readable MLSNumber, and may be it')
    expect(there()).toEqual(keys(all))
  })
})

describe('6 and 7: one source failed and its clean-up ran; one source cleaned up what another had brought', () => {
  test('a feed that fails takes nothing away, the other goes on, and neither touches the other or a hand-made listing', async () => {
    const south = homes(101, 112)
    world.configure({ north: { source: source.url, volatile }, south: { volatile } })
    source.give(zillowFeed(all))
    world.deliver(zillowFeed(south), 'south.xml')
    await world.run('sync', 'north')
    await world.run('sync', 'south')
    const { ExtensionColumn: _, ...byHand } = world.listing(all[0].mlsNumber)!
    world.standIn.seed(chatbot, [{ ...(byHand as StandInListing), MLSNumber: 'HAND-1' }])

    source.give('', (response) => response.writeHead(503).end())
    world.deliver(zillowFeed(south.slice(1)), 'south.xml')
    const reports = [await world.run('sync', 'north'), await world.run('sync', 'south')]
    expect(exitStatusOf(reports.map(({ result }) => result))).toBe(exitStatus.failed)
    expect(reports[0].error).toContain('503')
    expect(deleted(reports[1])).toEqual(keys([south[0]]))
    expect(there()).toEqual(['HAND-1', ...keys([...all, ...south.slice(1)])].toSorted())
  })

  test('a feed whose listings were all taken over by another one deletes none of them', async () => {
    const feeds = { north: { source: source.url, volatile }, south: { volatile } }
    world.configure(feeds)
    world.deliver(zillowFeed(all.slice(0, 6)), 'south.xml')
    await world.run('sync', 'south')
    source.give(zillowFeed(all))
    // The other feed runs in another container, with a store of its own.
    world.configure(feeds, {}, './other.db')
    expect((await world.run('sync', 'north')).counts).toMatchObject({ create: 14, update: 6 })
    world.configure(feeds)
    world.deliver(zillowFeed([...all.slice(3, 6), home(30)]), 'south.xml')
    const report = await world.run('sync', 'south')
    expect(deleted(report)).toEqual([])
    expect(report.counts).toMatchObject({ create: 1, forget: 3, hold: 3 })
    for (const { kind, why } of report.changes)
      if (kind !== 'create')
        expect(why).toMatch(/^(also in north, a feed of this chatbot that has it|feed north of this chatbot has it)$/)
    expect(there()).toEqual(keys([...all, home(30)]))
  })
})

describe('8: a licence ends by status, and such records stay in the feed for a few days only', () => {
  test('what the feed says is gone goes at once: no grace, no proof, and in a delivery that was cut', async () => {
    await loaded(all, { limits: { grace: { runs: 5, hours: 48 } } })
    source.give(zillowStart + records([{ ...all[0], status: 'Withdrawn' }, ...all.slice(1, 10)]))
    const report = await world.run()
    expect(deleted(report)).toEqual(keys([all[0]]))
    expect(report.changes.find(({ kind }) => kind === 'delete')?.why).toContain('Withdrawn')
    expect(there()).toEqual(keys(all.slice(1)))
  })

  test('a week later the record itself is gone: the full compare finds it', async () => {
    await loaded()
    world.clock.advance(8 * 24 * hour)
    source.give(zillowFeed(all.slice(1)))
    expect(deleted(await world.run())).toEqual(keys([all[0]]))
  })
})

describe('9: a guard that never let go: 76 withdrawn of 12,676 were held', () => {
  test('as many of a hundred go without a question, day by day', async () => {
    const hundred = homes(1, 100)
    await loaded(hundred)
    for (let day = 1; day <= 3; day++) {
      source.give(zillowFeed(hundred.slice(day * 10)))
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: 10, hold: 0 } })
      world.clock.advance(24 * hour)
    }
    expect(there()).toEqual(keys(hundred.slice(30)))
  })

  test('what a person let through is the measure from then on, however the feed goes on', async () => {
    const hundred = homes(1, 100)
    await loaded(hundred)
    source.give(zillowFeed(hundred.slice(60)))
    nothingWasLost(
      await world.run(),
      exitStatus.held,
      '60 of 100 listings would leave the site; up to 20 may in 24 hours (limits.share)',
    )
    await world.approve()
    // By the time of the next run one more is gone, which nobody was asked about; and so it goes on, day by day.
    for (let gone = 61; gone <= 65; gone++) {
      world.clock.advance(23 * hour)
      source.give(zillowFeed(hundred.slice(gone)))
      expect(await world.run()).toMatchObject({ result: 'ok', counts: { delete: gone === 61 ? 61 : 1, hold: 0 } })
    }
    // The measure is what it became: a share of that is doubted again.
    source.give(zillowFeed(hundred.slice(75)))
    expect((await world.run()).notes.join()).toContain('12 of 37 listings would leave the site; up to 7 may')
  })
})

describe('10: a filter made narrower turned everything else into deletes', () => {
  test('the guard asks first, and says it was the filter; made wide again, all come back', async () => {
    await loaded()
    const north = { source: source.url, volatile, where: { City: [all[0].city] } }
    world.configure({ north })
    const inTown = all.filter(({ city }) => city === all[0].city)
    const report = await world.run()
    expect(report.notes.join()).toMatch(
      /^The mapping changed since the last run: \d+ of 20 listings would leave the site/,
    )
    nothingWasLost(report, exitStatus.held, 'limits.share')
    expect(report.delivery).toMatchObject({ complete: true, filtered: all.length - inTown.length })
    expect(holds(report)[0]).toContain('City')
    expect(there()).toEqual(keys(all))
    await world.approve()
    expect(deleted(await world.run())).toHaveLength(all.length - inTown.length)
    expect(there()).toEqual(keys(inTown))

    world.configure({ north: { source: source.url, volatile } })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: all.length - inTown.length } })
    expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: all.length } })
    expect(there()).toEqual(keys(all))
  })

  test('a filter that leaves nothing is asked about, and no time lets it go', async () => {
    await loaded()
    world.configure({ north: { source: source.url, volatile, where: { City: ['Atlantis'] } } })
    for (const days of [0, 4, 30]) {
      world.clock.advance(days * 24 * hour)
      nothingWasLost(await world.run(), exitStatus.held, 'after this delivery 0 of 20 listings would stay as they are')
    }
    expect(there()).toEqual(keys(all))
  })
})

describe('1330 properties were deleted at once', () => {
  test('the whole stock gone from a feed that looks whole: held, named with the setting, and let go by one approval', async () => {
    const stock = homes(1, 1330)
    await loaded(stock)
    source.give(zillowFeed(stock.slice(1329)))
    const report = await world.run()
    nothingWasLost(
      report,
      exitStatus.held,
      '1329 of 1330 listings would leave the site; up to 266 may in 24 hours (limits.share)',
    )
    expect(report.notes.join('\n')).toContain('after this delivery 1 of 1330 listings would stay as they are')
    expect(report.counts).toMatchObject({ delete: 0, hold: 1329 })
    expect(world.listings()).toHaveLength(1330)
  })
})
