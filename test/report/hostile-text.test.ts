/**
 * Text from feeds, services and configurations stays text wherever it is shown: in HTML, Markdown, JSON, on a terminal, in
 * the log (docs/faults.md, F144 and F145). There is no CSV output, so a formula is only text, too. fast-check prints the seed.
 */
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLog } from '../../src/app/log.ts'
import { escapeUnseen, printable, printableLines } from '../../src/core/text.ts'
import { htmlForm } from '../../src/report/html.ts'
import { jsonForm } from '../../src/report/json.ts'
import { markdownForm } from '../../src/report/markdown.ts'
import type { ReportForm, Report, ReportedChange } from '../../src/report/report.ts'
import { textForm } from '../../src/report/text.ts'

const pieces = [
  ...'<>&"\'`|\\*_[](){}#+-!~=^$@:/;,.\n\r\t '.split(''),
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg/onload=alert(1)>',
  "'-alert(1)-'",
  '</td></tr></table>',
  '<!--',
  '-->',
  ']]>',
  '&lt;b&gt;',
  '&#60;',
  'javascript:alert(1)',
  'https://evil.example/?a=1',
  'www.evil.example',
  '[x](javascript:alert(1))',
  '![x](https://evil.example/x.png)',
  '<https://evil.example>',
  '| a | b |',
  '| --- |',
  '\\|',
  '```',
  '# head',
  '- item',
  '1. item',
  '> quote',
  '===',
  '@everyone',
  '=HYPERLINK("http://evil.example")',
  '+1+cmd|x',
  '\u001b[2J',
  '\u001b]0;owned\u0007',
  '\u001b]8;;https://evil.example\u001b\\x',
  '\u009b31m',
  '\u0000',
  '\u0007',
  '\u0008\u0008\u0008',
  '\u007f',
  '\u0085',
  '\u2028',
  '\u2029',
  '\u202e',
  '\u2066',
  '\u2069',
  '\u200b',
  '\u200f',
  '\ufeff',
  '\u00ad',
  '\ud800',
  '\udc00',
  'Grüße 東京 🏠',
  '__proto__',
  '${x}',
  '%s%d',
]
const hostile = fc.oneof(
  { weight: 4, arbitrary: fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((some) => some.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
)

/** A report with hostile text in every place that a text can have in one; `next` gives the texts. */
function reportOf(next: () => string): Report {
  const change = (kind: ReportedChange['kind'], result: 'failed' | 'skipped' | null): ReportedChange => ({
    kind,
    mlsNumber: next(),
    why: next(),
    fields: [
      { field: 'Address', from: next(), to: next() },
      { field: 'Description', from: null, to: next().repeat(20) },
      { field: 'PropertyType', from: null, to: next() },
      { field: 'Images', from: [next()], to: [next(), next()] },
      { field: 'ExtensionColumn', from: [{ Key: next(), value: next() }], to: [{ Key: next(), value: next() }] },
    ],
    cause: 'changed',
    rules: kind === 'hold' ? ['leaving'] : [],
    withheld: kind === 'update' ? [{ field: 'City', from: next(), to: next() }] : [],
    home: {
      address: next(),
      city: next(),
      saleType: 'for_rent',
      currency: next(),
      areaUnit: 'Square Feet',
      price: { from: 1, to: 2 },
    },
    held: kind === 'hold' ? 'delete' : null,
    heldSince: 0,
    outcome: result === null ? null : { result, error: next() },
  })
  const changes = [
    change('create', null),
    change('update', 'failed'),
    change('delete', 'skipped'),
    change('adopt', null),
    change('forget', null),
    change('hold', null),
  ]
  const rejects = [{ at: next(), mlsNumber: next(), problems: [next(), next()] }]
  return {
    feed: next(),
    chatbot: next(),
    command: 'sync',
    reader: { locale: 'en-US', timezone: 'UTC' },
    startedAt: 0,
    finishedAt: 1000,
    result: 'partial',
    error: next(),
    delivery: {
      complete: false,
      reasons: [next(), next()],
      records: 6,
      listings: 3,
      removals: 1,
      filtered: 0,
      duplicates: 0,
      rejects: 2,
      bytes: 10,
    },
    remote: { complete: false, reasons: [next()], pages: 1, listings: 3 },
    counts: { create: 1, update: 1, delete: 1, adopt: 1, forget: 1, hold: 1, unchanged: 0, reject: 1 },
    estimate: { calls: 3, seconds: 1 },
    digest: 'abc',
    holds: [],
    notes: [next()],
    changes: () => changes,
    rejects: () => rejects,
    applied: {
      outcomes: { done: 1, failed: 1, unknown: 0, skipped: 1 },
      calls: { create: 1, update: 1, delete: 1, list: 1 },
    },
  }
}

const texts = fc.array(hostile, { minLength: 40, maxLength: 40 })

/** Each place gets the next of the texts, so that one that breaks is found and made small. */
function reportWith(some: readonly string[]): Report {
  let at = 0
  return reportOf(() => some[at++ % some.length])
}

async function written(form: ReportForm, report: Report): Promise<string> {
  let text = form.document.before
  await form.write(report, { write: (piece) => void (text += piece) })
  return text + form.document.after
}

/** What a terminal obeys or what shows a line otherwise than it is; line feeds apart. */
const unseen =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Cs}/u

/** Every tag of a page with its attributes, in order; a "<" that begins none is an error, as in the strictest parser. */
function tagsOf(html: string): string[] {
  const rest = html.replace(/<style>[^]*?<\/style>/, '').replace(/<script>[^]*?<\/script>/, '')
  const tags = rest.match(/<[^>]*>/g) ?? []
  const bare = rest.replace(/<!DOCTYPE html>|<\/?[a-z][a-z0-9]*(?: [a-z-]+="[^"<>]*")*>/g, '')
  expect(bare).not.toMatch(/[<>]/)
  expect(bare.replaceAll(/&#\d+;/g, '')).not.toMatch(/["'`&]/)
  return tags
}

/** Of a cell's lines: texts that show nothing have none. */
const isLine = (tag: string): boolean => /^<\/?div>$/.test(tag)

/** The reports' skeleton: the same report with harmless texts. */
const calm = reportOf(() => 'x')

describe('reports', () => {
  test('as HTML have exactly the elements and attributes of one with harmless texts', async () => {
    const expected = tagsOf(await written(htmlForm(), calm)).filter((tag) => !isLine(tag))
    await fc.assert(
      fc.asyncProperty(texts, async (some) => {
        const html = await written(htmlForm(), reportWith(some))
        expect(html).not.toMatch(unseen)
        // Reasons that are the same share a row: rows may be more, kinds of tags and their attributes not.
        const tags = tagsOf(html).filter((tag) => !isLine(tag))
        expect(new Set(tags)).toEqual(new Set(expected))
      }),
      { numRuns: 300 },
    )
  })

  test('as HTML begin with a policy that lets their own style and script be used, and nothing else be loaded or run', async () => {
    const html = await written(htmlForm(), calm)
    const [, policy] =
      /<head>\s*<meta charset="utf-8">\s*<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html)!
    const [, styles] = /<style>([^]*?)<\/style>/.exec(html)!
    const hash = createHash('sha256').update(styles).digest('base64')
    const [, script] = /<script>([^]*?)<\/script>/.exec(html)!
    const scriptHash = createHash('sha256').update(script).digest('base64')
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; script-src 'sha256-${scriptHash}'; base-uri 'none'; form-action 'none'`,
    )
    expect(html.match(/<style|style=/g)).toHaveLength(1)
    expect(html.match(/<script/g)).toHaveLength(1)
  })

  test('as Markdown have whole tables, and nothing in them is a mark', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (some) => {
        const markdown = await written(markdownForm(), reportWith(some))
        expect(markdown).not.toMatch(unseen)
        let columns = 0
        const ours = new Set((await written(markdownForm(), calm)).split('\n').filter((line) => !line.startsWith('|')))
        for (const line of markdown.split('\n')) {
          // What is escaped leaves a blank: what stood around it must not meet.
          const bare = line.replaceAll(/\\[\\`*_{}[\]()#+\-!|~=^$]/g, ' ').replaceAll('<br>', ' ')
          if (!line.startsWith('|')) {
            columns = 0
            // A heading, a note, the count of what is left out: our own words and escaped ones.
            if (!ours.has(line) && !/^listing-sync (?:approve|inspect) [\w.-]*$/.test(line))
              expect(bare).toMatch(/^(?:#{2,3} |> |)[^`*_[\]|<>~$]*$/)
            continue
          }
          const cells = bare.split('|').length - 2
          if (columns === 0) columns = cells
          expect(cells, line).toBe(columns)
          if (!/^\|( --- \|)+$/.test(bare))
            expect(bare.replaceAll(/&(?:amp|lt|gt|#64|#58|#46);/g, ' ')).not.toMatch(/[`*_[\]<>~$&@]|:\/\/|www\./i)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('as text show no control and no bidirectional character, and begin no line of their own', async () => {
    const lines = (await written(textForm({ colour: false }), calm)).split('\n').length
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const report = await written(
          textForm({ colour: false }),
          reportOf(() => text),
        )
        expect(report).not.toMatch(unseen)
        // Fields that show the same are one line less or another; a text with line breaks in it would be hundreds more.
        expect(Math.abs(report.split('\n').length - lines)).toBeLessThan(8)
        const coloured = await written(
          textForm({ colour: true }),
          reportOf(() => text),
        )
        // oxlint-disable-next-line no-control-regex
        expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(report)
      }),
      { numRuns: 300 },
    )
  })

  test('as JSON parse to the very texts', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (some) => {
        const report = reportWith(some)
        const json = await written(jsonForm(), report)
        expect(json).not.toMatch(unseen)
        const parsed = JSON.parse(json)
        expect(parsed.chatbot).toBe(report.chatbot)
        // Since when it is held stands behind the sentence.
        const sentences = parsed.changes.map(({ why }: { why: string }) =>
          why.replace(/, held since [-\d: ]+UTC, \d+ h$/, ''),
        )
        expect(sentences).toEqual([...report.changes()].map(({ why }) => why))
        expect(parsed.rejects[0].problems).toEqual([...report.rejects()][0].problems)
        expect(Object.keys(parsed)).toEqual(Object.keys(JSON.parse(await written(jsonForm(), calm))))
      }),
      { numRuns: 300 },
    )
  })
})

test('a line of the log is one line, as JSON and for people', () => {
  fc.assert(
    fc.property(hostile, hostile, (message, value) => {
      for (const pretty of [false, true]) {
        const lines: string[] = []
        const write = (line: string): void => void lines.push(line)
        const log = createLog({ level: 'debug', scrub: (text) => text, pretty, clock: { now: () => 0 }, write })
        log.warn({ value, nested: { [value]: value }, list: [value] }, message)
        expect(lines).toHaveLength(1)
        expect(lines[0]).toMatch(/^[^\n]*\n$/)
        expect(lines[0]).not.toMatch(unseen)
        if (!pretty) expect(JSON.parse(lines[0])).toMatchObject({ level: 'warn' })
      }
    }),
    { numRuns: 500 },
  )
})

test('what every other output goes through takes the same out', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(printable(text)).not.toMatch(unseen)
      expect(printable(text)).not.toContain('\n')
      expect(printableLines(text)).not.toMatch(unseen)
      const json = escapeUnseen(JSON.stringify({ text }))
      expect(json).not.toMatch(unseen)
      expect(JSON.parse(json)).toEqual({ text })
    }),
    { numRuns: 2000 },
  )
})
