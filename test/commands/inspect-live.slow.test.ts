/** `inspect` of a live source: one page of it, what its records would become, and what the vendor's rules mean. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Findings } from '../../src/inspect/findings.ts'
import type { ProfileName } from '../../src/stand-in/reso/profiles.ts'
import { addHomes, startReso } from '../../src/stand-in/reso/server.ts'
import { executed } from '../support/program.ts'
import type { Ended } from '../support/program.ts'

let folder: string
let reso: Awaited<ReturnType<typeof startReso>>
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-inspect-live-'))
})
afterEach(async () => {
  await reso.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Of an API with so many homes. */
async function inspected(vendor: ProfileName, homes: number, more: string[]): Promise<Ended> {
  reso = await startReso({
    vendor,
    now: () => Date.UTC(2026, 10, 1),
    token: 'token-of-the-feed',
    client: { id: 'me', secret: 'client-secret' },
  })
  addHomes(reso.world, homes)
  const auth =
    reso.tokenUrl === null
      ? 'token: token-of-the-feed'
      : `clientId: me, clientSecret: client-secret, tokenUrl: "${reso.tokenUrl}"`
  const filter = vendor === 'mlsgrid' ? `, filter: "OriginatingSystemName eq 'actris'"` : ''
  const configFile = join(folder, 'listing-sync.yaml')
  writeFileSync(
    configFile,
    `service: { baseUrl: http://127.0.0.1:9, secretKey: any }
feeds:
  north:
    chatbot: SN-1001
    preset: reso-web-api
    source: { reso: ${reso.root}, vendor: ${vendor}, auth: { ${auth} }${filter} }`,
  )
  return executed(['--config', configFile, 'inspect', 'north', ...more])
}

test('shows the fields of one page, what they become, how many there are and what the limits mean', async () => {
  const { status, stdout, stderr } = await inspected('trestle', 1200, ['--format', 'json'])
  expect(stderr).toBe('')
  const { document, counts, live, preset, fields } = JSON.parse(stdout) as Findings
  expect(document).toMatchObject({ records: 1000, complete: null, record: 'value' })
  expect(live).toMatchObject({ title: 'Trestle', all: 1200, licence: [] })
  expect(live!.schedule.join('; ')).toMatch(
    /^Trestle takes 180 requests a minute, 7,200 an hour, for all feeds.*the first load asks 2 times and takes at least a minute; a walk of all keys \(keys\) asks 2 times.*due every 24 hours$/,
  )
  expect(preset).toMatchObject({ name: 'reso-web-api', chosen: 'configured' })
  expect(counts.listings + counts.removals + counts.filtered + counts.rejects).toBe(1000)
  expect(fields.find(({ path }) => path === 'ListPrice')).toMatchObject({ filled: 100 })
  expect(status).toBe(counts.rejects === 0 ? 0 : 4)
  expect(reso.world.asked.length).toBeLessThan(5)
})

test('says what the licence keeps from being shown, and how long a removal is told', async () => {
  const { stdout } = await inspected('mlsgrid', 20, [])
  expect(stdout).toContain('MLS Grid: 20 records in all')
  expect(stdout).toMatch(/licence: the feed has no Images: its pictures are signed for one hour/)
  expect(stdout).toMatch(/tells a removal for a few days only: after 6\s+days without a run/)
  expect(stdout).toContain('one page of the source was read')
})

test('reads as many records as it is asked for, by another preset, too', async () => {
  const { status, stdout } = await inspected('generic', 8, [
    '--records',
    '5',
    '--preset',
    'reso-json',
    '--format',
    'json',
  ])
  expect(JSON.parse(stdout)).toMatchObject({ document: { records: 5 }, preset: { name: 'reso-json', chosen: 'given' } })
  expect([0, 4]).toContain(status)
})

test('--feed names the feed, and nothing beside it', async () => {
  const named = await inspected('generic', 3, ['--format', 'json'])
  const configFile = join(folder, 'listing-sync.yaml')
  const config = ['--config', configFile, 'inspect']
  const byFeed = await executed([...config, '--feed', 'north', '--format', 'json'])
  expect({ status: byFeed.status, stdout: byFeed.stdout }).toEqual({ status: named.status, stdout: named.stdout })
  const wrong = [[], ['north', '--feed', 'north'], ['--feed', 'south'], ['--feed', 'north', '--init']]
  for (const words of wrong) expect(await executed([...config, ...words])).toMatchObject({ status: 64, stdout: '' })
})

test('an API that refuses is one sentence without the token', async () => {
  const { status, stdout, stderr } = await inspected('spark', 1, [])
  expect({ status, stdout, stderr }).toMatchObject({ stderr: '' })
  reso.world.options.fault = () => ({ kind: 'html' })
  const again = await executed(['--config', join(folder, 'listing-sync.yaml'), 'inspect', 'north'])
  expect(again.status).toBe(1)
  expect(again.stderr).toMatch(/answers with a page of HTML or XML: check the address under reso/)
  expect(again.stderr + again.stdout).not.toContain('token-of-the-feed')
})
