/**
 * Holds the rules of DESIGN §4 by reading the import lines: stages do not know one another, planning reads nothing, the
 * machine (environment, clock, randomness, timers, network) is handed in.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Words and small pure helpers that every stage may use. */
const shared = [
  'listing.ts',
  'run.ts',
  'verification.ts',
  'errors.ts',
  'runtime.ts',
  'hash.ts',
  'text.ts',
  'secrets.ts',
  'compare.ts',
  'schema-words.ts',
  'sentinel.ts',
  'zone.ts',
]
/** A stage as the others see it: types only. */
const interfaces = [
  'feed/feed.ts',
  'service/service.ts',
  'store/store.ts',
  'workspace/workspace.ts',
  'report/report.ts',
]
/** What the commands put together beside the root's files: the daemon's parts and the stand-in's two entries. */
const commanded = /^(daemon\/.+|stand-in\/(stand-in|settings)\.ts)$/
/** The only files that may read the machine. */
const machine = ['main.ts', 'machine.ts', 'app.ts', 'config.ts']

const longestFile = 250
const longerFiles: Record<string, number> = {}

interface Import {
  from: string
  to: string
  typeOnly: boolean
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'))
const sources = new Map(files.map((file) => [file, readFileSync(`src/${file}`, 'utf8')]))

/** Static, re-exporting and dynamic imports of files of our own, with paths from `src`. */
function importsOf(file: string): Import[] {
  const code = withoutComments(sources.get(file) ?? '')
  const statics = [...code.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?['"](\.{1,2}\/[^'"]+)['"]/gm)]
  const dynamics = [...code.matchAll(/\bimport\(\s*()['"](\.{1,2}\/[^'"]+)['"]/g)]
  return [...statics, ...dynamics].map(([, type, path]) => ({
    from: file,
    to: join(dirname(file), path).replaceAll('\\', '/'),
    typeOnly: type?.trim() === 'type',
  }))
}

/** The code without comments; texts stay, as import paths are texts. */
function withoutComments(code: string): string {
  return code.replace(/('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\*[^]*?\*\/|\/\/[^\n]*/g, '$1')
}

/** The code without comments and without plain texts; templates stay, as they hold code. */
function withoutTexts(code: string): string {
  return withoutComments(code).replace(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g, "''")
}

/** Why an import breaks the rules, or null. */
function complaint({ from, to, typeOnly }: Import): string | null {
  const [stage, other] = [from, to].map((file) => (file.includes('/') ? file.split('/')[0] : ''))
  if (stage === '') return null
  if (to.startsWith('..')) return 'leaves src'
  if (stage === other) return null
  if (stage === 'stand-in') return 'the stand-in is written from the interface document alone'
  if (stage === 'plan')
    return ['listing.ts', 'run.ts', 'hash.ts', 'compare.ts', 'sentinel.ts'].includes(to)
      ? null
      : 'planning reads nothing'
  if (stage === 'commands' && !(typeOnly && interfaces.includes(to))) {
    if (to === 'main.ts') return 'the program starts commands, not the other way round'
    return other === '' || commanded.test(to) ? null : 'a command gets its parts from app.ts'
  }
  // It tries what the feed stage is made of, and reads nothing else.
  if (stage === 'inspect' && other === 'feed') return null
  if (other === '') return shared.includes(to) ? null : 'a stage knows only the shared words'
  if (!interfaces.includes(to)) return 'siblings never import siblings; wire them in app.ts'
  return typeOnly ? null : "another stage's interface is for types only"
}

test('there is something to hold', () => {
  expect(files.length).toBeGreaterThan(10)
  expect(files.flatMap(importsOf).length).toBeGreaterThan(10)
})

test('the rules tell right from wrong', () => {
  const judge = (from: string, to: string, typeOnly = false) => complaint({ from, to, typeOnly }) === null
  expect(judge('feed/mapping/select.ts', 'feed/feed.ts')).toBe(true)
  expect(judge('apply/executor.ts', 'service/service.ts', true)).toBe(true)
  expect(judge('apply/executor.ts', 'service/service.ts')).toBe(false)
  expect(judge('apply/executor.ts', 'service/client.ts', true)).toBe(false)
  expect(judge('plan/decide.ts', 'store/store.ts', true)).toBe(false)
  expect(judge('stand-in/server.ts', 'listing.ts', true)).toBe(false)
  expect(judge('commands/diff.ts', 'sync.ts')).toBe(true)
  expect(judge('commands/diff.ts', 'app.ts')).toBe(true)
  expect(judge('commands/diff.ts', 'main.ts')).toBe(false)
  expect(judge('commands/diff.ts', 'service/client.ts')).toBe(false)
  expect(judge('daemon/schedule.ts', 'app.ts')).toBe(false)
  expect(judge('report/text.ts', 'log.ts')).toBe(false)
  expect(judge('inspect/fit.ts', 'feed/mapping.ts')).toBe(true)
  expect(judge('inspect/fit.ts', 'store/sqlite.ts')).toBe(false)
  expect(judge('app.ts', 'service/client.ts')).toBe(true)
  expect(withoutTexts("a('process.env') // Date.now()\nb(`${Date.now()}`)")).toBe("a('') \nb(`${Date.now()}`)")
})

describe.each(files)('%s', (file) => {
  const code = sources.get(file) ?? ''

  test('imports what it may', () => {
    const broken = importsOf(file).flatMap((line) => {
      const why = complaint(line)
      return why === null ? [] : [`${line.to}: ${why}`]
    })
    expect(broken).toEqual([])
  })

  test('can be read in one sitting', () => {
    expect(code.split('\n').length - 1).toBeLessThanOrEqual(longerFiles[file] ?? longestFile)
  })
})

test.each(files.filter((file) => !machine.includes(file)))('%s is handed the machine', (file) => {
  const reads =
    /\bprocess\.env\b|\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|(?<!\.)\bset(?:Timeout|Interval)\b|\bglobalThis\b|(?<![.\w])fetch\(/g
  expect([...withoutTexts(sources.get(file) ?? '').matchAll(reads)].map(([found]) => found)).toEqual([])
})
