/** The pages for readers, and the documents that code and tests name: what they point to is there. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(path, 'utf8')
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...readdirSync('docs').map((name) => `docs/${name}`)]
  .filter((path) => path.endsWith('.md') && existsSync(path))
  .map((path) => ({ path, text: read(path) }))

/** Documents that a page announces. Whoever adds one takes it off. */
const announced: string[] = []

const withoutBlocks = (text: string): string => text.replaceAll(/^```[^]*?^```/gm, '')
const withoutCode = (text: string): string => withoutBlocks(text).replaceAll(/`[^`\n]*`/g, '')

/** The anchors that GitHub gives a page's headings. */
function anchors(text: string): Set<string> {
  const found = new Set<string>()
  for (const [, heading] of withoutBlocks(text).matchAll(/^#+ +(.+)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-')
    let name = anchor
    for (let number = 1; found.has(name); number++) name = `${anchor}-${number}`
    found.add(name)
  }
  return found
}

/** Links of a page that lead nowhere within the repository. */
function deadLinks(path: string, text: string): string[] {
  const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to)
  return links.filter((to) => {
    if (/^[a-z]+:/i.test(to)) return false
    const [file, anchor] = to.split('#')
    const target = file === '' ? path : join(dirname(path), file)
    if (announced.includes(target)) return false
    if (!existsSync(target)) return true
    return anchor !== undefined && !anchors(target === path ? text : read(target)).has(anchor)
  })
}

/** Paths of ours in backticks that are not there; NAME, `*` and the like stand for any. */
function deadPaths(text: string): string[] {
  const found = [...withoutBlocks(text).matchAll(/`((?:src|test|config|docs|fixtures|bin|scripts)\/[^`\s]*)`/g)]
  return found.map(([, path]) => path).filter((path) => !/\bNAME\b|[*<{…]/.test(path) && !existsSync(path))
}

/** Documents that a text names and the repository lacks; `path` is the file of the text. */
function strangers(path: string, text: string): string[] {
  const own = text.replaceAll(/https?:\/\/\S+/g, '')
  const words = own.match(
    /\bDESIGN\b|fault-model|service-unknowns|service-interface|domain[- ]traps?|\b[Ii]nterface, "|\(dependencies, |\bvocab\b|§ ?\d|\bU\d{1,2}\b/g,
  )
  const names = (own.match(/[\w./-]*\w\.md\b/g) ?? []).filter(
    (name) => ![name, `docs/${name}`, join(dirname(path), name)].some((to) => existsSync(to) || announced.includes(to)),
  )
  return [...(words ?? []), ...names].map((what) => `${path}: ${what}`)
}

/** Everything that people write, apart from this file, which names what it forbids. */
const files = ['src', 'test', 'scripts', 'bin', 'config', '.ci'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => path !== 'test/docs.test.ts' && /\.(?:ts|mjs|yaml|json|md)$/.test(path)),
)

test('every link leads to a file that is there, and to a heading of it', () => {
  expect(pages.map(({ path }) => path)).toContain('docs/design.md')
  expect(pages.flatMap(({ path, text }) => deadLinks(path, text).map((to) => `${path}: ${to}`))).toEqual([])
  expect(
    deadLinks('docs/design.md', '# One `x` two\n[a](#one-x-two) [b](#two) [c](none.md) [d](https://e.f/g)'),
  ).toEqual(['#two', 'none.md'])
})

test('every file that is named is there', () => {
  const dead = pages.flatMap(({ path, text }) => deadPaths(text).map((file) => `${path}: ${file}`))
  expect(dead.filter((line) => !announced.some((file) => line.endsWith(`: ${file}`)))).toEqual([])
  expect(announced.filter((file) => existsSync(file))).toEqual([])
  expect(deadPaths('`src/none.ts` `src/sync.ts` `config/presets/NAME.yaml` `none.ts`')).toEqual(['src/none.ts'])
})

test('no page, source, test, script or preset names a document that is not in the repository', () => {
  expect(files.length).toBeGreaterThan(300)
  // docs/service.md says under which numbers `probe --format json` gives its answers.
  const texts = [...pages, ...files.map((path) => ({ path, text: read(path) }))]
  expect(
    texts.flatMap(({ path, text }) => strangers(path, text)).filter((line) => !/^docs\/service\.md: U\d+$/.test(line)),
  ).toEqual([])
  expect(
    strangers(
      'docs/x.md',
      'DESIGN, fault-model F1, domain trap 3, none.md, vocab §8, U4, design.md, [a](../README.md)',
    ),
  ).toEqual(
    ['DESIGN', 'fault-model', 'domain trap', 'vocab', '§8', 'U4', 'none.md'].map((what) => `docs/x.md: ${what}`),
  )
})

test('numbers of faults, assumptions and open questions are defined where the pages say', () => {
  const defined = new Set(
    [
      ...`${read('docs/faults.md')}\n${read('docs/service.md')}`.matchAll(/^(?:\| |- \*\*)([AFS]\d+)(?: \||\*\*)/gm),
    ].map(([, number]) => number),
  )
  expect(defined.size).toBeGreaterThan(170)
  const named = pages.flatMap(({ path, text }) =>
    [...withoutCode(text).matchAll(/\b[AFS]\d{1,3}\b/g)].map(([number]) => ({ path, number })),
  )
  const inFiles = files.flatMap((path) =>
    [...read(path).matchAll(/docs\/(?:faults|service)\.md, ([FAS]\d+(?:(?:, | and | to )[FAS]\d+)*)/g)].flatMap(
      ([, list]) => (list.match(/[FAS]\d+/g) ?? []).map((number) => ({ path, number })),
    ),
  )
  expect(inFiles.length).toBeGreaterThan(30)
  expect([...named, ...inFiles].filter(({ number }) => !defined.has(number))).toEqual([])
})

test('docs/service.md names every question of probe, in the row of its number', () => {
  const sources = readdirSync('src/probe', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const asked = sources.flatMap((name) =>
    [...read(join('src/probe', name)).matchAll(/unknown: '([^']+)',\s+title: (["'])(.+?)\2,/g)].flatMap(
      ([, numbers, , title]) => numbers.split(', ').map((number) => `${number} ${title}`),
    ),
  )
  expect(asked.length).toBeGreaterThan(20)
  const rows = [...read('docs/service.md').matchAll(/^\| (S\d+) \|.*\| ([^|]+) \|$/gm)].flatMap(([, number, titles]) =>
    titles === '–' ? [] : titles.split('; ').map((title) => `${number} ${title}`),
  )
  expect(rows.toSorted()).toEqual(asked.toSorted())
})
