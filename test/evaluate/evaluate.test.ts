/** `evaluate`, against the stand-in: files, placeholders, judging, what it writes, and bad input. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SaxesParser } from 'saxes'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { filled } from '../../src/evaluate/fill.ts'
import { expectationOf, failureOf } from '../../src/evaluate/judge.ts'
import type { Expectation } from '../../src/evaluate/judge.ts'
import { home, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
  const forSale = { rental: false, status: 'Active', city: 'Cedar Falls' }
  world.deliver(
    zillowFeed([
      { ...home(1), ...forSale, price: 210_000 },
      { ...home(2), ...forSale, price: 189_000 },
    ]),
  )
  await world.run()
})
afterEach(() => world.end())

const at = (name: string): string => join(world.folder, name)
const evaluate = (...words: string[]) => world.executed('evaluate', '--feed', 'north', ...words)
const asks = (): number => world.standIn.requests.filter(({ operation }) => operation === 'ClientAsk').length

function file(content: object | string): string {
  writeFileSync(at('questions.yaml'), typeof content === 'string' ? content : stringify(content))
  return at('questions.yaml')
}

const about = (...assert: object[]) => ({
  tests: [{ vars: { question: 'What about {{MLSNumber}}?' }, assert }],
})

test('--init writes ten questions a listing, and the file can be asked as it is', async () => {
  const made = await evaluate('--init', at('made.yaml'), '--sample', '2')
  expect(made).toMatchObject({ status: 0, stdout: expect.stringMatching(/: \d+ questions about 2 listings\n$/) })
  const { tests } = parse(readFileSync(at('made.yaml'), 'utf8')) as { tests: { description: string }[] }
  const topics = tests.map(({ description }) => description)
  for (const topic of ['price', 'status', 'beds', 'baths', 'area', 'parking', 'address', 'link', 'available'])
    expect(topics.filter((each) => each === topic)).toHaveLength(2)
  const { status, stdout } = await evaluate('--session', '7', at('made.yaml'), '--format', 'json')
  const { tries } = JSON.parse(stdout) as { tries: { id: string; pass: boolean; answer: string }[] }
  expect(tries).toHaveLength(tests.length)
  const passed = (topic: string): boolean[] =>
    tries.filter(({ id }) => id.startsWith(`${topic} ·`)).map(({ pass }) => pass)
  // What the stand-in tells of a home; it says nothing of areas and parking.
  for (const topic of ['price', 'status', 'beds', 'baths', 'address', 'link', 'available'])
    expect(passed(topic), topic).toEqual([true, true])
  expect(passed('area')).toEqual([false, false])
  expect(status).toBe(4)
  expect(await evaluate('--init', at('made.yaml'))).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("can't be written"),
  })
})

test('tries, pass rate, threshold, transcript, JUnit; --compare shows which answers turned', async () => {
  const questions = file(about({ type: 'contains', value: '{{SalePrice | grouped}}' }))
  const first = await evaluate('--session', '7', questions, '--tries', '2', '--transcript', at('old.jsonl'))
  expect(first).toMatchObject({ status: 0, stdout: expect.stringContaining('4 of 4 passed, 100 %') })
  const lines = readFileSync(at('old.jsonl'), 'utf8').trim().split('\n')
  expect(lines).toHaveLength(4)
  expect(JSON.parse(lines[0])).toMatchObject({
    try: 1,
    session: 7,
    pass: true,
    failures: [],
    answer: expect.any(String),
  })

  const say = { kind: 'say', content: 'It <costs> $1 & no more.\u0007' } as const
  world.standIn.addFault({ operations: ['ClientAsk'], times: 1, fault: say })
  const words = ['--session', '7', questions, '--junit', at('chat.xml'), '--compare', at('old.jsonl')]
  const second = await evaluate(...words)
  expect(second).toMatchObject({ status: 4, stdout: expect.stringContaining('1 of 2 passed, 50 %') })
  expect(second.stdout).toMatch(/turned {2}.*: failed now, 0 of 1; before 2 of 2/)
  expect(second.stdout.match(/turned/g)).toHaveLength(1)
  const xml = readFileSync(at('chat.xml'), 'utf8')
  const names: string[] = []
  const parser = new SaxesParser()
  parser.on('opentag', ({ name }) => names.push(name))
  parser.on('error', (error) => {
    throw error
  })
  parser.write(xml).close()
  expect(names).toEqual(['testsuites', 'testsuite', 'testcase', 'failure', 'testcase'])
  expect(xml).toContain('tests="2" failures="1" errors="0" skipped="0"')
  world.standIn.addFault({ operations: ['ClientAsk'], times: 1, fault: say })
  expect(await evaluate(...words, '--threshold', '50')).toMatchObject({ status: 0 })
})

test('what turns the messages away ends it; what was answered is kept, the rest is said to be missing', async () => {
  world.standIn.addFault({ operations: ['ClientAsk'], nth: 2, fault: { kind: 'status', status: 429 } })
  const words = ['--session', '7', file(about({ type: 'latency', value: 60_000 })), '--tries', '3']
  const ended = await evaluate(...words, '--transcript', at('t.jsonl'), '--junit', at('t.xml'))
  expect(ended).toMatchObject({ status: 4, stdout: expect.stringContaining('ended early, 4 not done') })
  expect(readFileSync(at('t.jsonl'), 'utf8').trim().split('\n')).toHaveLength(2)
  expect(readFileSync(at('t.xml'), 'utf8')).toContain('errors="1" skipped="1"')
})

test('one lost answer fails its try, two in a row end it', async () => {
  const words = ['--session', '7', file(about({ type: 'latency', value: 60_000 })), '--tries', '3', '--sample', '1']
  const lost = { operations: ['ClientAsk' as const], fault: { kind: 'reset', when: 'after-carrying-out' } as const }
  world.standIn.addFault({ ...lost, every: 2 })
  expect((await evaluate(...words)).stdout).toContain('2 of 3 passed')
  expect(asks()).toBe(3)
  world.standIn.clearFaults()
  world.standIn.addFault(lost)
  const ended = await evaluate(...words)
  expect(ended).toMatchObject({ status: 1, stdout: expect.stringContaining('ended early, 1 not done') })
  expect(asks()).toBe(5)
})

test('what fills a placeholder stands for itself in a regular expression, and holds no placeholder of itself', () => {
  const values = { Address: '1 Elm St. (A)', question: '{{question}}?' }
  const expectation = expectationOf({ type: 'regex', value: '^{{Address}}$' }, values)
  expect(failureOf(expectation, '1 Elm St. (A)', 1)).toBe(null)
  expect(failureOf(expectation, '1 Elm Sty A', 1)).toContain('does not match')
  expect(() => filled('{{question}}', values)).toThrow('{{question}} has no value')
})

describe('bad input is said before the first question', () => {
  const wrong: [what: string, content: object | string, said: string][] = [
    [
      'a key',
      'tests:\n  - vars: { question: Hi }\n    asert: []\n',
      'tests.0.asert: unknown key; did you mean "assert"? (line 3)',
    ],
    [
      'a type',
      about({ type: 'contain', value: 'a' }),
      'tests.0.assert.0.type: unknown word "contain"; did you mean "contains"? (line 5)',
    ],
    ['no list', about({ type: 'contains-any', value: 'a' }), 'value: takes a list of texts that is not empty (line 6)'],
    ['an expression', about({ type: 'regex', value: '(' }), 'is no regular expression'],
    ['a latency', about({ type: 'latency', value: 'fast' }), 'takes the most milliseconds'],
    [
      'a field',
      about({ type: 'contains', value: '{{SalePrize}}' }),
      '{{SalePrize}}: unknown name; did you mean "SalePrice"?',
    ],
    ['no question', { tests: [{ vars: { ask: 'Hi' }, assert: [{ type: 'contains', value: 'a' }] }] }, 'lacks question'],
    [
      'a field without a value',
      about({ type: 'contains', value: '{{RentPrice}}' }),
      'listing IA1, {{RentPrice}} has no value',
    ],
    [
      'a listing',
      { tests: [{ vars: { MLSNumber: 'X-9', question: '{{Url}}?' }, assert: [{ type: 'contains', value: 'a' }] }] },
      'listing X-9, {{Url}} has no value (the feed has no such listing on the service)',
    ],
  ]
  test.for(wrong)('%s', async ([, content, said]) => {
    const number = world.listings()[0].MLSNumber as string
    const { status, stderr } = await evaluate('--session', '7', file(content))
    expect(stderr.replaceAll(number, 'IA1')).toContain(said)
    expect(status).not.toBe(0)
    expect(asks()).toBe(0)
  })

  test('words, a transcript that cannot be written, an earlier one that is none', async () => {
    const questions = file(about({ type: 'contains', value: 'a' }))
    expect(await evaluate(questions)).toMatchObject({
      status: 64,
      stderr: expect.stringContaining('Create Chat Session'),
    })
    for (const words of [
      ['--tries', '0'],
      ['--threshold', '101'],
      ['--sample', 'x'],
      ['--session', 'x'],
    ])
      expect(await evaluate('--session', '7', questions, ...words)).toMatchObject({ status: 64 })
    expect(await evaluate('--session', '7', questions, '--transcript', world.folder)).toMatchObject({ status: 1 })
    writeFileSync(at('other.jsonl'), '{"id":"a","pass":true}\n{"id":"b"}\n')
    expect(await evaluate('--session', '7', questions, '--compare', at('other.jsonl'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('other.jsonl, line 2: is no try of an evaluation'),
    })
    expect(asks()).toBe(0)
    expect(existsSync(at('t.xml'))).toBe(false)
  })
})

test('each type of expectation, fulfilled and not', () => {
  const expected = (type: Expectation['type'], ...texts: string[]): Expectation => ({ type, texts, most: 0 })
  const answer = 'It is Active and costs $189,000.'
  const rows: [Expectation, boolean][] = [
    [expected('contains', 'Active'), true],
    [expected('contains', 'active'), false],
    [expected('icontains', 'aCTIVE'), true],
    [expected('icontains', 'sold'), false],
    [expected('not-contains', 'Sold'), true],
    [expected('not-contains', 'Active'), false],
    [expected('contains-any', '189000', '189,000'), true],
    [expected('contains-any', '189000', '189.000'), false],
    [expected('contains-all', 'Active', '189,000'), true],
    [expected('contains-all', 'Active', 'Sold'), false],
    [expected('regex', String.raw`\$\d{3},000\b`), true],
    [expected('regex', '^Active'), false],
    [expected('equals', ` ${answer}`), true],
    [expected('equals', 'It is Active'), false],
    [{ ...expected('latency'), most: 500 }, true],
    [{ ...expected('latency'), most: 499 }, false],
  ]
  for (const [expectation, fits] of rows)
    expect(failureOf(expectation, answer, 500) === null, JSON.stringify(expectation)).toBe(fits)
  expect(failureOf(expected('regex', '(a+)+$'), `${'a'.repeat(60)}b`, 1)).toContain('longer than')
})
