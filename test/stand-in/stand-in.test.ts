import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { StandInSettingsError, readStandInSettings } from '../../src/stand-in/settings.ts'
import { startStandIn } from '../../src/stand-in/stand-in.ts'
import { chatbot, create, house, item, list, remove, send, shown, started, update } from './caller.ts'

function dataFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stand-in-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'rows.jsonl')
}

test('rows, identifiers and the next ID outlive a restart when there is a file', async () => {
  const file = dataFile()
  const first = await started({ file, profile: { createdIdentifier: 'guid' } })
  await create(first, house('A-1'))
  await create(first, house('A-2'))
  await update(first, 'A-1', house('A-1', { City: 'Ogdenville' }))
  first.seed('SN-2', [house('B-1')])
  await create(first, house('A-3'))
  await remove(first, ['A-3'])
  const rows = first.listings(chatbot)
  await first.close()

  const second = await started({ file })
  expect(second.listings(chatbot)).toEqual(rows)
  expect(second.listings('SN-2')).toHaveLength(1)
  await second.close()
  // The first line and the three rows: what was overwritten or removed is gone from the file.
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(4)

  const third = await started({ file })
  expect((await create(third, house('A-4'))).json.Data).toBe('1005')
})

test('a write cut off by a kill is dropped, a broken file is not taken', async () => {
  const file = dataFile()
  const first = await started({ file })
  await create(first)
  await first.close()
  appendFileSync(file, '{"serialNumber":"SN-1","id":1002,"row":{"id"')
  const second = await started({ file })
  expect(await shown(second)).toEqual(['A-1'])
  await second.close()
  writeFileSync(file, '{"nextId":1}\n{"serialNumber":"SN-1","id":1}\n')
  await expect(startStandIn({ file })).rejects.toThrow('line 2')
})

test('a person edits and removes', async () => {
  const standIn = await started()
  standIn.seed(chatbot, [house('A-1', { City: 'Springfield' }), house('A-1'), house('A-2')])
  expect(standIn.edit(chatbot, 'A-2', { City: 'Ogdenville', Status: 'Withdrawn' })).toBe(1)
  expect(await item(standIn)).toMatchObject({ MLSNumber: 'A-2', City: 'Ogdenville', Status: 'Withdrawn' })
  expect(standIn.edit(chatbot, 'A-1', { City: undefined })).toBe(2)
  expect('City' in standIn.listings(chatbot)[0].listing).toBe(false)
  expect(standIn.edit(chatbot, 'A-2', { MLSNumber: 'A-9' })).toBe(1)
  expect(await shown(standIn, { MLSNumber: 'A-9' })).toEqual(['A-9'])
  expect((await update(standIn, 'A-2', house('A-2'))).json.Data).toBe(0)
  expect(standIn.remove(chatbot, 'A-1')).toBe(2)
  expect(standIn.remove(chatbot, 'A-1')).toBe(0)
  expect(await shown(standIn)).toEqual(['A-9'])
})

test('the journal has every request and no key', async () => {
  let now = 1000
  const standIn = await started({ keys: { secret: 'top-secret', session: 'hush-hush' }, now: () => now++ })
  const body = { SerialNumber: chatbot, PageSize: 5 }
  await send(standIn, 'List', body, { authorization: 'top-secret' })
  await send(standIn, 'List', {}, { 'chatrobot-sessionkey': 'hush-hush' })
  await send(standIn, 'List', {}, { authorization: 'wrong-key' })
  const common = { operation: 'List', fault: null }
  expect(standIn.requests).toEqual([
    { ...common, index: 0, at: 1000, body, authorization: true, sessionKey: false, success: true },
    expect.objectContaining({ index: 1, authorization: false, sessionKey: true, success: true }),
    expect.objectContaining({ index: 2, authorization: true, success: false }),
  ])
  expect(JSON.stringify(standIn.requests)).not.toMatch(/top-secret|hush-hush|wrong-key/)
  expect(standIn.counts).toEqual({ Create: 0, Update: 0, List: 3, Delete: 0, Edit: 0, ClientAsk: 0 })
  standIn.resetCounts()
  expect([standIn.requests, standIn.counts.List]).toEqual([[], 0])
})

test('a long journal forgets its beginning, and its counts do not', async () => {
  const standIn = await started({ keepRequests: 2 })
  for (let call = 0; call < 6; call++) await list(standIn)
  expect(standIn.requests.map((entry) => entry.index)).toEqual([3, 4, 5])
  expect(standIn.counts.List).toBe(6)
})

test('faults, rows and journal over HTTP', async () => {
  const standIn = await started()
  const at = (path: string, init?: RequestInit) => fetch(`${standIn.url}/_stand-in/${path}`, init)
  const post = async (body: string) => {
    const response = await at('faults', { method: 'POST', body })
    return [response.status, await response.json()]
  }
  expect(await post('{"name":"storm","times":1,"fault":{"kind":"status","status":503}}')).toEqual([200, { added: 1 }])
  expect(await post('[{"nth":9,"fault":{"kind":"pretend"}},{"nth":8,"fault":{"kind":"pretend"}}]')).toEqual([
    200,
    { added: 2 },
  ])
  expect(await post('[{"fault":{"kind":"pretend"},"often":1},{"nth":0,"fault":{"kind":"pretend"}}]')).toEqual([
    400,
    { problems: ['0.often: unknown', expect.stringMatching(/^1\.nth: /)] },
  ])
  expect(await post('not JSON')).toMatchObject([400, {}])
  expect((await create(standIn)).status).toBe(503)
  expect((await create(standIn)).status).toBe(200)
  const journal: any = await (await at('journal')).json()
  expect(journal).toMatchObject({ counts: { Create: 2 }, requests: [{ fault: 'storm' }, { fault: null }] })
  const rows = await (await at(`listings?SerialNumber=${chatbot}`)).json()
  expect(rows).toMatchObject([{ id: 1001, identifier: '1001', listing: house() }])
  expect((await at('listings')).status).toBe(400)
  expect(await (await at('faults', { method: 'DELETE' })).json()).toEqual({ removed: 3 })
  expect((await at('constructor')).status).toBe(404)
})

test('settings from YAML: keys, profile, faults', async () => {
  const settings = readStandInSettings(`
keys: { secret: "open sesame" }
profile:
  order: id
  saleTypeShown: { for_sale: Sale }
  rateLimit: { callsPerSecond: 100 }
faults:
  - operations: [Create]
    nth: 2
    fault: { kind: refuse, message: No more }
`)
  const file = dataFile()
  const standIn = await startStandIn({ ...settings, file })
  onTestFinished(() => standIn.close())
  const headers = { authorization: 'open sesame' }
  expect((await send(standIn, 'Create', house(), headers)).json.Success).toBe(true)
  expect((await send(standIn, 'Create', house('A-2'), headers)).json.Message).toBe('No more')
  expect((await create(standIn, house('A-2'))).json.Code).toBe(401)
  expect((await send(standIn, 'List', {}, headers)).json.Data.List[0].SaleType).toBe('Sale')
  expect(readFileSync(file, 'utf8')).toContain('A-1')
})

test('the settings of docs/stand-in.md are well-formed, and what it calls the default is', () => {
  const page = readFileSync(new URL('../../docs/stand-in.md', import.meta.url), 'utf8')
  const [, shown] = /```yaml\n# stand-in\.yaml\n([^]*?)```/.exec(page) ?? []
  const { profile, faults, sessions } = readStandInSettings(shown)
  expect(profile).toEqual(readStandInSettings('').profile)
  expect([faults.map(({ fault }) => fault.kind), sessions]).toEqual([['say', 'cut-stream'], { 7: 'SN-1001' }])
})

test('empty settings are the defaults', async () => {
  expect(readStandInSettings('')).toMatchObject({
    keys: {},
    faults: [],
    profile: { version: '1.0.0', rateLimit: null },
  })
})

test('every mistake in the settings is named, with its path', () => {
  const read = () =>
    readStandInSettings(`
colour: red
keys: { secret: 12 }
profile: { order: sideways, maxKeys: 0, headers: { Insert: none } }
faults:
  - { nth: 1, fault: { kind: explode } }
  - { every: -1, fault: { kind: hang } }
`)
  const places = [
    'colour',
    'keys.secret',
    'profile.order',
    'profile.maxKeys',
    'profile.headers.Insert',
    'faults.0.fault.kind',
    'faults.1.every',
  ]
  expect(read).toThrow(StandInSettingsError)
  expect(read).toThrow(
    expect.objectContaining({ problems: expect.toSatisfy((problems: string[]) => problems.length === places.length) }),
  )
  for (const place of places) expect(read).toThrow(`\n  ${place}: `)
})

test('YAML that is none is a settings error as well', () => {
  expect(() => readStandInSettings('profile: {')).toThrow(StandInSettingsError)
})

test('a taken port is an error of the start', async () => {
  const standIn = await started()
  await expect(startStandIn({ port: standIn.port })).rejects.toThrow('EADDRINUSE')
})
