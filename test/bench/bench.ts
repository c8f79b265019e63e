/**
 * `npm run bench -- [case…] [--quick] [--size N] [--out FILE]`: builds the program, runs each case in a process of its own,
 * and writes one table in Markdown. Each case takes its ratios side by side in interleaved rounds, and checks its results
 * before their time counts. A wrong result fails it, and so does a goal that is missed. With `--quick` sizes are small, cases
 * run beside each other, and only results count.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pLimit from 'p-limit'
import { inWords, isMet, verdict } from './measure.ts'
import type { Row } from './measure.ts'

/** Sizes, and rounds, for a whole bench and for a quick one. */
const cases: Record<string, { file: string; whole: [size: string, rounds: number]; quick: [string, number] }> = {
  'nochange-xml': { file: 'nochange', whole: ['50000', 5], quick: ['500', 5] },
  'nochange-csv': { file: 'nochange', whole: ['50000', 5], quick: ['1000', 5] },
  unchanged: { file: 'nochange', whole: ['5000', 5], quick: ['500', 5] },
  growth: { file: 'nochange', whole: ['100000', 5], quick: ['500', 5] },
  firstload: { file: 'firstload', whole: ['10000', 5], quick: ['500', 5] },
  memory: { file: 'memory', whole: ['1000,10000,100000', 1], quick: ['500', 1] },
  calls: { file: 'calls', whole: ['3000', 1], quick: ['150', 1] },
  observe: { file: 'observe', whole: ['10000', 5], quick: ['500', 5] },
  rate: { file: 'rate', whole: ['20', 1], quick: ['3', 1] },
  client: { file: 'client', whole: ['4000', 7], quick: ['1000', 5] },
  startup: { file: 'startup', whole: ['10', 15], quick: ['10', 9] },
  writes: { file: 'writes', whole: ['5000', 5], quick: ['500', 5] },
  feeds: { file: 'feeds', whole: ['1000', 5], quick: ['60', 1] },
  mix: { file: 'mix', whole: ['1000', 3], quick: ['30', 2] },
  workers: { file: 'workers', whole: ['50', 10], quick: ['3', 2] },
  presets: { file: 'presets', whole: ['500', 5], quick: ['15', 5] },
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, size: { type: 'string' }, out: { type: 'string' } },
})
const strange = positionals.find((name) => !Object.hasOwn(cases, name))
if (strange !== undefined || (values.size !== undefined && !/^\d+(,\d+)*$/.test(values.size))) {
  console.error(`usage: npm run bench -- [${Object.keys(cases).join(' | ')}] [--quick] [--size N] [--out FILE]`)
  process.exit(64)
}

const repository = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'listing-sync-built-'))
const wrong: string[] = []
const rows: Row[] = []
try {
  build()
  const names = positionals.length > 0 ? positionals : Object.keys(cases)
  // A quick bench looks at results, which are the same beside each other; its figures are only printed.
  const beside = pLimit(values.quick ? availableParallelism() : 1)
  for (const found of await Promise.all(names.map((name) => beside(() => play(name))))) rows.push(...found)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
const missed = rows.filter((row) => !isMet(row))
if (values.out !== undefined) writeFileSync(values.out, table())
console.log(`\n${rows.length - missed.length} figures met or without a goal, ${missed.length} goals missed`)
for (const row of missed)
  console.log(`  missed: ${row.goal}, ${row.what}: ${inWords(row.value)} ${row.unit}, ${verdict(row)}`)
for (const name of wrong) console.log(`  wrong: ${name} did not come to its right result`)
process.exitCode = wrong.length > 0 || (missed.length > 0 && !values.quick) ? 1 : 0

/** What a case measured. */
async function play(name: string): Promise<Row[]> {
  const { file, whole, quick } = cases[name]
  const [size, rounds] = values.quick ? quick : whole
  const began = performance.now()
  if (!values.quick) console.log(name)
  const results = join(folder, `results-${name}`)
  writeFileSync(results, '')
  const module = fileURLToPath(new URL(`./${file}.ts`, import.meta.url))
  // Where what Node makes of this very build goes, too: nothing else would ever take it away.
  const XDG_CACHE_HOME = join(folder, 'cache')
  const child = spawn(process.execPath, ['--expose-gc', module, name, values.size ?? size, String(rounds)], {
    stdio: ['ignore', values.quick ? 'pipe' : 'inherit', 'inherit'],
    env: { ...process.env, XDG_CACHE_HOME, BENCH_RESULTS: results, BENCH_BUILT: folder },
  })
  let printed = values.quick ? `${name}\n` : ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const [status] = (await once(child, 'close')) as [number | null]
  const found = readFileSync(results, 'utf8').split('\n').slice(0, -1)
  // One that measured nothing is no case that went well.
  if (status !== 0 || found.length === 0) wrong.push(name)
  console.log(`${printed}  ${((performance.now() - began) / 1000).toFixed(0)} s`)
  return found.map((line) => JSON.parse(line) as Row)
}

/** The program as it is published, in a folder of its own, with the modules that cases load by themselves. */
function build(): void {
  const own = ['app-open=app/open.ts', 'app-doors=app/doors.ts', 'store-sqlite=store/sqlite.ts']
  const words = [join(repository, 'scripts/bundle.mjs'), join(folder, 'dist/program'), ...own]
  execFileSync(process.execPath, words, { stdio: 'inherit' })
  const presets = [join(repository, 'scripts/write-presets.ts'), join(folder, 'dist/presets')]
  execFileSync(process.execPath, presets, { stdio: 'inherit' })
  for (const part of ['bin', 'config', 'package.json'])
    cpSync(join(repository, part), join(folder, part), { recursive: true })
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
}

function table(): string {
  const versionOf = (name: string): string => {
    const file = join(repository, 'node_modules', name, 'package.json')
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version : 'not there'
  }
  const peers = ['fast-xml-parser', 'saxes', 'papaparse', 'undici', 'better-sqlite3']
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: repository, encoding: 'utf8' }).trim()
  const isAsCommitted = git('status', '--porcelain', '--untracked-files=no') === ''
  const commit = git('rev-parse', '--short', 'HEAD') + (isAsCommitted ? '' : ' and changes')
  const about = [
    `${cpus().length} × ${cpus()[0].model}, Node ${process.versions.node}`,
    peers.map((name) => `${name} ${versionOf(name)}`).join(', '),
    `commit ${commit}`,
  ].join('; ')
  const lines = rows.map((row) => `| ${row.goal} | ${row.what} | ${inWords(row.value)} ${row.unit} | ${verdict(row)} |`)
  return [`${about}.`, '', '| | what | measured | goal |', '|---|---|---|---|', ...lines, ''].join('\n')
}
