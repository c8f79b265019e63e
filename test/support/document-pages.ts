/**
 * The pages for readers, taken apart: their blocks, the commands in them, and a place in which these are run as a reader
 * would type them. A block's language says what it is: `sh` are commands, `console` commands with what they print, `yaml`
 * a file or a part of one, named by its first line.
 */
import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { startStandIn } from '../../src/stand-in/stand-in.ts'
import type { StandIn } from '../../src/stand-in/stand-in.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const program = join(root, 'bin', 'listing-sync.mjs')

/** README.md and every page in docs. */
export const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

export interface Block {
  page: string
  /** Of the block's first line, from 1. */
  line: number
  language: string
  text: string
}

/** A command, and what it prints: null where the page does not show it. */
export interface Shown {
  command: string
  output: string | null
}

/** The fenced blocks of a page, in its order. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```([\w-]*)\n([^]*?)^```$/gm)].map(({ index, 1: language, 2: body }) => {
    return { page, line: text.slice(0, index).split('\n').length + 1, language, text: body }
  })
}

/** The commands of a block of shell lines or of a session, without comments, lines that go on joined. */
export function commandsOf({ language, text }: Block): Shown[] {
  if (language === 'sh')
    return text
      .replaceAll('\\\n', ' ')
      .split('\n')
      .map((line) =>
        line
          .replace(/\s+#.*$/, '')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      )
      .filter((line) => line !== '')
      .map((command) => ({ command, output: null }))
  if (language !== 'console') return []
  const shown: { command: string; output: string }[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('$ ')) shown.push({ command: line.slice(2), output: '' })
    else if (shown.length > 0) shown.at(-1)!.output += `${line}\n`
  }
  return shown
}

/** What a block of YAML says of itself in its first line, `# …`. */
export function captionOf({ text }: Block): string {
  return /^# (.+)\n/.exec(text)?.[1] ?? ''
}

/** Commands that cannot be run here, and why. */
export const notHere: readonly { commands: RegExp; why: string }[] = [
  { commands: /^npm ci && npm test$/, why: 'a test run within a test run' },
  { commands: /^npm ci$/, why: 'it would replace the modules that this test runs on' },
  {
    commands: /^npm ci && npm run build && npm pack$/,
    why: 'the same; test/package.slow.test.ts builds and installs it',
  },
  {
    commands: /^npm ci && npm run build:client && npm pack \.\/scripts\/client$/,
    why: 'the same; test/client-package.slow.test.ts builds and installs it',
  },
  { commands: /^npm install |example\/server\.mjs$/, why: 'test/client-package.slow.test.ts installs and runs it' },
  { commands: /store migrate /, why: "it asks a database of the reader's; test/store/migrate.slow.test.ts runs it" },
  { commands: /^docker /, why: 'there is no Docker engine' },
  { commands: /^(systemctl|journalctl|systemd-run) /, why: 'there is no systemd' },
  { commands: /^ssh-keyscan /, why: "it asks a server of the reader's" },
]

export const isRunHere = (command: string): boolean => !notHere.some(({ commands }) => commands.test(command))

/** What a command that sets up the shell is: it has its effect on those after it. */
const isPreparation = (command: string): boolean => /^(alias|export|cd|mkdir -p) /.test(command)

/**
 * Whether a text is as a page shows it: a line that is only `…` stands for any lines, `…` within a line for any part of it.
 */
export function isAsShown(shown: string, text: string): boolean {
  const escaped = (part: string): string => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  const lines = shown.trimEnd().split('\n')
  const pattern = lines.map((line) =>
    line.trim() === '…' ? '(?:.*\n)*?' : `${line.trimEnd().split('…').map(escaped).join('.*')} *\n`,
  )
  return new RegExp(`^${pattern.join('')}$`).test(`${text.trimEnd()}\n`)
}

/** How a page is played: what each of its commands ends with, and what must be done that a reader does by hand. */
export interface Story {
  /** Exit status by command; `stopped`: it runs until it is told to stop, once it has printed what the page shows. */
  commands: Record<string, number | 'stopped'>
  /** Before the first command. */
  prepare?: (place: Place) => void | Promise<void>
}

/**
 * A folder, a stand-in and a web server with the demo's feed, in which a page is played. Addresses of the pages
 * (listings.example.com, mls.example.com and the stand-in's port) are those of this machine.
 */
export class Place {
  readonly home = mkdtempSync(join(tmpdir(), 'listing-sync-test-'))
  /** Where the reader is: the folder of the repository's copies, until a page goes elsewhere. */
  readonly folder = join(this.home, 'repository')
  readonly standIn: StandIn
  readonly #feeds: Server
  readonly #prepared: string[] = []
  readonly #running = new Set<ChildProcess>()

  private constructor(standIn: StandIn, feeds: Server) {
    this.standIn = standIn
    this.#feeds = feeds
    mkdirSync(join(this.home, 'bin'))
    mkdirSync(this.folder)
    // A page may write into the repository's other folders, so these are not the real ones.
    for (const name of ['bin', 'fixtures', 'package.json']) symlinkSync(join(root, name), join(this.folder, name))
    const start = `#!/bin/sh\nexec '${process.execPath}'`
    writeFileSync(join(this.home, 'bin', 'listing-sync'), `${start} '${program}' "$@"\n`, { mode: 0o755 })
    writeFileSync(join(this.home, 'bin', 'node'), `${start} "$@"\n`, { mode: 0o755 })
  }

  static async open(): Promise<Place> {
    const feed = gzipSync(readFileSync(join(root, 'fixtures/demo/first.xml')))
    const feeds = createServer((_, response) => response.end(feed))
    await new Promise<void>((resolve) => feeds.listen(0, '127.0.0.1', resolve))
    return new Place(await startStandIn({}), feeds)
  }

  async close(): Promise<void> {
    for (const child of this.#running) process.kill(-child.pid!, 'SIGKILL')
    await this.standIn.close()
    this.#feeds.close()
    rmSync(this.home, { recursive: true, force: true })
  }

  /** A text of a page with the addresses of this machine. */
  here(text: string): string {
    const { port } = this.#feeds.address() as AddressInfo
    return text
      .replaceAll('https://listings.example.com', this.standIn.url)
      .replaceAll('http://127.0.0.1:8080', this.standIn.url)
      .replaceAll('https://mls.example.com', `http://127.0.0.1:${port}`)
      .replaceAll('--port 8080', '--port 0')
      .replace('npm ci && ', '')
      .replace(/\bstand-in$/, 'stand-in --port 0')
  }

  /** Writes a configuration with a fast service, as no reader wants a test to wait. */
  write(name: string, text: string): void {
    const file = join(this.folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, this.here(text).replace(/^( +baseUrl: .*)$(?![^]*^ +rate:)/m, '$1\n  rate: 500'))
  }

  /** Copies a file of the repository. */
  copy(from: string, to: string): void {
    copyFileSync(join(root, from), join(this.folder, to))
  }

  /** Changes a file's text. */
  edit(name: string, change: (text: string) => string): void {
    const file = join(this.folder, name)
    const text = readFileSync(file, 'utf8')
    assert.notEqual(change(text), text)
    writeFileSync(file, change(text))
  }

  /** Runs a command that the page does not show, and gives what it prints. */
  async quietly(command: string, status = 0): Promise<string> {
    const ended = await this.#run(command, null)
    assert.equal(ended.status, status, `${command}\n${ended.output}`)
    return ended.output
  }

  /** Where the commands so far have led, for files that the page has the reader write. */
  async #currentFolder(): Promise<string> {
    const { output } = await this.#run('pwd', null)
    return output.trim().split('\n').at(-1)!
  }

  /** Plays the blocks of a page in their order. */
  async play(blocks: readonly Block[], { commands, prepare }: Story): Promise<void> {
    await prepare?.(this)
    for (const block of blocks) {
      const caption = captionOf(block)
      if (block.language === 'yaml' && /^[\w./-]+\.yaml$/.test(caption)) {
        const folder = await this.#currentFolder()
        this.write(join('..', folder.slice(this.home.length + 1), caption), block.text)
      }
      for (const { command, output } of commandsOf(block).filter((shown) => isRunHere(shown.command))) {
        const where = `${block.page}:${block.line}: ${command}`
        if (isPreparation(command)) this.#prepared.push(command)
        const expected = isPreparation(command) ? 0 : commands[command]
        assert(expected !== undefined, `${where}: a command that this test does not know yet`)
        const typed = output?.match(/^> .*$/gm)?.map((line) => line.slice(2)) ?? []
        const shown = output?.replaceAll(/^> .*\n/gm, '').trimEnd() ?? ''
        const until =
          expected === 'stopped'
            ? (text: string) => (shown === '' ? text !== '' : isAsShown(this.#anyPort(shown), text))
            : null
        const ended = await this.#run(isPreparation(command) ? 'true' : this.here(command), until, typed)
        if (expected !== 'stopped') assert.equal(ended.status, expected, `${where}\n${ended.output.slice(0, 3000)}`)
        if (shown !== '' || expected === 'stopped')
          assert(
            ended.isStopped || isAsShown(this.#anyPort(shown), ended.output),
            `${where} prints\n${ended.output.slice(0, 3000)}\nand not\n${shown}`,
          )
      }
    }
  }

  #anyPort(text: string): string {
    return text.replaceAll('http://127.0.0.1:8080', 'http://127.0.0.1:…')
  }

  /** Runs a line in a shell that is set up as the page has it; `until`: it is stopped once its output is so. */
  #run(
    line: string,
    until: ((output: string) => boolean) | null,
    typed: readonly string[] = [],
  ): Promise<{ status: number | null; output: string; isStopped: boolean }> {
    assert(!/npm (ci|install|i)\b/.test(line), `${line} would change the modules that this test runs on`)
    const child = spawn('sh', ['-c', ['exec 2>&1', ...this.#prepared, line].join('\n')], {
      cwd: this.folder,
      detached: true,
      env: {
        ...process.env,
        HOME: this.home,
        PATH: `${join(this.home, 'bin')}:${process.env['PATH']}`,
        LISTING_SESSION_KEY: 'any',
        LISTING_SECRET_KEY: 'any',
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    }) as ChildProcess & { stdin: NodeJS.WritableStream; stdout: NodeJS.ReadableStream }
    this.#running.add(child)
    child.stdin.on('error', () => undefined)
    child.stdin.end(typed.map((text) => `${text}\n`).join(''))
    let output = ''
    let isStopped = false
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (isStopped || !until?.(output)) return
      isStopped = true
      process.kill(-child.pid!, 'SIGTERM')
    })
    return new Promise((resolve) =>
      child.on('close', (status) => {
        this.#running.delete(child)
        resolve({ status, output, isStopped })
      }),
    )
  }
}
