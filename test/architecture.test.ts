/** Holds docs/architecture.md: its map and its excerpts are read from the page, so that page and code can't drift apart. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

interface Import {
  readonly from: string
  readonly to: string
  readonly typeOnly: boolean
}

const page = readFileSync('docs/architecture.md', 'utf8')
const tables = page.matchAll(/^\|(.+)\|\n\|[-| ]+\|\n((?:\|.*\|\n)+)/gm)
const [folderRows, packageRows] = [...tables].map(([, , rows]) =>
  rows
    .trimEnd()
    .split('\n')
    .map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    ),
)
const names = (cell: string): string[] => cell.split(',').map((name) => name.replaceAll('`', '').trim())

/** Every place of the map, from the top down, with the places that it may import. */
const places = new Map(
  folderRows.map(([place, , below]) => [names(place)[0], new Set(names(below).filter((name) => name !== ''))]),
)
/** Every package, with the places that may import it. */
const packages = new Map(packageRows.flatMap(([list, where]) => names(list).map((name) => [name, names(where)])))

const files = new Map(
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file, readFileSync(`src/${file}`, 'utf8')]),
)

/** The code without comments; texts stay, as import paths are texts. */
function withoutComments(code: string): string {
  return code.replace(/('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\*[^]*?\*\/|\/\/[^\n]*/g, '$1')
}

/** The code without comments and without plain texts; templates stay, as they hold code. */
function withoutTexts(code: string): string {
  return withoutComments(code).replace(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g, "''")
}

/** Static, re-exporting, dynamic and type imports; files of our own with their path from `src`. */
function importsOf(file: string, code: string): Import[] {
  const bare = withoutComments(code)
  const statics = [...bare.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm)]
  const calls = [...bare.matchAll(/(typeof\s+)?\bimport\(\s*['"]([^'"]+)['"]/g)]
  return [...statics, ...calls].map(([, type, path]) => ({
    from: file,
    to: path.startsWith('.') ? join(dirname(file), path).replaceAll('\\', '/') : path,
    typeOnly: type !== undefined,
  }))
}

function placeOf(file: string): string | null {
  return [...places.keys()].find((place) => file === place || file.startsWith(`${place}/`)) ?? null
}

/** What the tables have against an import, or null. */
function complaint({ from, to }: Import): string | null {
  const place = placeOf(from)
  if (place === null) return `${from}: no row of the map has it`
  if (to.endsWith('.ts')) {
    const other = placeOf(to)
    if (other === null) return `${from} → ${to}: no row of the map has it`
    return other === place || places.get(place)?.has(other) ? null : `${from} → ${to}: ${place} may not import ${other}`
  }
  const rows = packages.get(to)
  if (rows === undefined) return `${from} → ${to}: no row of the packages has it`
  return rows[0] === 'everywhere' || rows.includes(place) ? null : `${from} → ${to}: only in ${rows.join(', ')}`
}

/** One way round through `edges`, or null. */
function circle(edges: ReadonlyMap<string, ReadonlySet<string>>): string | null {
  const done = new Set<string>()
  const walk = (node: string, path: readonly string[]): string | null => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node].join(' → ')
    if (done.has(node)) return null
    for (const next of edges.get(node) ?? []) {
      const found = walk(next, [...path, node])
      if (found !== null) return found
    }
    done.add(node)
    return null
  }
  for (const node of edges.keys()) {
    const found = walk(node, [])
    if (found !== null) return found
  }
  return null
}

const imports = [...files].flatMap(([file, code]) => importsOf(file, code))
const own = imports.filter(({ to }) => to.endsWith('.ts'))

function graph(edges: readonly (readonly [string, string])[]): Map<string, Set<string>> {
  const nodes = new Map<string, Set<string>>()
  for (const [from, to] of edges) if (from !== to) nodes.set(from, (nodes.get(from) ?? new Set()).add(to))
  return nodes
}

test('a folder imports only what its row of the map allows, and a package is imported only in its row', () => {
  expect(imports.flatMap((line) => complaint(line) ?? [])).toEqual([])
})

test('what is imported is installed with the program, not with its tests alone', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object }
  const others = [...packages.keys()]
    .filter((name) => !/^(?:node:|\.)/.test(name))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0])
  expect(others.filter((name) => !(name in dependencies))).toEqual([])
})

test('there are no circles, of files or of folders, types included', () => {
  expect(circle(graph(own.map(({ from, to }) => [from, to])))).toBeNull()
  expect(circle(graph(own.map(({ from, to }) => [placeOf(from) ?? from, placeOf(to) ?? to])))).toBeNull()
})

test('every row of the map is a place of its own, allows only what is below it, and nothing that is not used', () => {
  const order = [...places.keys()]
  const used = new Set(own.map(({ from, to }) => `${placeOf(from)} → ${placeOf(to)}`))
  const used3rd = new Set(imports.filter(({ to }) => !to.endsWith('.ts')).map(({ to }) => to))
  for (const [place, below] of places) {
    expect(existsSync(`src/${place}`), place).toBe(true)
    for (const other of below) {
      expect(order.indexOf(other), `${place} → ${other}`).toBeGreaterThan(order.indexOf(place))
      expect(used.has(`${place} → ${other}`), `${place} may import ${other}, and does not`).toBe(true)
    }
  }
  expect([...packages.keys()].filter((name) => !used3rd.has(name))).toEqual([])
})

test('every file is imported by another, the three at the root apart', () => {
  const imported = new Set(own.map(({ to }) => to))
  expect([...files.keys()].filter((file) => !imported.has(file)).toSorted()).toEqual(['index.ts', 'main.ts'])
})

test('environment, clock, timers, randomness and network are handed in', () => {
  const machine = ['main.ts', 'core/machine.ts', 'app/open.ts']
  const reads =
    /\bprocess\.env\b|\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|(?<!\.)\bset(?:Timeout|Interval)\b|\bglobalThis\b|(?<![.\w])fetch\(/g
  const found = [...files]
    .filter(([file]) => !machine.includes(file))
    .flatMap(([file, code]) => [...withoutTexts(code).matchAll(reads)].map(([what]) => `${file}: ${what}`))
  expect(found).toEqual([])
})

test('text leaves through the doors alone, and nobody else takes secrets out of it', () => {
  const ways =
    /\bprocess\.std(?:out|err)\b(?!\.isTTY)|\bconsole\.|\bfd: [12]\b|\b(?:scrubber|scrubbedPieces)\(|\bdoors\.(?:scrub|clean)\b/g
  const found = [...files]
    .filter(([file]) => !['app/doors.ts', 'core/secrets.ts'].includes(file))
    .flatMap(([file, code]) => [...withoutTexts(code).matchAll(ways)].map(([way]) => `${file}: ${way}`))
  expect(found.toSorted()).toEqual([
    // What `inspect --init` makes files of.
    'app/inspect.ts: doors.clean',
    'app/log.ts: fd: 2',
    // What people are told.
    'app/notify.ts: doors.clean',
    'app/open.ts: doors.scrub',
    // What a person types is echoed, and asked for.
    'commands/ask.ts: process.stderr',
    'commands/command.ts: process.stderr',
    // A reader that goes away.
    'main.ts: process.stderr',
    'main.ts: process.stdout',
    // The client is a library, too, and then there are no doors.
    'service/envelope.ts: scrubber(',
    // A package is kept from printing.
    'store/postgres/queue.ts: console.',
  ])
})

test('a SQLite file is opened in one way', () => {
  const found = [...files].filter(([, code]) => /\bnew Database\(/.test(withoutTexts(code))).map(([file]) => file)
  expect(found).toEqual(['core/sqlite.ts'])
})

test('nobody casts to a type that carries a proof', () => {
  const casts = /\bas\s+(?:AbsenceProof|DeleteAbsent|ForgetAbsent)\b/g
  const found = [...files].flatMap(([file, code]) =>
    [...withoutTexts(code).matchAll(casts)].map(([cast]) => `${file}: ${cast}`),
  )
  expect(found).toEqual([])
})

test('the excerpts of the page are in the files that they name', () => {
  const excerpts = [...page.matchAll(/^```ts\n\/\/ src\/(\S+)\n([^]*?)^```$/gm)]
  expect(excerpts.map(([, file]) => file)).toContain('sync.ts')
  const missing = excerpts.flatMap(([, file, code]) => {
    const there = new Set(files.get(file)?.split('\n'))
    return code.split('\n').flatMap((line) => (line === '' || there.has(line) ? [] : `${file}: ${line}`))
  })
  expect(missing).toEqual([])
})

test('the reading of this test tells right from wrong', () => {
  const found = (code: string) => importsOf('plan/decide.ts', code).map(({ to, typeOnly }) => [to, typeOnly])
  expect(found("import { a } from './a.ts'\nimport type { B } from '../core/b.ts'\nexport * from 'zod'")).toEqual([
    ['plan/a.ts', false],
    ['core/b.ts', true],
    ['zod', false],
  ])
  expect(found("import './side.ts'\nawait import('../app/open.ts')\nlet x: typeof import('yaml')")).toEqual([
    ['plan/side.ts', false],
    ['app/open.ts', false],
    ['yaml', true],
  ])
  expect(found("// import { a } from './a.ts'\nconst text = \"import('./b.ts')\"")).toEqual([['plan/b.ts', false]])
  const judge = (from: string, to: string, typeOnly = false) => complaint({ from, to, typeOnly }) === null
  expect(judge('plan/decide.ts', 'core/listing.ts')).toBe(true)
  expect(judge('plan/decide.ts', 'store/store.ts', true)).toBe(false)
  expect(judge('plan/decide.ts', 'node:fs')).toBe(false)
  expect(judge('sync.ts', 'service/client.ts', true)).toBe(false)
  expect(judge('main.ts', 'sync.ts')).toBe(false)
  expect(judge('stray.ts', 'core/listing.ts')).toBe(false)
  expect(judge('app/log.ts', 'pino')).toBe(true)
  expect(judge('core/log.ts', 'pino', true)).toBe(false)
  expect(judge('core/log.ts', 'left-pad')).toBe(false)
  expect(
    circle(
      graph([
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'a'],
      ]),
    ),
  ).toBe('a → b → c → a')
  expect(withoutTexts("a('process.env') // Date.now()\nb(`${Date.now()}`)")).toBe("a('') \nb(`${Date.now()}`)")
})
