/** A person starts the stand-in, syncs a feed into it and chats with it, exactly as docs/stand-in.md shows. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { program } from '../support/program.ts'
import type { Ended } from '../support/program.ts'

const root = dirname(dirname(program))
const page = readFileSync(join(root, 'docs/stand-in.md'), 'utf8')
const configuration = /```yaml\n# chat\.yaml\n([^]*?)```/.exec(page)![1]
const session = /\$ npm run -s listing-sync -- --config chat\.yaml (ask [^\n]*)\n([^]*?)```/.exec(page)!

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-test-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The program with this text as its standard input. */
function typed(input: string, ...words: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...words])
  const ended: Ended = { status: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text))
  child.stdin.end(input)
  return new Promise((resolve) => child.on('close', (status) => resolve({ ...ended, status })))
}

/** Runs `job` beside a stand-in that is a process of its own. */
async function withStandIn(job: (url: string) => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, [program, 'stand-in', '--port', '0'])
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let output = ''
      child.on('close', () => reject(new Error(`the stand-in ended: ${output}`)))
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        const found = /^stand-in listens on (\S+)\n/.exec((output += text))
        if (found !== null) resolve(found[1])
      })
    })
    await job(url)
  } finally {
    child.kill('SIGTERM')
  }
}

test('the chat that docs/stand-in.md shows', async () => {
  await withStandIn(async (url) => {
    const config = join(folder, 'chat.yaml')
    const here = configuration.replace('http://127.0.0.1:8080', url).replace('./fixtures', join(root, 'fixtures'))
    expect(here).toContain(url)
    writeFileSync(config, here)
    expect(await typed('', '--config', config, 'sync')).toMatchObject({ status: 0 })
    const lines = session[2].trim().split('\n')
    const questions = lines.filter((line) => line.startsWith('> ')).map((line) => line.slice(2))
    expect(questions).toHaveLength(2)
    const chat = await typed(`${questions.join('\n\n')}\n`, '--config', config, ...session[1].split(' '))
    expect(chat.status).toBe(0)
    const answers = lines.filter((line) => !/^> |^\d+ tokens$/.test(line))
    expect(chat.stdout.trim().split('\n')).toEqual(answers)
    expect(chat.stderr.trim().split('\n')).toEqual(lines.filter((line) => line.endsWith(' tokens')))

    const none = await typed('castle on the moon\nHello', '--config', config, ...session[1].split(' '))
    expect(none).toMatchObject({ status: 4, stdout: expect.stringContaining('Hello! Ask me about the listings.') })
    const streamed = await typed('Hello\n', '--config', config, ...session[1].split(' '), '--stream')
    expect(streamed).toMatchObject({ status: 0, stdout: 'Hello! Ask me about the listings.\n' })
    const nothing = await typed('', '--config', config, ...session[1].split(' '))
    expect(nothing).toEqual({ status: 0, stdout: '', stderr: '' })
  })
})

test('a port that is taken, or a file that is no data, is no defect', async () => {
  const data = join(folder, 'data.jsonl')
  writeFileSync(data, 'no data\n')
  for (const file of [data, join(folder, 'none', 'data.jsonl')]) {
    const wrong = await typed('', 'stand-in', '--port', '0', '--data', file)
    expect(wrong).toMatchObject({ status: 1, stdout: '' })
    expect(wrong.stderr.startsWith(`listing-sync: the stand-in can't keep its data in ${file}: `)).toBe(true)
  }
  await withStandIn(async (url) => {
    const { port } = new URL(url)
    const second = await typed('', 'stand-in', '--port', port)
    expect(second).toMatchObject({ status: 1, stdout: '' })
    expect(second.stderr).toMatch(
      new RegExp(`^listing-sync: the stand-in can't listen on port ${port}: .*name another`),
    )
    expect(second.stderr).not.toContain('defect')
  })
})
