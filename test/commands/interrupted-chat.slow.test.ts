/** Ctrl-C in `ask` and `evaluate`, as processes: what was answered is kept, and nothing is said to be answered that was not. */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { home, zillowFeed } from '../support/homes.ts'
import { program } from '../support/program.ts'
import type { Ended } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
  world.deliver(zillowFeed([home(1), home(2)]))
  await world.run()
})
afterEach(() => world.end())

const at = (name: string): string => join(world.folder, name)
const asks = (): number => world.standIn.requests.filter(({ operation }) => operation === 'ClientAsk').length
const entriesOf = (name: string) =>
  readFileSync(at(name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/** A process whose standard input stays open, as a person's does, until `job` is done with it. */
async function held(
  [command, ...words]: string[],
  job: (child: ChildProcess, so: Ended) => Promise<unknown>,
): Promise<Ended> {
  const child = spawn(command, words)
  const ended: Ended = { status: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text))
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
  try {
    await job(child, ended)
    ended.status = await closed
    return ended
  } finally {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  }
}

/** The program with these lines on its standard input; interrupted once `when` is so. */
function interrupted(lines: string, when: (so: Ended) => boolean, ...words: string[]): Promise<Ended> {
  return held([process.execPath, program, '--config', world.configFile, ...words], async (child, so) => {
    child.stdin!.write(lines)
    await until(() => child.exitCode !== null || when(so))
    child.kill('SIGINT')
  })
}

const ask = ['ask', '--feed', 'north', '--session', '7']

test.each(['text', 'json', 'jsonl'])(
  'ask --format %s: a question without its answer is said to be one',
  async (format) => {
    world.standIn.addFault({ operations: ['ClientAsk'], nth: 2, fault: { kind: 'hang', carriedOut: true } })
    const words = [...ask, '--format', format, '--transcript', at('t.jsonl')]
    const ended = await interrupted('Hello\nWhat is for sale?\nThis is not asked\n', () => asks() === 2, ...words)
    expect(ended.status).toBe(1)
    expect(ended.stderr).toContain('listing-sync: north: ')
    const answers = [
      { question: 'Hello', answer: 'Hello! Ask me about the listings.', problem: null },
      { question: 'What is for sale?', answer: null, problem: expect.stringContaining('stop') },
    ]
    expect(entriesOf('t.jsonl')).toMatchObject(answers)
    if (format === 'text') expect(ended.stdout).toBe('Hello! Ask me about the listings.\n')
    else if (format === 'json') expect(JSON.parse(ended.stdout)).toMatchObject({ version: 1, feed: 'north', answers })
    else expect(ended.stdout).toBe(readFileSync(at('t.jsonl'), 'utf8'))
    expect(asks()).toBe(2)
  },
)

test('ask --stream: the pieces that came are kept, and are no whole answer', async () => {
  world.standIn.changeProfile({ stream: { pieceLength: 6 } })
  world.standIn.addFault({ operations: ['ClientAsk'], fault: { kind: 'cut-stream', pieces: 2, by: 'hang' } })
  const words = [...ask, '--stream', '--transcript', at('t.jsonl'), 'Hello']
  const ended = await interrupted('', ({ stdout }) => stdout.length >= 12, ...words)
  expect(ended).toMatchObject({ status: 1, stdout: 'Hello! Ask m\n' })
  expect(entriesOf('t.jsonl')).toMatchObject([
    { question: 'Hello', answer: 'Hello! Ask m', tokens: null, problem: expect.stringContaining('interrupted before') },
  ])
})

test('ask that waits for the next line ends, with all that was answered', async () => {
  const words = [...ask, '--format', 'json', '--transcript', at('t.jsonl')]
  const ended = await interrupted('Hello\n', ({ stderr }) => stderr.includes('tokens'), ...words)
  expect(ended.stderr).not.toContain('defect')
  expect(JSON.parse(ended.stdout)).toMatchObject({ answers: [{ question: 'Hello', problem: null }] })
  expect(entriesOf('t.jsonl')).toHaveLength(1)
  expect(ended.status).toBe(0)
})

test('evaluate: what was answered is judged, compared and written; the status says that it is not whole', async () => {
  const tests = [{ vars: { question: 'Hello' }, assert: [{ type: 'icontains', value: 'hello' }] }]
  writeFileSync(at('questions.yaml'), stringify({ tests }))
  world.standIn.addFault({ operations: ['ClientAsk'], nth: 3, fault: { kind: 'hang', carriedOut: true } })
  const evaluate = ['evaluate', '--feed', 'north', '--session', '7', at('questions.yaml'), '--tries', '5']
  const words = [...evaluate, '--transcript', at('t.jsonl'), '--junit', at('t.xml'), '--threshold', '1']
  const ended = await interrupted('', () => asks() === 3, ...words)
  expect(ended).toMatchObject({ status: 4, stderr: '' })
  expect(ended.stdout).toContain('2 of 5 passed, 40 %')
  expect(ended.stdout).toContain('ended early, 3 not done: it was stopped')
  expect(entriesOf('t.jsonl')).toMatchObject([
    { try: 1, pass: true },
    { try: 2, pass: true },
  ])
  expect(readFileSync(at('t.xml'), 'utf8')).toContain('tests="3" failures="0" errors="0" skipped="1"')
  expect(asks()).toBe(3)

  // The transcript of what was kept is one to compare with.
  world.standIn.clearFaults()
  const again = await world.command(...evaluate, '--compare', at('t.jsonl'))
  expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining('no answer turned') })
})

/** Of util-linux: gives a process a terminal of its own. */
const script = '/usr/bin/script'
const hasTerminals = spawnSync(script, ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false

test.runIf(hasTerminals)(
  'on a terminal Ctrl-C ends the answer that is waited for, then the chat; the arrow key has what was asked before',
  async () => {
    const hang = { operations: ['ClientAsk' as const], fault: { kind: 'hang', carriedOut: true } as const }
    world.standIn.addFault({ ...hang, nth: 2 })
    const words = [process.execPath, program, '--config', world.configFile, ...ask, '--transcript', at('t.jsonl')]
    const inTerminal = [script, '-qec', words.map((word) => `'${word}'`).join(' '), '/dev/null']
    const prompts = (so: Ended): number => so.stdout.split('> ').length - 1
    const chat = await held(inTerminal, async ({ stdin }, so) => {
      await until(() => prompts(so) >= 1)
      stdin!.write('Hello\r')
      await until(() => so.stdout.includes('tokens'))
      stdin!.write('Is this waited for?\r')
      await until(() => asks() === 2)
      stdin!.write('\u0003')
      await until(() => so.stdout.includes('north: '))
      // Twice up, past the question that was ended.
      stdin!.write('\u001b[A\u001b[A\r')
      await until(() => asks() === 3 && so.stdout.split('tokens').length === 3)
      stdin!.write('\u0003')
    })
    expect(chat.status).toBe(0)
    expect(entriesOf('t.jsonl')).toMatchObject([
      { question: 'Hello', problem: null },
      { question: 'Is this waited for?', answer: null, problem: expect.any(String) },
      { question: 'Hello', problem: null },
    ])

    const next = await held(inTerminal, async ({ stdin }, so) => {
      await until(() => prompts(so) >= 1)
      stdin!.write('\u001b[A\u001b[A\r')
      await until(() => asks() === 4)
      stdin!.write('\u0004')
    })
    expect(next.status).toBe(0)
    expect(entriesOf('t.jsonl').at(-1)).toMatchObject({ question: 'Is this waited for?', problem: null })
  },
)
