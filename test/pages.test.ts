/** What stands in the blocks of README.md and docs: each configuration loads, each preset works, each command is known. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { configurationPage, sections } from '../scripts/write-configuration-page.ts'
import { readSettingsFile } from '../src/config/chatbot-settings.ts'
import { readQuestions } from '../src/config/questions.ts'
import { loadConfig } from '../src/config/config.ts'
import { makeMapping } from '../src/config/presets.ts'
import { createMeter } from '../src/pages/meter.ts'
import { exposition } from '../src/report/metrics.ts'
import { readStandInSettings } from '../src/stand-in/settings.ts'
import {
  blocksOf,
  captionOf,
  commandsOf,
  isAsShown,
  isRunHere,
  notHere,
  pages,
  root,
} from './support/document-pages.ts'
import type { Block } from './support/document-pages.ts'
import { stories } from './support/page-stories.ts'
import { executed } from './support/program.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const blocks = pages.flatMap(blocksOf)
const yamlBlocks = blocks.filter(({ language }) => language === 'yaml')
const fingerprint = 'file-content'

/** A folder with the files that a page has its reader write. */
function folderOf(page: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'listing-sync-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const block of blocksOf(page)) {
    const caption = captionOf(block)
    if (block.language !== 'yaml' || !/^[\w./-]+\.yaml$/.test(caption)) continue
    mkdirSync(dirname(join(folder, caption)), { recursive: true })
    writeFileSync(join(folder, caption), block.text)
  }
  return folder
}

/** Loads a configuration as the program does; every environment variable and secret file has a text. */
function load(page: string, text: string): ReturnType<typeof loadConfig> {
  const folder = folderOf(page)
  const file = join(folder, 'tried.yaml')
  writeFileSync(file, text)
  const valueOf = (name: string): string =>
    /URL|WEBHOOK/.test(name) ? 'https://hooks.example.com/a-value' : 'a-value-of-some-length'
  const env = Object.fromEntries([...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => [name, valueOf(name)]))
  const readFile = (path: string): string =>
    path.startsWith('/run/secrets/') ? fingerprint : readFileSync(path, 'utf8')
  return loadConfig(file, { env, readFile, learn: () => undefined }, makeMapping)
}

const feed = { chatbot: 'SN-1001', source: 'export.xml', preset: 'zillow' }
const service = { baseUrl: 'https://listings.example.com', secretKey: 'any' }

/** What a block is tried as, by its first line. */
const kinds: [caption: RegExp, tried: (block: Block) => unknown][] = [
  [
    /^under feeds\.north$/,
    ({ page, text }) => load(page, stringify({ service, feeds: { north: { ...feed, ...parse(text) } } })),
  ],
  [
    /^at the top of the file$/,
    ({ page, text }) => load(page, stringify({ service, feeds: { north: feed }, ...parse(text) })),
  ],
  [
    /^presets\/[\w-]+\.yaml$/,
    ({ page, text }) =>
      load(page, stringify({ service, feeds: { north: { ...feed, preset: `./${captionOf({ text } as Block)}` } } })),
  ],
  [
    /^chatbot\.yaml$/,
    ({ page }) => readSettingsFile(join(folderOf(page), 'chatbot.yaml'), (path) => readFileSync(path, 'utf8')),
  ],
  [
    /^questions\.yaml$/,
    ({ page }) => readQuestions(join(folderOf(page), 'questions.yaml'), (path) => readFileSync(path, 'utf8')),
  ],
  [/^stand-in\.yaml$/, ({ text }) => readStandInSettings(text)],
  [/^prometheus\.yaml$/, ({ text }) => parse(text)],
  [/^[\w-]+\.yaml$/, ({ page, text }) => load(page, text)],
]

describe('YAML', () => {
  test.each(yamlBlocks.map((block) => [`${block.page}:${block.line} ${captionOf(block)}`, block] as const))(
    '%s',
    (_, block) => {
      const kind = kinds.find(([caption]) => caption.test(captionOf(block)))
      expect(
        kind,
        'its first line says where it belongs, as "# listing-sync.yaml" or "# under feeds.north"',
      ).toBeDefined()
      expect(kind![1](block)).toBeTruthy()
    },
  )

  test('a wrong one is noticed', () => {
    const [, tried] = kinds[0]
    expect(() =>
      tried({ page: 'README.md', line: 1, language: 'yaml', text: '# under feeds.north\ndrift: reprot\n' }),
    ).toThrow(/drift/)
  })
})

test('every block says what it is in', () => {
  const unknown = blocks.filter(({ language }) => !['sh', 'console', 'yaml', 'ts', 'ini', 'text'].includes(language))
  expect(unknown.map(({ page, line }) => `${page}:${line}`)).toEqual([])
})

test('every command is run, or it is said why not', () => {
  const shown = blocks.flatMap((block) => commandsOf(block).map(({ command }) => ({ page: block.page, command })))
  const isSetting = (command: string): boolean => /^(alias|export|cd|mkdir -p) /.test(command)
  const run = shown.filter(({ command }) => isRunHere(command) && !isSetting(command))
  expect(run.length).toBeGreaterThan(40)
  expect(run.filter(({ page, command }) => stories[page]?.commands[command] === undefined)).toEqual([])
  const named = Object.entries(stories).flatMap(([page, { commands }]) =>
    Object.keys(commands).map((command) => ({ page, command })),
  )
  expect(
    named.filter((story) => !run.some(({ page, command }) => page === story.page && command === story.command)),
  ).toEqual([])
  expect(notHere.filter(({ commands }) => !shown.some(({ command }) => commands.test(command)))).toEqual([])
})

test('what is left out of an output stands for anything, and the rest for itself', () => {
  expect(isAsShown('a\n…\nd … f', 'a\nb\nc\nd e f\n')).toBe(true)
  expect(isAsShown('a\n…\nd', 'a\nd')).toBe(true)
  expect(isAsShown('a\nd', 'a\nb\nd')).toBe(false)
  expect(isAsShown('1.5 (x)', '1x5 (x)')).toBe(false)
})

test('docs/configuration.md is what the schema says', () => {
  expect(read('docs/configuration.md') === configurationPage(), 'run: npm run schema').toBe(true)
})

test('every key of the configuration has a description', () => {
  const keys = sections().flatMap(({ title, keys }) =>
    keys.map(({ name, schema }) => ({ name: `${title.replaceAll('`', '')}: ${name}`, text: schema.description ?? '' })),
  )
  expect(keys.length).toBeGreaterThan(150)
  const without = keys.filter(({ text }) => text === '')
  expect(without.map(({ name }) => name)).toEqual([])
})

test('docs/commands.md names every command, and only those', async () => {
  const { stdout: help } = await executed(['--help'])
  const known = [...help.matchAll(/^ {2}([a-z][a-z-]*)(?: .*)?$/gm)].map(([, name]) => name)
  const named = [...read('docs/commands.md').matchAll(/^\| `([a-z-]+)(?: [^`]*)?` \| /gm)].map(([, name]) => name)
  expect(named.toSorted()).toEqual(known.filter((name) => name !== 'help').toSorted())
})

test('docs/monitoring.md names every metric, and only those', async () => {
  const numbers = { a: 1 }
  const text = exposition({
    isConfigRefused: false,
    feeds: [
      {
        feed: 'north',
        chatbot: 'SN-1',
        lastRun: {
          at: 1,
          seconds: 1,
          result: 'ok',
          changes: numbers,
          outcomes: numbers,
          calls: numbers,
          records: 1,
          bytes: 1,
        },
        lastSuccess: 1,
        lastAccepted: 1,
        written: 1,
        listings: 1,
        heldByRule: numbers,
        held: 0,
        lastVerified: { at: 1, agreed: 1, disagreed: 0, unanswered: 0, tokens: 1 },
      },
    ],
  })
  const counted = await createMeter().text([])
  const known = [...`${text}${counted}`.matchAll(/^# TYPE listing_sync_(\w+)/gm)].map(([, name]) => name)
  const page = read('docs/monitoring.md')
  const table = page.slice(page.indexOf('| `listing_sync_…`'), page.indexOf('## Alerts'))
  const named = [...table.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) =>
    [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name),
  )
  expect(named.filter((name) => name !== 'listing_sync_').toSorted()).toEqual(known.toSorted())
  for (const [, name] of page.matchAll(/\blisting_sync_(\w+)/g)) expect(known).toContain(name)
})
