import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { reportForms } from '../../src/app/adapters.ts'
import { createDoors } from '../../src/app/doors.ts'
import { openApp } from '../../src/app/open.ts'
import { scrubbedPieces, scrubber } from '../../src/core/secrets.ts'
import { jsonDocument, printable, printableLines } from '../../src/core/text.ts'
import type { Report, ReportForm } from '../../src/report/report.ts'
import { openStore } from '../../src/store/sqlite.ts'
import type { NewHeld, RunRecord, Store } from '../../src/store/store.ts'
import type { VerifiedListing } from '../../src/verify/verification.ts'
import { readReport } from '../contract/report-form.ts'

const secret = 'K3y&of "two"  <halves>\nand-more/+'
/** Found in every spelling of the secret that a form or an escape may make of it. */
const halves = /K3y|halves|and-more|and.more/i
const spellings = [
  secret,
  printable(secret),
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
]

let folder: string
const doors = createDoors()
doors.learn([secret])
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-doors-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

/** What `job` writes to standard output. */
function printed(job: () => void): string {
  let text = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((piece) => {
    text += String(piece)
    return true
  })
  job()
  vi.restoreAllMocks()
  return text
}

test.each(spellings)('a text that comes in pieces keeps %j back, wherever it is cut', (spelling) => {
  const whole = `first ${spelling} last`
  for (let cut = 0; cut <= whole.length; cut++) {
    let written = ''
    const pieces = scrubbedPieces([secret], (text) => (written += text))
    pieces.write(whole.slice(0, cut))
    pieces.write(whole.slice(cut))
    pieces.end()
    expect(written).toBe(scrubber([secret])(whole))
    expect(written).toMatch(/^first \*\*\*.* last$/)
  }
  let single = ''
  const pieces = scrubbedPieces([secret], (text) => (single += text))
  for (const letter of whole) pieces.write(letter)
  pieces.end()
  expect(single).toMatch(/^first \*\*\*.* last$/)
})

test('pieces wait only where they may go on to be a secret, and are not lost where they do not', () => {
  const written: string[] = []
  const pieces = scrubbedPieces([secret], (text) => written.push(text))
  for (const piece of ['a house ', 'with k3y', 's.', ' K3y&of']) pieces.write(piece)
  expect(written).toEqual(['a house ', 'with ', 'k3ys.', ' '])
  pieces.end()
  expect(written.at(-1)).toBe('K3y&of')
})

/** Every sentence of a report, by its place. */
function sentencesOf(report: Report): Record<string, string[]> {
  const { error, notes, delivery, remote, verification } = report
  return {
    error: [error!],
    notes,
    delivery: delivery.reasons,
    remote: remote.reasons,
    verification: [
      verification!.stopped!,
      ...verification!.listings.flatMap(({ answer, problem }) => [answer!, problem!]),
    ],
    why: Array.from(report.changes(), ({ why }) => why),
    outcome: Array.from(report.changes(), ({ outcome }) => outcome!.error!),
    problems: Array.from(report.rejects(), ({ problems }) => problems[0]),
  }
}

/** A form that shows all of a report, and cuts its texts where it likes. */
const choppy: ReportForm = {
  async write(report, output) {
    const whole = Object.values(sentencesOf(report)).flat().join('\n')
    for (let at = 0; at < whole.length; at += 7) await output.write(whole.slice(at, at + 7))
  },
  document: { before: '', after: '' },
  several: { before: '', between: '', after: '' },
}

/** A form that shows one place only: in the others, a sentence that goes uncleaned is one among thousands. */
const placeOnly = (place: string): ReportForm => ({
  ...choppy,
  write: async (report, output) => output.write(sentencesOf(report)[place].join('\n')),
})
const places = ['error', 'notes', 'delivery', 'remote', 'verification', 'why', 'outcome', 'problems']

/** A report with a secret at the end of every sentence. */
function tellingReport(sentence: (row: number) => string, many: number): Report {
  const report = readReport('partial')
  const [change] = report.changes()
  const listing: VerifiedListing = {
    mlsNumber: 'A',
    expected: 'listed',
    verdict: 'no answer',
    price: null,
    status: null,
    question: 'x',
    answer: sentence(4),
    tokens: 0,
    problem: sentence(5),
  }
  return {
    ...report,
    error: sentence(0),
    notes: [sentence(1)],
    delivery: { ...report.delivery, complete: false, reasons: [sentence(2)] },
    remote: { ...report.remote, complete: false, reasons: [sentence(3)] },
    verification: {
      session: 1,
      asked: 1,
      agreed: 0,
      disagreed: 0,
      unanswered: 1,
      tokens: 0,
      stopped: sentence(6),
      listings: [listing],
    },
    *changes() {
      for (let row = 0; row < many; row++)
        yield { ...change, why: sentence(row), outcome: { result: 'failed' as const, error: sentence(row) } }
    },
    *rejects() {
      for (let row = 0; row < many; row++) yield { at: `record ${row}`, mlsNumber: null, problems: [sentence(row)] }
    },
  }
}

test.each(places)('a sentence of a report is scrubbed, whichever secret it ends with: %s', async (place) => {
  for (const spelling of spellings) {
    const file = join(folder, 'report')
    const output = doors.reports(file)
    await output.report(
      placeOnly(place),
      tellingReport(() => `The service said ${spelling}`, 1),
    )
    await output.end()
    const lines = readFileSync(file, 'utf8').split('\n')
    expect(lines).toEqual(lines.map(() => 'The service said ***'))
  }
})

test.each([...Object.keys(reportForms), 'choppy'])('a report as %s shows no half of a secret', async (name) => {
  const form = name === 'choppy' ? choppy : (await reportForms[name]())({ colour: false })
  // 480 characters and more: a form that shortens would cut the secret in two.
  const sentence = (row: number): string =>
    `${'said '.repeat(95)}${'.'.repeat(row % 40)}${spellings[row % spellings.length]}`
  const report = tellingReport(sentence, 2000)
  const file = join(folder, 'report')
  const output = doors.reports(file)
  await output.report(form, report)
  await output.end()
  const text = readFileSync(file, 'utf8')
  expect(text.length).toBeGreaterThan(50_000)
  expect(/(?:\\?\*){3}/.test(text)).toBe(true)
  const begins = [halves, ...spellings.slice(-2).map((spelling) => new RegExp(spelling.slice(0, 8)))]
  expect(begins.flatMap((half) => half.exec(text)?.[0] ?? [])).toEqual([])
})

test('lines, documents, errors and files show none', () => {
  for (const text of [secret, printable(secret), printableLines(secret)])
    expect(printed(() => doors.out.write(`said ${text}\n`))).toBe('said ***\n')
  const value = { text: secret, list: [secret], count: 12, left: null, by: new Map([['number', secret]]) }
  const document = printed(() => doors.out.document(value, ({ by, ...rest }) => jsonDocument({ ...rest, by: [...by] })))
  const { text, list, ...rest } = JSON.parse(document) as Record<string, unknown>
  expect([text, list, rest]).toEqual(['***', ['***'], { count: 12, left: null, by: [['number', '***']] }])
  writeFileSync(join(folder, 'other'), 'of somebody else')
  symlinkSync(join(folder, 'other'), join(folder, `metrics.${process.pid}.tmp`))
  doors.replace(join(folder, 'metrics'), { chatbot: secret }, jsonDocument)
  expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('of somebody else')
  expect(readFileSync(join(folder, 'metrics'), 'utf8')).toBe('{\n  "chatbot": "***"\n}\n')
})

test('a secret of digits leaves a document, and the figures of a run, JSON', async () => {
  const digits = createDoors()
  digits.learn(['1234'])
  expect(JSON.parse(printed(() => digits.out.document({ bytes: 412345, why: 'x1234' }, jsonDocument)))).toEqual({
    bytes: 412345,
    why: 'x***',
  })
  const recorded: RunRecord[] = []
  const store = { runs: { record: async (run: RunRecord) => void recorded.push(run) }, holds: {} } as unknown as Store
  const run = { error: 'key 1234', figures: '{"delivery":{"bytes":412345,"reasons":["1234"]}}' } as RunRecord
  await digits.store(store).runs.record(run)
  expect(recorded).toEqual([{ error: 'key ***', figures: '{"delivery":{"bytes":412345,"reasons":["***"]}}' }])
  // The report that is kept with it.
  await digits.store(store).runs.record({ ...run, report: '{"notes":["the key 1234 is refused"]}' })
  expect(recorded[1]).toMatchObject({ report: '{"notes":["the key *** is refused"]}' })
})

test('what came of the settings of a run is kept without secrets, as its report is', async () => {
  const store = doors.store(openStore(':memory:'))
  const run = {
    feed: 'north',
    chatbot: 'SN-1',
    command: 'sync',
    startedAt: 1,
    finishedAt: 2,
    interrupted: false,
  } as const
  await store.runs.record({ ...run, result: 'ok', error: null, figures: '{}', report: '{}' })
  const report = JSON.stringify({ notes: [`Not ${secret}`] })
  await store.runs.recordSettled('north', 1, { result: 'partial', report, unsettled: `Not ${secret}` })
  const [last] = await store.runs.latest('north', 1)
  expect(JSON.parse(last.figures)).toEqual({ unsettled: 'Not ***' })
  expect(JSON.parse((await store.runs.report(last.number)) ?? '')).toEqual({ notes: ['Not ***'] })
  await store.close()
})

test('a reason that is kept with a hold shows none', async () => {
  const store = doors.store(openStore(':memory:'))
  const part = { part: 'delete', content: 'c', rules: ['mass-delete'], ends: 'never' } as const
  const held = [{ mlsNumber: 'A', why: `The service said ${secret}`, part }] as unknown as NewHeld[]
  await store.holds.replace('north', held, { now: 1, isWhole: true, letGo: () => 0 })
  expect(await store.holds.held('north', 1)).toMatchObject([{ why: 'The service said ***' }])
  await store.close()
})

test('what a file holds is known as soon as it was read, also where the configuration is wrong', () => {
  const configFile = join(folder, 'listing-sync.yaml')
  writeFileSync(join(folder, 'key'), 'key-in-a-file')
  writeFileSync(configFile, 'service: { secretKey: "${file:./key}" }\nfeeds: 7\n')
  const own = createDoors()
  const context = { configFile, doors: own, env: {}, signal: new AbortController().signal }
  expect(() => openApp(context)).toThrow(/feeds/)
  expect(own.scrub('the key is key-in-a-file')).toBe('the key is ***')
})

test('earlier secrets stay known, the latest hundred beside those in use', () => {
  const own = createDoors()
  const current = Array.from({ length: 30 }, (_, at) => `in-use-${at}.`)
  for (let turn = 0; turn < 120; turn++) {
    own.learn([`turned-${turn}.`])
    own.learn([`turned-${turn}.`, ...current])
  }
  expect(own.scrub('turned-119. turned-60. in-use-0. in-use-29.')).toBe('*** *** *** ***')
  expect(own.scrub('turned-3.')).toBe('turned-3.')
})
