/** The commands by their command lines, in this process: exit statuses and output streams. */
import { mkdirSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { healthOf } from '../../bin/heartbeat.mjs'
import { createDoors } from '../../src/app/doors.ts'
import { openApp } from '../../src/app/open.ts'
import { approveCommand } from '../../src/commands/approve.ts'
import { examples } from '../../src/commands/examples.ts'
import { messageOf } from '../../src/core/errors.ts'
import { readinessOf } from '../../src/daemon/status.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { homes, zillowEnd, zillowFeed, zillowRecord, zillowStart } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { executed } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

const all = homes(1, 12)
const secret = 'test-secret-key'

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start({ standIn: { keys: { secret, session: 'right-session-key' } } })
  world.deliver(zillowFeed(all))
})
afterEach(() => world.end())

const headKeys =
  'version feed chatbot startedAt finishedAt result delivery remote counts estimate digest notes holds'.split(' ')
const lists = ['changes', 'rejects']
const applied = ['outcomes', 'calls', 'failures']
const deliveryKeys = 'complete reasons records listings removals filtered duplicates rejects bytes'.split(' ')
const countKeys = 'create update delete adopt forget hold unchanged reject'.split(' ')

/** The report's keys in their order, and nothing else on standard output. */
function documentOf(stdout: string, keys: string[]): Record<string, unknown> {
  const document = JSON.parse(stdout) as Record<string, Record<string, unknown>>
  expect(Object.keys(document)).toEqual(keys)
  expect(Object.keys(document['delivery'])).toEqual(deliveryKeys)
  expect(Object.keys(document['remote'])).toEqual(['complete', 'reasons', 'pages', 'listings'])
  expect(Object.keys(document['counts'])).toEqual(countKeys)
  expect(Object.keys(document['estimate'])).toEqual(['calls', 'seconds'])
  return document
}

test('diff → 2, sync → 0, diff → 0, with the JSON of the contract', async () => {
  const diff = await world.executed('diff', '--format', 'json')
  expect(diff).toMatchObject({ status: 2, stderr: '' })
  const planned = documentOf(diff.stdout, [...headKeys, ...lists])
  expect(planned).toMatchObject({ version: 1, feed: 'north', chatbot: 'SN-1', result: 'changes' })
  const [change] = planned['changes'] as Record<string, unknown>[]
  expect(Object.keys(change)).toEqual('kind mlsNumber why fields address city saleType currency price'.split(' '))
  expect(Object.keys((change['fields'] as object[])[0])).toEqual(['field', 'from', 'to'])
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  expect(world.storeBytes()).toEqual({})

  const sync = await world.executed('sync', '--format', 'json')
  expect(sync).toMatchObject({ status: 0, stderr: '' })
  const done = documentOf(sync.stdout, [...headKeys, ...lists, ...applied])
  expect(done).toMatchObject({ result: 'ok', digest: planned['digest'], outcomes: { done: 12 }, failures: [] })
  expect(Object.keys(done['outcomes'] as object)).toEqual(['done', 'failed', 'unknown', 'skipped'])
  expect(Object.keys(done['calls'] as object)).toEqual(['create', 'update', 'delete', 'list'])

  const store = world.storeBytes()
  const again = await world.executed('diff', '--format', 'json')
  expect(again.status).toBe(0)
  expect(documentOf(again.stdout, [...headKeys, ...lists])).toMatchObject({ result: 'ok', changes: [] })
  expect(world.storeBytes()).toEqual(store)
})

test('a held run → 3; status and approve; then 0', async () => {
  await world.executed('sync')
  const gone = all.slice(0, 5).map((home) => home.mlsNumber)
  world.deliver(zillowFeed(all.slice(5)))
  expect((await world.executed('diff')).status).toBe(3)
  const held = await world.executed('sync', '--format', 'json')
  expect(held.status).toBe(3)
  expect(documentOf(held.stdout, [...headKeys, ...lists, ...applied])).toMatchObject({
    notes: [expect.stringContaining('5 of 12 listings would leave the site; up to 3 may in 24 hours (limits.share)')],
    holds: [
      {
        rule: 'leaving',
        setting: 'limits.share',
        numbers: { leaving: 5, ours: 12, allowed: 3 },
        keys: gone.toSorted(),
      },
    ],
  })

  const status = await world.executed('status', '--format', 'json')
  expect(status).toMatchObject({ status: 0, stderr: '' })
  const document = JSON.parse(status.stdout) as { held: { kind: string; why: string }[] }
  expect(document).toMatchObject({ feed: 'north', listings: 12, lastRun: { result: 'held' } })
  expect(document.held.map((one) => one.kind)).toEqual(Array.from({ length: 5 }, () => 'delete'))
  expect((await world.executed('status')).stdout).toContain('5 held')

  const asked = await world.executed('approve', 'north')
  expect(asked.status).toBe(64)
  expect(asked.stderr).toContain('--yes')
  expect(await world.executed('approve', 'north', '--yes')).toMatchObject({ status: 0 })
  expect((await world.executed('sync')).status).toBe(0)
  expect(world.listings()).toHaveLength(7)
  expect((await world.executed('approve', 'north', '--yes')).stdout).toContain('holds nothing')
})

test('what is held of a chatbot that the feed has left waits no more: its next run forgets it', async () => {
  await world.executed('sync')
  world.deliver(zillowFeed(all.slice(6)))
  expect((await world.executed('sync')).status).toBe(3)
  const ready = async () => (await world.executed('status', '--ready')).stdout
  expect(await ready()).toContain('listings would leave')
  world.configure({ north: { chatbot: 'SN-2' } })
  expect(await ready()).toBe('no daemon is alive on this store\n')
  expect((await world.executed('status')).stdout).not.toContain('held by')
  expect((await world.executed('approve', 'north', '--yes')).stdout).toContain('holds nothing')
  world.configure({ north: {} })
  expect(await ready()).toContain('listings would leave')
})

test('status tells that no daemon is there for the next run', async () => {
  world.configure({ north: { schedule: '0 2 * * *' } })
  await world.run()
  const nextRun = async () => /next run: .*/.exec((await world.executed('status')).stdout)?.[0]
  const noDaemon = async () => JSON.parse((await world.executed('status', '--format', 'json')).stdout).noDaemon
  expect(await nextRun()).toBe('next run: Sun 22 Nov 02:00 (UTC), but no daemon is alive on this store')
  expect(await noDaemon()).toBe('no daemon is alive on this store')
  const [note, now] = [`${world.folder}/store.db.alive`, world.clock.now() / 1000]
  writeFileSync(note, '')
  utimesSync(note, now, now)
  expect(await nextRun()).toBe('next run: Sun 22 Nov 02:00 (UTC)')
  expect(await noDaemon()).toBeNull()
})

test('approve shows what is held by rule, with each home, its price and since when; refuse and revoke; who and until when is in status', async () => {
  await world.executed('sync')
  const dear = (home: Home): Home => ({ ...home, price: home.price * 100 })
  world.deliver(zillowFeed([...all.slice(6, 9).map(dear), ...all.slice(9)]))
  expect((await world.executed('sync')).status).toBe(3)
  const stated = async (): Promise<Record<string, unknown>> =>
    JSON.parse((await world.executed('status', '--format', 'json')).stdout)
  const ready = async (): Promise<string> => (await world.executed('status', '--ready')).stdout

  const { stdout } = await world.executed('approve', 'north', '--refuse', '--yes')
  expect(stdout).toContain('north: 9 held\n')
  expect(stdout).toMatch(
    /\n {2}6 changes held by leaving since Sat 21 Nov 12:0\d; they go by themselves on Tue 24 Nov 12:0\d/,
  )
  expect(stdout).toMatch(/\n {2}3 changes held by facts since /)
  expect(stdout.match(/\n {4}delete /g)).toHaveLength(6)
  expect(stdout.match(/\n {4}update price /g)).toHaveLength(3)
  const [first] = all
  expect(stdout).toMatch(
    new RegExp(
      `\\n {4}delete ${first.mlsNumber}: .*${first.street}.*, ${first.city}, for sale, \\$[\\d,]+; since Sat 21 Nov 12:0\\d; gone`,
    ),
  )
  expect(stdout).toMatch(/\n {4}update price .+, \$[\d,]+ → \$[\d,]+ \(\+9,900%\); since /)
  expect(stdout).toContain('9 refused')
  // What was refused has no clock, and is still held.
  expect(await ready()).toContain('refused, so that only the feed or an approval ends')
  expect(JSON.parse((await world.executed('status', '--ready', '--format', 'json')).stdout)).toMatchObject({
    ready: false,
    reasons: [{ what: 'daemon' }, { what: 'held', feed: 'north' }, { what: 'held' }],
  })
  expect(await stated()).toMatchObject({ approvals: [] })

  expect((await world.executed('approve', 'north', '--revoke')).stdout).toContain('9 decisions are taken back')
  expect((await world.executed('approve', 'north', '--revoke')).stdout).toContain('nothing was approved or refused')
  expect(await ready()).toContain('they go by themselves on Tue 24 Nov')
  expect((await world.executed('approve', 'north', '--yes')).stdout).toMatch(
    /9 approved; the next run carries them out if the feed still says so\. The approval ends on Mon 21 Dec 12:0\d\n/,
  )
  const by = userInfo().username
  expect(await stated()).toMatchObject({
    approvals: [{ by, changes: 9, until: expect.stringMatching(/^2026-12-21T12:0/) }],
  })
  expect((await world.executed('status')).stdout).toMatch(
    new RegExp(`\\n {2}9 approved by ${by} on Sat 21 Nov 12:0\\d; .*; the approval ends on Mon 21 Dec 12:0\\d\\n`),
  )
  expect(await ready()).not.toContain('held by')
  expect((await world.executed('approve', 'north', '--revoke')).stdout).toContain('9 decisions are taken back')
  expect(await stated()).toMatchObject({ approvals: [] })

  world.configure({ north: { schedule: '0 3 1 1 *' } })
  expect((await world.executed('approve', 'north', '--yes')).stdout).toMatch(
    /The approval ends on Mon 21 Dec 12:0\d, before the next run by the clock: listing-sync sync north\n/,
  )
  await world.executed('approve', 'north', '--revoke')
  world.configure({ north: {} })
  expect((await world.executed('sync')).status).toBe(3)
})

test('--ready says what the rule found, when it goes, and how to approve it, whatever the last run was, in text and in JSON', async () => {
  await world.executed('sync')
  world.deliver(zillowFeed(all.slice(5)))
  await world.executed('sync')
  const found = '5 of 12 listings would leave the site; up to 3 may in 24 hours (limits.share)'
  const end =
    /5 changes held by leaving since Sat 21 Nov 12:0\d; they go by themselves on Tue 24 Nov 12:0\d if the feed still says so; now: listing-sync approve north$/
  const output = async (): Promise<string> => {
    const { stdout } = await world.executed('status', '--ready')
    const { reasons } = JSON.parse((await world.executed('status', '--ready', '--format', 'json')).stdout)
    const [{ text }] = reasons.filter(({ what }: { what: string }) => what === 'held')
    expect(stdout.split('\n')).toContain(`north: ${text}`)
    return text
  }
  const first = await output()
  expect(first.startsWith(`${found}. `)).toBe(true)
  expect(first).toMatch(end)
  // Neither says anything of what is held.
  world.deliver('')
  await world.executed('sync')
  rmSync(join(world.folder, 'north.xml'))
  await world.executed('sync')
  expect(await output()).toBe(first)
  await world.executed('approve', 'north', '--refuse', '--yes')
  expect(await output()).toMatch(
    /^5 of 12 listings .* 5 changes held .*; they were refused, so that only the feed or an approval ends them; now: /,
  )
})

test.each([
  [{}, /^They go by themselves on Tue 24 Nov 12:0\d if the feed still says so; /],
  [{ limits: 'off' }, /^They go with the next complete delivery that still says so, as limits is off; /],
])('--ready says the same of more than it reads one by one (%j)', async (settings, end) => {
  await world.executed('sync')
  world.deliver(zillowFeed(all.slice(5)))
  await world.executed('sync')
  world.configure({ north: settings })
  const app = openApp(world.context)
  const store = app.reader()
  const many = { ...store, holds: { ...store.holds, count: () => Promise.resolve(5001) } }
  const texts = (await readinessOf(app, many, app.config.feeds)).flatMap(({ what, text }) =>
    what === 'held' ? [text] : [],
  )
  await app.close()
  expect(texts).toHaveLength(1)
  const [first, second, ...rest] = texts[0].split('. ')
  expect([first, second]).toEqual([
    '5 changes held by leaving',
    expect.stringMatching(/^5 of 12 listings would leave the site; /),
  ])
  expect(rest.filter((text) => text.startsWith('They go'))).toEqual([expect.stringMatching(end)])
  expect(rest.at(-1)).toMatch(/; now: listing-sync approve north$/)
})

test('each sync or backfill that holds something logs the line to approve it, as nobody may read its report', async () => {
  await world.executed('sync')
  world.deliver(zillowFeed(all.slice(6)))
  const held = {
    level: 'warn',
    msg: 'run finished',
    feed: 'north',
    result: 'held',
    approve: 'listing-sync approve north',
  }
  const out = join(world.folder, 'report.txt')
  for (const words of [['sync', '--out', out], ['sync'], ['backfill', '--format', 'json']]) {
    const { status, stderr } = await world.executed(...words)
    expect({ status, ...JSON.parse(stderr) }).toMatchObject({ status: 3, ...held })
  }
  expect(await world.executed('diff')).toMatchObject({ status: 3, stderr: '' })
})

test('approve --format json: one document of what is held and what was decided, and nothing else', async () => {
  await world.executed('sync')
  world.deliver(zillowFeed(all.slice(6)))
  expect((await world.executed('sync')).status).toBe(3)
  const approve = async (...words: string[]) => {
    const { stdout, stderr, status } = await world.executed('approve', 'north', '--format', 'json', ...words)
    return { status, stderr, ...(stdout === '' ? {} : JSON.parse(stdout)) }
  }
  // Whoever asks is shown it beside the document.
  expect(await approve()).toMatchObject({ status: 64, stderr: expect.stringContaining('6 changes held by leaving') })
  const approved = await approve('--yes')
  expect(approved).toMatchObject({ status: 0, stderr: '', feed: 'north', decision: 'approved', changes: 6 })
  const { mlsNumber, street, city, price } = all[0]
  expect(approved.held).toHaveLength(6)
  expect(approved.held[0]).toMatchObject({
    mlsNumber,
    part: 'delete',
    rules: ['leaving'],
    city,
    saleType: 'for_sale',
    price: { from: price, to: null },
    address: expect.stringContaining(street),
    since: expect.stringMatching(/^2026-11-21T12:0/),
  })
  expect(await approve('--refuse', '--yes')).toMatchObject({ decision: 'refused', changes: 6 })
  expect(await approve('--revoke')).toMatchObject({ status: 0, decision: 'revoked', changes: 6 })
  expect(await approve('--revoke')).toMatchObject({ status: 0, decision: null, changes: 0 })
  world.deliver(zillowFeed(all))
  await world.executed('sync')
  expect(await approve('--yes')).toMatchObject({ status: 0, decision: null, changes: 0, held: [] })
})

test('approve and status --format json say all that their text does: what a rule found, when it goes, whether it asks, how long an approval lasts', async () => {
  world.configure({ north: {} })
  await world.executed('sync')
  world.deliver(zillowFeed(all.slice(5)))
  await world.executed('sync')
  const json = async (...words: string[]) => JSON.parse((await world.executed(...words, '--format', 'json')).stdout)
  const at = (day: number) => expect.stringMatching(new RegExp(`^2026-1[12]-${day}T12:0\\d:\\d\\d\\.\\d{3}Z$`))
  const hold = {
    rules: ['leaving'],
    changes: 5,
    since: at(21),
    goesAt: at(24),
    asks: false,
    decision: null,
    by: [],
    sentence: expect.stringMatching(
      /^5 of 12 listings would leave the site; up to 3 may in 24 hours \(limits\.share\)\. 5 changes held by leaving since .* on Tue 24 Nov/,
    ),
  }
  expect((await json('status')).holds).toEqual([hold])
  const approved = await json('approve', 'north', '--yes')
  expect(approved).toMatchObject({ holds: [hold], until: at(21) })
  expect(approved.message).toMatch(/^5 approved; .* The approval ends on Mon 21 Dec 12:0\d$/)
  expect(await json('status')).toMatchObject({ holds: [], approvals: [{ until: approved.until }], restarts: null })
  const by = [userInfo().username]
  const refused = await json('approve', 'north', '--refuse', '--yes')
  expect(refused).toMatchObject({ holds: [{ decision: 'approved', goesAt: null, asks: false, by }], until: null })
  expect(refused.message).toBe('5 refused; they stay held until the feed says otherwise')
  expect((await json('status')).holds).toMatchObject([{ decision: 'refused', goesAt: null, asks: true, by }])
  expect(await json('approve', 'north', '--revoke')).toMatchObject({ message: '5 decisions are taken back' })
  world.configure({ north: { limits: { confirm: 'never' } } })
  expect((await json('status')).holds).toMatchObject([{ decision: null, goesAt: null, asks: true, by: [] }])
  const app = openApp(world.context)
  await app.store().runs.noteStart(world.clock.now())
  await app.store().runs.noteStart(world.clock.now())
  await app.close()
  expect(await json('status')).toMatchObject({ restarts: { times: 2, at: at(21) } })
})

test('who refuses or revokes while a run is under way is told that it goes on by what was decided before', async () => {
  await world.executed('sync')
  world.deliver(zillowFeed(all.map((home) => ({ ...home, price: 3 * home.price }))))
  expect((await world.executed('sync')).status).toBe(3)
  expect((await world.executed('approve', 'north', '--yes')).stdout).not.toContain('This run')
  world.standIn.addFault({ operations: ['Update'], fault: { kind: 'hang' } })
  const before = world.standIn.counts.Update
  const running = world.executed('sync')
  await until(() => world.standIn.counts.Update > before)
  const { stdout } = await world.executed('approve', 'north', '--revoke')
  world.stop.abort()
  await running
  expect(stdout).toMatch(
    /^north: \d+ decisions are taken back\. This run goes on by .*, unless you stop it: sync under way since .* \(run 3\)/,
  )
})

test('an approval decides nothing, and shows what is held now, if that has changed or somebody else has decided meanwhile', async () => {
  await world.executed('sync')
  world.deliver(zillowFeed(all.slice(5)))
  expect((await world.executed('sync')).status).toBe(3)
  /** A person who takes a while to answer. */
  const decide = async (options: object, meanwhile: () => Promise<unknown>) => {
    const written: string[] = []
    const doors = { ...createDoors(), out: { ...createDoors().out, write: (text: string) => void written.push(text) } }
    const ask = () => meanwhile().then(() => true)
    const error = await approveCommand({ ...world.context, doors }, 'north', options, ask).catch(messageOf)
    return { lists: written.join('').split('north: ').slice(1), error }
  }
  const lineOf = (what: string): string =>
    `north: nothing was ${what}, as a run ended or somebody else decided meanwhile; the last list is what is held now`

  const changed = await decide({}, () => {
    world.deliver(zillowFeed(all.slice(6)))
    return world.executed('sync')
  })
  expect(changed.error).toBe(lineOf('approved'))
  expect(changed.lists.map((list) => list.slice(0, 6))).toEqual(['5 held', '6 held'])
  expect((await world.executed('sync')).status).toBe(3)

  const second = await decide({ refuse: true }, () => world.executed('approve', 'north', '--yes'))
  expect(second.error).toBe(lineOf('refused'))
  expect(second.lists[1]).toContain(`; approved by ${userInfo().username}\n`)

  const gone = await decide({ refuse: true }, () => world.executed('sync'))
  expect(gone.error).toBe(lineOf('refused'))
  expect(gone.lists[1]).toBe('the guard holds nothing that could be approved\n')
  expect(world.listings()).toHaveLength(6)
})

test('a record that can not be read → 4; held wins over it', async () => {
  const broken = zillowRecord(all[0]).replace(/<Bedrooms>.*<\/Bedrooms>/, '<Bedrooms/>')
  const file = (rest: readonly Home[]): string =>
    zillowStart + broken + rest.map((home) => zillowRecord(home)).join('') + zillowEnd
  world.deliver(file(all.slice(1)))
  expect((await world.executed('sync')).status).toBe(4)
  world.deliver(file(all.slice(6)))
  expect((await world.executed('sync')).status).toBe(3)
})

test('a listing that the service refuses → 4, with its message among the failures', async () => {
  const { mlsNumber } = all[3]
  world.standIn.addFault({ operations: ['Create'], mlsNumber, fault: { kind: 'refuse', message: 'No barns' } })
  const sync = await world.executed('sync', '--format', 'json')
  expect(sync.status).toBe(4)
  const { failures } = JSON.parse(sync.stdout) as { failures: Record<string, string>[] }
  expect(failures).toHaveLength(1)
  expect(Object.keys(failures[0])).toEqual(['mlsNumber', 'kind', 'result', 'error'])
  expect(failures[0]).toMatchObject({ mlsNumber, kind: 'create', result: 'failed' })
  expect(failures[0]['error']).toContain('No barns')
})

test('check tells once which secrets stand in the configuration, and no other command does', async () => {
  const served = { service: { baseUrl: 'https://h.example', secretKey: 'a-literal-key' } }
  world.configure({
    north: {},
    kept: { source: 'https://h.example/${TOKEN}/a.xml', headers: { 'X-Key': '${TOKEN}', Accept: 'text/xml' } },
    said: { ...served, source: 'https://u:literal-pass@h.example/', headers: { 'X-Key': 'literal-value' } },
    more: {
      source: 'sftp://h.example/a.xml',
      login: { user: 'u', password: 'literal-too', hostKey: `SHA256:${'A'.repeat(43)}` },
    },
    table: {
      source: '-',
      fields: { Images: { from: 'media:MediaURL', as: 'images' } },
      join: { media: { source: 'https://u:literal-join@h.example/', key: 'ResourceRecordKey', by: 'ListingKey' } },
    },
  })
  const words = (command: string) => ['--config', world.configFile, command, 'north']
  const env = { TOKEN: 'token-of-the-feed' }
  const { stdout } = await executed(words('check'), { env })
  expect(stdout.split('whoever may read the file has them')).toHaveLength(2)
  expect(stdout).toContain(
    'write them as ${NAME} or ${file:PATH}: ' +
      'feeds.said.source, feeds.said.headers.X-Key, feeds.said.service.secretKey, feeds.more.login.password, feeds.table.join.media.source',
  )
  expect(stdout).not.toContain('literal-')
  for (const command of ['diff', 'sync', 'status']) expect((await executed(words(command), { env })).stderr).toBe('')
})

describe('a run that fails → 1, and no secret is anywhere', () => {
  test('no feed', async () => {
    world.configure({ north: { source: './nowhere.xml' } })
    const sync = await world.executed('sync', '--format', 'json')
    expect(sync.status).toBe(1)
    expect(documentOf(sync.stdout, [...headKeys, ...lists, ...applied])).toMatchObject({ result: 'failed' })
    expect(sync.stderr).toContain('nowhere.xml')
  })

  test('keys that are refused, an address with a password, headers with a token', async () => {
    const source = 'http://robin:hunter2secret@127.0.0.1:1/export.xml?token=querysecret99'
    const headers = { Authorization: 'Bearer headersecret77' }
    world.configure(
      { north: {}, south: { source, headers } },
      { secretKey: 'wrong-secret-key', sessionKey: 'wrong-session-key' },
    )
    for (const format of ['json', 'text']) {
      const sync = await executed(['--config', world.configFile, 'sync', '--format', format], {
        env: { LISTING_SYNC_LOG: 'debug' },
      })
      expect(sync.status).toBe(1)
      expect(sync.stdout + sync.stderr).not.toMatch(
        /wrong-secret-key|wrong-session-key|hunter2secret|querysecret99|headersecret77/,
      )
      expect(sync.stderr + sync.stdout).toContain('The service refused the keys')
    }
    const status = await world.executed('status', '--format', 'json')
    expect(status.stdout).not.toMatch(/wrong-se|hunter2secret|querysecret99|headersecret77/)
  })

  test('a store that is no store', async () => {
    writeFileSync(join(world.folder, 'store.db'), 'not a database at all, but a text of some length '.repeat(50))
    const sync = await world.executed('sync')
    expect(sync.status).toBe(1)
    expect(sync.stderr + sync.stdout).toContain('store.db')
    expect(sync.stderr).not.toContain('defect')
    expect(world.listings()).toEqual([])
  })
})

test('several feeds: an array in their order; the worst status wins; one by name is an object', async () => {
  world.configure({ north: {}, south: { source: './nowhere.xml', chatbot: 'SN-2' }, west: { chatbot: 'SN-3' } })
  world.deliver(zillowFeed(all.slice(0, 2)), 'west.xml')
  const sync = await world.executed('sync', '--format', 'json')
  expect(sync.status).toBe(1)
  const documents = JSON.parse(sync.stdout) as { feed: string; result: string }[]
  expect(documents.map(({ feed, result }) => [feed, result])).toEqual([
    ['north', 'ok'],
    ['south', 'failed'],
    ['west', 'ok'],
  ])
  const [west, statuses] = await Promise.all([
    world.executed('diff', 'west', '--format', 'json'),
    world.executed('status', '--format', 'json'),
  ])
  expect(west.status).toBe(0)
  expect(JSON.parse(west.stdout)).toMatchObject({ feed: 'west', result: 'ok' })
  expect(JSON.parse(statuses.stdout)).toMatchObject([{ feed: 'north' }, { feed: 'south' }, { feed: 'west' }])
})

test('--out writes the report to a file and nothing to standard output', async () => {
  const out = join(world.folder, 'diff.json')
  const diff = await world.executed('diff', 'north', '--format', 'json', '--out', out)
  expect(diff).toMatchObject({ status: 2, stdout: '', stderr: '' })
  documentOf(readFileSync(out, 'utf8'), [...headKeys, ...lists])
  const nowhere = await world.executed('diff', '--out', join(world.folder, 'no', 'such', 'folder.txt'))
  expect(nowhere.status).toBe(1)
  expect(nowhere.stderr).toContain("can't be written")
})

test('the configuration is --config, else LISTING_SYNC_CONFIG', async () => {
  const env = { LISTING_SYNC_CONFIG: world.configFile }
  expect(await executed(['diff'], { env })).toMatchObject({ status: 2 })
  const missing = await executed(['--config', join(world.folder, 'none.yaml'), 'diff'], { env })
  expect(missing.status).toBe(78)
  expect(missing.stderr).toContain('none.yaml')
  const none = await executed(['diff'], { env: { LISTING_SYNC_CONFIG: '' } })
  expect(none.stderr).toMatch(/^listing-sync: config\/listing-sync\.yaml: /)
  expect(healthOf(['status', '--health'], '')).toBe('config/listing-sync.yaml')
})

test.each([
  [[]],
  [['dif']],
  [['diff', 'nirth']],
  [['diff', '--format', 'xml']],
  [['sync', '--everything']],
  [['approve']],
  [['approve', 'north', '--refuse', '--revoke']],
  [['stand-in', '--port', 'http']],
  [['daemon', '--workers', '0']],
  [['daemon', '--workers', 'many']],
])('wrong usage %j → 64', async (words: string[]) => {
  const { status, stdout, stderr } = await world.executed(...words)
  expect(status).toBe(64)
  expect(stdout).toBe('')
  expect(stderr).not.toBe('')
})

test('a wrong configuration → 78, every problem named with its path', async () => {
  writeFileSync(
    world.configFile,
    `service: { baseUrl: "ftp://x", secretKey: "\${NO_SUCH_KEY}", rat: 3 }
feeds:
  north: { chatbot: SN-1, preset: zillow, limits: { shrink: 400, share: 400 } }
`,
  )
  const { status, stdout, stderr } = await world.executed('sync', '--format', 'json')
  expect({ status, stdout }).toEqual({ status: 78, stdout: '' })
  for (const path of [
    'service.baseUrl',
    'NO_SUCH_KEY',
    'service.rat',
    'feeds.north.source',
    'feeds.north.limits.shrink',
    'feeds.north.limits.share',
  ])
    expect(stderr).toContain(path)
})

test('--help and --version → 0', async () => {
  const [help, version] = await Promise.all([executed(['--help']), executed(['--version'])])
  expect(help).toMatchObject({ status: 0, stderr: '' })
  expect(help.stdout).toContain('backfill')
  expect(version).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+( \([0-9a-f]{7,}\))?\n$/) as string,
  })
})

test('each command shows examples in its --help, with options that it has', async () => {
  for (const [name, lines] of Object.entries(examples)) {
    const { status, stdout } = await executed([name, '--help'])
    expect(status).toBe(0)
    for (const line of lines) {
      expect(stdout).toContain(`  ${line}\n`)
      const called = line.slice(line.indexOf('listing-sync ')).split(/[ |]+/)
      expect(called).toContain(name)
      for (const option of called.filter((word) => word.startsWith('--') && word !== '--config'))
        expect(stdout.slice(0, stdout.indexOf('Examples:')), line).toContain(`${option} `)
    }
  }
})

test.each([['demo'], ['demo --reso']])('%s proves the main job and leaves nothing behind', async (words) => {
  const temporary = join(world.folder, 'tmp')
  mkdirSync(temporary)
  vi.stubEnv('TMPDIR', temporary)
  const demo = await executed(words.split(' '))
  vi.unstubAllEnvs()
  expect(demo).toMatchObject({ status: 0, stderr: '' })
  expect(demo.stdout).toContain('The third run wrote nothing: the service equals the feed.')
  expect(readdirSync(temporary)).toEqual([])
})

test('approve shows a long list by pages on a terminal, as far as it is wanted, and asks once', async () => {
  const many = homes(1, 60)
  world.deliver(zillowFeed(many))
  await world.executed('sync')
  world.deliver(zillowFeed(many.slice(50)))
  expect((await world.executed('sync')).status).toBe(3)
  const approved = async (wanted: boolean[]): Promise<{ shown: number; asked: number; pages: string[] }> => {
    const [written, pages]: [string[], string[]] = [[], []]
    let asked = 0
    const real = createDoors()
    const doors = { ...real, out: { ...real.out, isTTY: true, write: (text: string) => void written.push(text) } }
    const ask = async (): Promise<boolean> => (asked++, false)
    const more = async (question: string): Promise<boolean> => (pages.push(question), wanted[pages.length - 1])
    expect(await approveCommand({ ...world.context, doors }, 'north', {}, ask, more)).toBe(1)
    return { shown: written.join('').match(/\n? {4}delete /g)!.length, asked, pages }
  }
  const [first, second] = ['30', '10'].map((left) => `${left} more of this rule: Enter shows them, q goes on`)
  expect(await approved([true, true])).toEqual({ shown: 50, asked: 1, pages: [first, second] })
  expect(await approved([true, false])).toEqual({ shown: 40, asked: 1, pages: [first, second] })
})

test('the report of a run on record can be had in every form', async () => {
  await world.executed('sync')
  world.deliver(zillowFeed([{ ...all[0], price: all[0].price + 1000 }, ...all.slice(1, 11)]))
  const sync = JSON.parse((await world.executed('sync', '--format', 'json')).stdout) as Record<string, unknown>
  const { report, run, ...listed } = JSON.parse(
    (await world.executed('runs', 'north', '--run', '2', '--format', 'json')).stdout,
  ) as Record<string, unknown>
  expect(run).toBe(2)
  expect(listed).toMatchObject({ feed: 'north', command: 'sync', result: 'ok' })
  const byKey = (list: unknown): unknown[] =>
    (list as { mlsNumber: string }[]).toSorted((a, b) => (a.mlsNumber < b.mlsNumber ? -1 : 1))
  expect({ ...(report as object), changes: byKey((report as typeof sync)['changes']) }).toEqual({
    ...sync,
    changes: byKey(sync['changes']),
  })
  for (const form of ['html', 'markdown']) {
    const { status, stdout } = await world.executed('runs', 'north', '--run', '2', '--format', form)
    expect(status).toBe(0)
    expect(stdout).toContain(all[0].street)
    expect(stdout).toMatch(/\$[\d,]+ → .{0,3}\$[\d,]+/)
  }
  expect(await world.executed('runs', 'north', '--format', 'html')).toMatchObject({
    status: 64,
    stderr: expect.stringContaining('--run N'),
  })
  expect(await world.executed('diff', '--images', 'h.example')).toMatchObject({
    status: 64,
    stderr: expect.stringContaining('--images goes with --format html'),
  })
})

test('of holds of a whole large office the first are shown, and all are counted and decided about', async () => {
  await world.executed('sync')
  const store = openStore(join(world.folder, 'store.db'))
  const part = { part: 'delete', content: 'gone', rules: ['leaving'], ends: 'confirmed' } as const
  const many = Array.from({ length: 6000 }, (_, at) => ({ mlsNumber: `M-${at}`, why: 'gone from the feed', part }))
  await store.holds.replace('north', many, { now: world.clock.now(), isWhole: true, letGo: () => 0 })
  await store.close()
  const output = async (...words: string[]): Promise<string> => (await world.executed(...words)).stdout
  const held = '  6000 changes held by leaving'
  const status = await output('status')
  expect(status).toContain(`\n${held}; now: listing-sync approve north\n  6000 held:\n    delete M-0, for `)
  expect(status).toContain('\n    and 5950 more (see --format json)\n')
  expect(await output('approve', 'north', '--refuse', '--yes')).toMatch(
    new RegExp(`^north: 6000 held\n${held}\n( {4}delete M-\\d+: .*\n){500} {4}and 5500 more\nnorth: 6000 refused; `),
  )
  expect(await output('status')).toContain(`\n${held}. No time lets go of what was refused of them; now: `)
  expect(await output('approve', 'north', '--yes')).toMatch(/\nnorth: 6000 approved; /)
  expect(await output('status')).toMatch(/\n {2}6000 approved by .* on /)
  expect(JSON.parse(await output('status', '--format', 'json'))).toMatchObject({ held: { length: 6000 } })
})

test('approve counts all that it is about, also what no rule holds of a large office', async () => {
  await world.executed('sync')
  const store = openStore(join(world.folder, 'store.db'))
  const heldBy = (name: string, length: number, rules: 'leaving'[]) =>
    Array.from({ length }, (_, at) => ({
      mlsNumber: `${name}-${at}`,
      why: 'gone from the feed',
      part: { part: 'delete', content: 'gone', rules, ends: 'confirmed' } as const,
    }))
  const held = [...heldBy('M', 5001, ['leaving']), ...heldBy('N', 300, [])]
  await store.holds.replace('north', held, { now: world.clock.now(), isWhole: true, letGo: () => 0 })
  await store.close()
  const { stdout } = await world.executed('approve', 'north', '--yes')
  expect(stdout).toContain(
    'north: 5301 held\n  5001 changes held by leaving\n    delete M-0: since Sat 21 Nov 12:00; gone from the feed\n',
  )
  expect(stdout).toMatch(
    / and 4501 more\n {2}300 changes approved before, or held by a record without MLSNumber\n( {4}.*\n)*north: 5301 approved; /,
  )
})

test('what a rule found in numbers with unseen characters reaches no terminal as it is, however much is held', async () => {
  const hostile = homes(1, 12).map((home) => ({ ...home, mlsNumber: `${home.mlsNumber}\u202e` }))
  world.deliver(zillowFeed(hostile))
  await world.executed('sync')
  world.deliver(zillowFeed(hostile.map((original) => ({ ...original, price: original.price * 100 }))))
  expect(await world.executed('sync')).toMatchObject({ status: 3 })
  const store = openStore(join(world.folder, 'store.db'))
  const part = { part: 'update price', content: 'x', rules: ['facts'], ends: 'confirmed' } as const
  const many = Array.from({ length: 5001 }, (_, at) => ({ mlsNumber: `M-${at}`, why: 'changed', part }))
  await store.holds.replace('north', many, { now: world.clock.now(), isWhole: true, letGo: () => 0 })
  await store.close()
  for (const words of [['status'], ['approve', 'north', '--yes']]) {
    const { stdout } = await world.executed(...words)
    expect(stdout).toContain('5001 changes held by facts. The price of 12 of 12 listings')
    expect(stdout).not.toContain('\u202e')
  }
})

test('a listing of which several facts are held counts once, wherever it is told', async () => {
  world.configure({ north: {} }, {}, './store.db', { metrics: './listing-sync.prom' })
  await world.executed('sync')
  const larger = (home: Home): Home => ({ ...home, price: home.price * 100, bedrooms: home.bedrooms + 3 })
  const output = async (...words: string[]): Promise<string> => (await world.executed(...words)).stdout
  // Of the last one something else changes, too, and goes on.
  world.deliver(zillowFeed([...all.slice(0, 6).map(larger), { ...larger(all[6]), title: 'Anew' }, ...all.slice(7)]))
  expect(await output('sync')).toContain('(update 1); 6 held and 1 in part, waiting for time or for you')
  const metrics = readFileSync(join(world.folder, 'listing-sync.prom'), 'utf8')
  expect(metrics).toContain('listing_sync_held_changes{feed="north"} 7\n')
  expect(metrics).toContain('listing_sync_held{feed="north",rule="facts"} 7\n')
  expect(await output('status')).toMatch(/\n {2}7 changes held by facts since .*\n {2}7 held:\n( {4}update .*\n){7}$/)
  expect(JSON.parse(await output('status', '--format', 'json'))).toMatchObject({ held: { length: 7 } })
  expect(await output('status', '--ready')).toContain('(limits.share). 7 changes held by facts since ')
  expect(await output('approve', 'north', '--refuse', '--yes')).toMatch(
    /^north: 7 held\n {2}7 changes held by facts since .*\n( {4}update price, size IA.*\n){7}north: 7 refused; /,
  )
  expect(await output('status')).toMatch(
    /\n {2}7 changes held by facts since .*; they were refused, so that only the feed/,
  )
  expect(await output('approve', 'north', '--revoke')).toBe('north: 7 decisions are taken back\n')
  expect(JSON.parse(await output('approve', 'north', '--yes', '--format', 'json'))).toMatchObject({
    decision: 'approved',
    changes: 7,
    // What is held of each stands here by itself.
    held: { length: 14 },
  })
  expect(await output('status')).toContain('\n  7 approved by ')
  expect(JSON.parse(await output('status', '--format', 'json'))).toMatchObject({ approvals: [{ changes: 7 }] })
  await output('approve', 'north', '--revoke')
  world.deliver(zillowFeed(all.map((home, at) => (at < 3 ? { ...larger(home), title: 'Anew' } : home))))
  expect(await output('diff')).toContain('; 3 held in part, waiting for time or for you')
})

describe('the first line of a report', () => {
  const dear = (home: Home): Home => ({ ...home, price: home.price * 100 })
  const first = async (...words: string[]): Promise<string> => {
    const { stdout } = await world.executed(...words)
    return stdout.split('\n')[0].replace(/^.*?: /, '')
  }
  const approve = 'listing-sync approve north'
  /** How much `approve` shows. */
  const shown = async (): Promise<string> =>
    /^north: (.*)\n/.exec((await world.executed('approve', 'north')).stdout)![1]

  test('counts as held what approve shows, and apart what waits for anything else', async () => {
    await world.executed('sync')
    world.deliver(zillowFeed(all.slice(5)))
    await world.executed('sync')
    world.deliver('')
    expect(await first('sync')).toBe(`nothing changed now; 5 held: ${approve}; 7 more held for other reasons`)
    expect(await shown()).toBe('5 held')
    world.deliver(zillowFeed(all.slice(3, 10).map((home, at) => (at < 2 ? home : dear(home)))))
    expect(await first('backfill')).toBe(`nothing changed now; 10 held: ${approve}; 2 more held for other reasons`)
    expect(await shown()).toBe('10 held')
  })

  test('adds what a delivery that is not whole holds to what was held before', async () => {
    await world.executed('sync')
    world.deliver(zillowFeed(all.slice(5)))
    await world.executed('sync')
    world.deliver(zillowFeed(all.map((home, at) => (at < 5 ? home : dear(home)))).replace(zillowEnd, ''))
    expect(await first('sync')).toContain(`; 12 held: ${approve}`)
    expect(await shown()).toBe('12 held')
  })

  test('counts what waits for a record without MLSNumber among what can be approved', async () => {
    await world.executed('sync')
    const nameless = zillowRecord(all[0]).replace(/<MlsId>.*<\/MlsId>/, '<MlsId></MlsId>')
    world.deliver(
      zillowStart +
        nameless +
        all
          .slice(1)
          .map((home) => zillowRecord(home))
          .join('') +
        zillowEnd,
    )
    const line = `nothing changed now; 1 held, waiting for you: ${approve}; 1 record rejected`
    expect(await first('sync')).toBe(line)
    expect(await shown()).toBe('1 held')
  })

  test('says that what a person alone ends waits for you', async () => {
    await world.executed('sync')
    world.deliver(zillowFeed(all.slice(5)))
    await world.executed('sync')
    await world.executed('approve', 'north', '--refuse', '--yes')
    expect(await first('sync')).toBe(`nothing changed now; 5 held, waiting for you: ${approve}`)
    await world.executed('approve', 'north', '--revoke')
    world.deliver(zillowFeed(all.map(dear)))
    expect(await first('sync')).toBe(`nothing changed now; 12 held, waiting for you: ${approve}`)
    world.configure({ north: { limits: { confirm: 'never' } } })
    world.deliver(zillowFeed(all.slice(5)))
    expect(await first('diff')).toBe(`nothing to change now; 5 held, waiting for you: ${approve}`)
  })

  test('says of listings that are held no such thing as that they do not change', async () => {
    await world.executed('sync')
    const unreadable = zillowRecord(all[0]).replace(/<Bedrooms>.*<\/Bedrooms>/, '<Bedrooms/>')
    const rest = all.slice(1).map((home) => zillowRecord(dear(home)))
    world.deliver(zillowStart + unreadable + rest.join('') + zillowEnd)
    expect(await first('diff')).toBe(`nothing to change now; 11 held, waiting for you: ${approve}; 1 record rejected`)
  })

  test('does not call held what another feed has', async () => {
    world.configure({ north: {}, south: {} })
    world.deliver(zillowFeed(all), 'south.xml')
    await world.executed('sync', 'north')
    expect(await first('sync', 'south')).toBe('nothing to change')
  })
})

describe('of a run that did not carry out all, status and runs tell', () => {
  const refused = (mlsNumber: string): void =>
    world.standIn.addFault({
      operations: ['Create'],
      mlsNumber,
      fault: { kind: 'refuse', message: 'No barns' },
    })
  const text = async (...words: string[]): Promise<string> => (await world.executed(...words)).stdout

  test('what was planned and what came of it, and the first that failed, with why and how to see all', async () => {
    for (const { mlsNumber } of all.slice(0, 7)) refused(mlsNumber)
    await world.executed('sync')
    const planned = 'planned 12 creates; done 5, failed 7'
    const status = await text('status')
    expect(status).toContain(`\n  changes: ${planned}\n  7 not carried out:\n`)
    expect(status.match(/\n {4}create IA\d+ failed: .*No barns/g)).toHaveLength(5)
    expect(status).toContain('\n    and 2 more; all of them: listing-sync runs --run 1\n')
    expect(await text('runs')).toContain(`; ${planned}\n`)
    const single = await text('runs', '--run', '1')
    expect(single).toContain(`\n  changes   ${planned}\n`)
    expect(single.split('  not carried out (7):\n')[1].match(/ {4}create IA\d+ failed: .*No barns\n/g)).toHaveLength(7)
    const { lastRun } = JSON.parse(await text('status', '--format', 'json'))
    const [{ mlsNumber }] = all
    expect(lastRun).toMatchObject({ counts: planned, failed: 7, failures: { length: 5 } })
    expect(lastRun.failures).toContainEqual({
      mlsNumber,
      kind: 'create',
      result: 'failed',
      error: expect.stringContaining('barns'),
    })
    world.standIn.clearFaults()
    world.deliver(zillowFeed(all.slice(7)))
    await world.executed('sync')
    expect(await text('status')).toContain('\n  changes: 5 unchanged\n')
  })

  test('what was left for the next run', async () => {
    world.configure({ north: { deadline: '1s' } }, { rate: 2 })
    await world.executed('sync')
    expect(await text('status')).toMatch(/\n {2}changes: planned 12 creates; done \d, skipped \d+\n/)
  })
})
