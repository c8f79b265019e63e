import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { htmlForm } from '../../src/report/html.ts'
import { jsonForm } from '../../src/report/json.ts'
import { markdownForm } from '../../src/report/markdown.ts'
import { keptReport, revivedReport } from '../../src/report/kept.ts'
import type { Report, ReportedChange } from '../../src/report/report.ts'
import { textForm } from '../../src/report/text.ts'
import { readReport as read, render, unseen } from '../contract/report-form.ts'

const forms = { json: jsonForm(), txt: textForm({ colour: false }), md: markdownForm(), html: htmlForm() }
const directory = 'fixtures/reports'

/** Run vitest with -u to write the expected texts anew, then read them. */
describe.each(readdirSync(directory))('%s', (name) => {
  test.each(['json', 'txt', 'md', 'html'] as const)('as %s', async (kind) => {
    const text = await render(forms[kind], read(name))
    expect(text).not.toMatch(unseen)
    await expect(text).toMatchFileSnapshot(resolve(directory, name, `expected.${kind}`))
  })

  test('with colours the words are the same', async () => {
    const text = await render(textForm({ colour: true }), read(name))
    expect(text).toContain('\u001b[1m')
    // oxlint-disable-next-line no-control-regex
    expect(text.replace(/\u001b\[\d+m/g, '')).toBe(await render(forms.txt, read(name)))
  })
})

test('hostile text makes no markup in a page or a ticket', async () => {
  const tags = (html: string): string[] =>
    [...html.matchAll(/<\/?([a-z][a-z0-9]*)/gi)].map(([, name]) => name.toLowerCase())
  const payload =
    '<img src=x onerror=alert(1)> </td><script>x</script> [x](javascript:alert(1)) ![x](https://evil.example/x) | a | `code` <!-- www.evil.example'
  const report = read('hostile')
  const [first] = [...report.changes()]
  const hostile = {
    ...first,
    mlsNumber: payload,
    why: payload,
    fields: [{ field: 'Address' as const, from: payload, to: null }],
  }
  report.changes = () => [hostile, { ...hostile, kind: 'hold' }, { ...hostile, kind: 'create' }]
  report.rejects = () => [{ at: payload, mlsNumber: payload, problems: [payload] }]
  report.notes = [payload]
  const html = await render(forms.html, report)
  const known = 'article h1 h2 p ul li section table thead tbody tr th td div code details summary'.split(' ')
  expect(tags(html).filter((name) => !known.includes(name))).toEqual([])
  expect(html).not.toMatch(/<[^>]*\s(on\w+|href|src|style)=/i)
  const markdown = await render(markdownForm(), report)
  expect(tags(markdown).filter((name) => !['br', 'details', 'summary'].includes(name))).toEqual([])
  expect(markdown).not.toMatch(/https?:\/\/|(?<!\\)\]\(/)
})

describe('JSON', () => {
  test('has its keys in their order, and those of a run only after one', async () => {
    const dry = JSON.parse(await render(forms.json, read('changes')))
    const keys =
      'version feed chatbot startedAt finishedAt result delivery remote counts estimate digest notes holds changes rejects'
    expect(Object.keys(dry)).toEqual(keys.split(' '))
    const run = JSON.parse(await render(forms.json, read('partial')))
    expect(Object.keys(run)).toEqual([...keys.split(' '), 'outcomes', 'calls', 'failures'])
    expect(run.startedAt).toBe('2026-11-21T06:00:00.000Z')
    expect(run.failures).toEqual([
      { mlsNumber: 'A-1002', kind: 'update', result: 'failed', error: 'Code 500201: City is not served' },
      {
        mlsNumber: 'A-1003',
        kind: 'create',
        result: 'unknown',
        error: 'connection lost after sending; looked up, not there yet',
      },
    ])
    expect(Object.keys(run.changes[0])).toEqual(
      'kind mlsNumber why fields address city saleType currency price'.split(' '),
    )
    expect(run.changes[0].fields[0]).toEqual({ field: 'SalePrice', from: 450000, to: 435000 })
  })

  test('says what each rule holds, by which setting, with the numbers that it measured', async () => {
    const { notes, holds, changes } = JSON.parse(await render(forms.json, read('held')))
    expect(notes).toEqual([expect.stringContaining('40 of 120 listings would leave the site')])
    expect(holds).toMatchObject([
      { rule: 'leaving', setting: 'limits.share', numbers: { leaving: 40, ours: 120, allowed: 24 } },
    ])
    expect(Object.keys(holds[0])).toEqual(['rule', 'setting', 'numbers', 'keys', 'sentence'])
    const held = changes.filter((change: { why: string }) => change.why.includes('too many listings would leave'))
    expect(holds[0].keys).toEqual(held.map((change: { mlsNumber: string }) => change.mlsNumber))
  })

  test('gives texts exactly as they are, escaped', async () => {
    const report = read('hostile')
    const parsed = JSON.parse(await render(forms.json, report))
    expect(parsed.chatbot).toBe(report.chatbot)
    expect(parsed.changes[0].why).toBe([...report.changes()][0].why)
  })

  test('several feeds are one array', async () => {
    const { before, between, after } = forms.json.several
    const each = [await render(forms.json, read('changes')), await render(forms.json, read('failed'))]
    const parsed: { feed: string }[] = JSON.parse(before + each.join(between) + after)
    expect(parsed.map(({ feed }) => feed)).toEqual(['north', 'north'])
  })
})

describe('where nothing can be loaded, the first line says why', () => {
  const missing = {
    at: 'record 1',
    mlsNumber: 'A-1',
    problems: ['Bedrooms: is missing; give it with defaults or fields'],
  }
  const other = { ...missing, problems: ['YearBuilt: is missing; give it with defaults or fields'] }
  test.each([
    ['1 record lacks Bedrooms', [missing]],
    ['all 2 records lack Bedrooms', [missing, missing]],
    ['all 2 records are rejected', [missing, other]],
    ['1 record is rejected', [{ ...missing, problems: [] }]],
  ])('%s', async (says, rejects) => {
    const report = read('nothing')
    const { length } = rejects
    Object.assign(report.delivery, { records: length, rejects: length, listings: 0 })
    report.rejects = () => rejects
    expect(await render(forms.txt, report)).toContain(`nothing can be loaded: ${says}; run: listing-sync inspect`)
  })
})

test('the first line says that something is held also where no change of this run is held whole', async () => {
  const report = read('held')
  Object.assign(report, { holds: [], changes: () => [], counts: { ...report.counts, hold: 0 } })
  expect(await render(forms.txt, report)).toMatch(
    /: nothing to change now; something is held, waiting for time or for you: listing-sync approve north\n/,
  )
})

test('of a run on record the store keeps what failed, also behind the changes that it has room for', () => {
  const report = read('partial')
  const [some] = report.changes('create')
  const rows = Array.from({ length: 1000 }, (_, at): ReportedChange => {
    const failed = { result: 'failed', error: 'Not served' } as const
    return { ...some, mlsNumber: `B-${at}`, why: 'x'.repeat(1000), outcome: at % 900 === 0 ? failed : null }
  })
  report.changes = (which) =>
    which === 'open' ? rows.filter(({ outcome }) => outcome !== null) : which === 'create' ? rows : []
  const kept = keptReport({ ...report, counts: { ...report.counts, create: rows.length } })
  const again = revivedReport(JSON.parse(JSON.stringify(kept)))
  expect(Array.from(again.changes('open'), ({ mlsNumber }) => mlsNumber)).toEqual(['B-0', 'B-900'])
  expect(kept.changes.length).toBeLessThan(500)
})

describe('very many rows', () => {
  const rows = 200_000
  const update: ReportedChange = { ...[...read('changes').changes()][0], outcome: null }
  function* changes() {
    for (let i = 0; i < rows; i++)
      yield { ...update, mlsNumber: `B-${i}`, kind: i % 2 ? ('update' as const) : ('hold' as const) }
  }
  function* rejects() {
    for (let i = 0; i < rows; i++) yield { at: `record ${i}`, mlsNumber: null, problems: [`City ${i} is not known`] }
  }
  const report: Report = { ...read('changes'), changes, rejects }

  test('as JSON come in pieces, each waited for', async () => {
    let [pieces, longest, size, under] = [0, 0, 0, 0]
    await forms.json.write(report, {
      async write(text) {
        under++
        expect(under).toBe(1)
        await Promise.resolve()
        under--
        pieces++
        longest = Math.max(longest, text.length)
        size += text.length
      },
    })
    expect(size).toBeGreaterThan(100_000_000)
    expect(longest).toBeLessThan(80_000)
    expect(pieces).toBeGreaterThan(1000)
  })

  test('as text are cut, with the number left out', async () => {
    const text = await render(forms.txt, report)
    expect(text.split('\n').length).toBeLessThan(10_000)
    expect(text).toContain(`Update (${rows / 2})`)
    expect(text).toContain(`… and ${rows / 2 - 500} more (see --format json)`)
    expect(text).toContain(`${rows - 100}  other reasons`)
  })
})
