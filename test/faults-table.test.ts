/** The tables of docs/faults.md, SECURITY.md and test/README.md: every row has tests that are really there, or says why not. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const file = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))
/** Rows `| F1 | what can happen | what the program does | tests |`. */
const page = 'docs/faults.md'
const lines = readFileSync(file(page), 'utf8').split('\n')
const rows = lines.flatMap((line) => {
  const [, fault, what, does, held] = /^\| (F\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/.exec(line) ?? []
  return fault === undefined ? [] : [{ fault, what, does, held }]
})

/** Numbers that stand for nothing. */
const free = [59, 60]
const last = Number(rows.at(-1)?.fault.slice(1))
const faults = Array.from({ length: last }, (_, i) => i + 1).filter((number) => !free.includes(number))

test('every fault is there once, in order', () => {
  expect(rows.length).toBeGreaterThanOrEqual(147)
  expect(rows.map(({ fault }) => fault)).toEqual(faults.map((number) => `F${number}`))
})

test('a line that begins like a row is one', () => {
  expect(lines.filter((line) => /^\| *F\d/.test(line))).toHaveLength(rows.length)
})

/** Whether the source has a test, or a group of tests, of exactly this name. */
function has(source: string, name: string): boolean {
  return ["'", '"', '`'].some((quote) =>
    source.includes(`${quote}${name.replaceAll("'", quote === "'" ? "\\'" : "'")}${quote}`),
  )
}

/** Throws where a test is not there; entries are `file › name`. */
function assertThere(held: string): void {
  for (const entry of held.split('<br>')) {
    const [path, name] = entry.split(' › ')
    expect(path).toMatch(/^test\/.+\.ts$/)
    expect(existsSync(file(path)), path).toBe(true)
    expect(has(readFileSync(file(path), 'utf8'), name), `${path} has no test "${name}"`).toBe(true)
  }
}

test.each(rows)('$fault, $what', ({ held }) => {
  const why = /^(?:open|not applicable): (.+)$/.exec(held)
  if (why !== null) return expect(why[1].length).toBeGreaterThan(20)
  assertThere(held)
})

/** Rows `| 1 | risk | defence | ASVS | tests |`. */
const checklist = readFileSync(file('SECURITY.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| *\d/.test(line))

test.each(checklist)('%s', (line) => {
  const [, risk, asvs, held] = /^\| \d+ \| ([^|]+) \| [^|]+ \| ([^|]+) \| ([^|]+) \|$/.exec(line) ?? []
  expect(risk, 'no row of five cells').toBeDefined()
  expect(asvs).toMatch(/^\d+\.\d+\.\d+(?:, \d+\.\d+\.\d+)*$/)
  assertThere(held)
})

test('the checklist has every row once, in order', () => {
  expect(checklist.length).toBeGreaterThanOrEqual(25)
  expect(checklist.map((line) => Number(line.split('|')[1]))).toEqual(checklist.map((_, i) => i + 1))
})

/** Rows that name tests below test/ as `` `file` › beginning of its name; › another ``. */
const ofTests = readFileSync(file('test/README.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|') && line.includes(' › '))

test.each(ofTests)('%s', (line) => {
  let source = ''
  for (const [, path, name] of line.matchAll(/(?:`([\w./-]+\.ts)` )?› ([^;|]+)/g)) {
    if (path !== undefined) source = readFileSync(file(`test/${path}`), 'utf8')
    expect(source).toContain(name.trim())
  }
  expect(source).not.toBe('')
})
