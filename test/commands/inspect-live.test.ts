/** `inspect` of a live source: one page over HTTP, how it maps, and what the vendor lets ask and show. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Findings } from '../../src/inspect/findings.ts'
import type { ProfileName } from '../../src/stand-in/reso/profiles.ts'
import { addHomes, startReso } from '../../src/stand-in/reso/server.ts'
import { executed } from '../support/program.ts'

const token = 'the-token-of-the-feed-7741'
let folder: string
let reso: Awaited<ReturnType<typeof startReso>>
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-inspect-live-'))
})
afterEach(async () => {
  await reso.close()
  rmSync(folder, { recursive: true, force: true })
})

async function started(vendor: ProfileName, homes: number, source = '', feed = ''): Promise<void> {
  reso = await startReso({ vendor, now: () => Date.now(), token })
  addHomes(reso.world, homes)
  writeFileSync(
    join(folder, 'listing-sync.yaml'),
    `service: { baseUrl: http://127.0.0.1:9, secretKey: any }
feeds:
  north:
    chatbot: SN-1001
    preset: reso-web-api
    ${feed}
    source: { reso: ${reso.root}, vendor: ${vendor}, auth: { token: ${token} }${source} }
`,
  )
}

async function inspected(...more: string[]) {
  const { status, stdout, stderr } = await executed([
    '--config',
    join(folder, 'listing-sync.yaml'),
    'inspect',
    'north',
    ...more,
  ])
  expect(stdout + stderr).not.toContain(token)
  return { status, stdout, stderr }
}

async function findings(
  ...more: string[]
): Promise<{ status: number; found: Findings; live: NonNullable<Findings['live']> }> {
  const { status, stdout, stderr } = await inspected('--format', 'json', ...more)
  expect(stderr).toBe('')
  const found = JSON.parse(stdout) as Findings
  if (status === null) throw new Error('the command did not end')
  return { status, found, live: found.live! }
}

test('fields by how many records have them, from one page of the latest records', async () => {
  await started('generic', 30, ', expand: [Media]', "schedule: '*/15 * * * *'")
  const latest = [...reso.world.records.keys()].slice(0, 7)
  await new Promise((resolve) => setTimeout(resolve, 5))
  for (const key of latest) reso.world.put(key, { PoolFeatures: ['In Ground'] })
  reso.world.put(latest[0], { PoolFeatures: null })
  const { status, found, live } = await findings('--records', '7')
  expect(status).toBe(0)
  expect(found.document).toMatchObject({ format: 'reso', records: 7, complete: null })
  expect(found.counts).toMatchObject({ listings: 7, rejects: 0 })
  expect(found.fields.find(({ path }) => path === 'PoolFeatures')).toMatchObject({ filled: 85.7, usedFor: [] })
  expect(found.fields.find(({ path }) => path === 'ListPrice')).toMatchObject({ filled: 100 })
  expect(found.preset).toMatchObject({ name: 'reso-web-api', chosen: 'configured' })
  expect(live).toMatchObject({ counted: 30, licence: [], settings: [] })
  // A page and the count: nothing else is asked of somebody's quota.
  expect(reso.world.asked).toHaveLength(2)
  expect(live.schedule.join('\n')).toContain(
    'a first load of 30 records takes about 2 requests, a walk of all keys 3\nthe schedule makes 96 runs a day: about 99 requests',
  )
})

test('what would be rejected is shown, and costs the exit status', async () => {
  await started('generic', 3, ', expand: [Media]')
  const [key] = reso.world.records.keys()
  reso.world.put(key, { PropertyType: 'Castle' })
  const { status, found } = await findings()
  expect(status).toBe(4)
  expect(found.counts).toMatchObject({ listings: 2, rejects: 1 })
  expect(found.words).toMatchObject([{ field: 'SaleType', words: [{ word: 'Castle', count: 1 }] }])
})

test('MLS Grid: no pictures, the limits, the days after which all keys are walked, what is not licensed', async () => {
  await started('mlsgrid', 3, `, filter: "OriginatingSystemName eq 'actris'"`)
  const [key] = reso.world.records.keys()
  reso.world.put(key, { MlgCanUse: ['BO'] })
  const { stdout } = await inspected()
  const text = stdout.replaceAll(/\s+/g, ' ')
  expect(text).toContain('RESO Web API of MLS Grid')
  expect(text).toContain('listings of MLS Grid have no Images: its pictures are signed for one hour')
  expect(text).toContain('at most 2 a second, 7,200 an hour, 40,000 a day, 4 GB an hour, 60 GB a day')
  expect(text).toContain('1 of 3 records are licensed for neither IDX nor VOW')
  expect(text).toContain('after 6 days without a run all keys are walked first')
  expect(text).toContain('a walk of all keys two for each 5,000')
})

test('a schedule beyond what the vendor takes in a day is said; so is Media that nobody asked for', async () => {
  await started('bridge', 3, '', "schedule: '*/15 * * * * *'")
  const [key] = reso.world.records.keys()
  reso.world.put(key, { Media: [{ MediaURL: 'https://a.example/1.jpg?X-Amz-Expires=60' }] })
  const { live } = await findings()
  expect(live.schedule.join('\n')).toContain('5,760 runs a day: about 5,760 requests, beside the walks, of 120,000')
  expect(live.licence).toEqual(['1 of 7 pictures have an address that ends after a time, and are left out'])
  await reso.close()
  await started('trestle', 3, '', "schedule: '* * * * * *'")
  const { found, live: other } = await findings()
  expect(found.settings).toMatchObject([{ write: 'expand: [Media]' }])
  expect(other.schedule.join('\n')).toContain('86,400 runs a day')
})

test('a schedule of more requests than a day has is an advice to run less often', async () => {
  await started('mlsgrid', 1, `, filter: "OriginatingSystemName eq 'actris'"`, "schedule: '* * * * * *'")
  const { live } = await findings()
  expect(live.schedule.join('\n')).toContain('of 40,000: more than the vendor takes')
})

test('an answer that is no page is one sentence', async () => {
  await started('generic', 1)
  reso.world.answer = () => ({ status: 200, headers: {}, body: '<html></html>' })
  const { status, stdout, stderr } = await inspected()
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^listing-sync: .*should answer with JSON, and answers with a page of HTML or XML.*\n$/)
})
