import { describe, expect, test } from 'vitest'
import { createLog, runFailed, runFinished } from '../../src/app/log.ts'
import type { LogOptions } from '../../src/app/log.ts'
import { scrubber } from '../../src/core/secrets.ts'

function open(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const clock = { now: () => Date.UTC(2026, 10, 21, 12, 30, 15) }
  const write = (line: string) => void lines.push(line)
  return { lines, log: createLog({ level: 'debug', scrub: scrubber([]), pretty: false, clock, write, ...options }) }
}

describe('secrets', () => {
  const secret = 'K3y/with+"quotes" & ümlaut'
  const url = new URL(`https://mls.example.com/?key=${encodeURIComponent(secret)}`)
  const error = new Error(`the service said: ${secret}`, { cause: new Error(secret.toUpperCase()) })
  const planted: Record<string, unknown> = {
    text: `it is ${secret}.`,
    json: JSON.stringify({ body: JSON.stringify({ secret }) }),
    url: url.href,
    path: new URL(`https://mls.example.com/${secret}/x`).href,
    query: new URL(`https://mls.example.com/?${secret}`).href,
    location: encodeURI(secret),
    form: new URLSearchParams({ secret }).toString(),
    case: secret.toUpperCase(),
    base64: Buffer.from(secret).toString('base64'),
    base64url: Buffer.from(secret).toString('base64url'),
    basic: `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`,
    basicLonger: `Basic ${Buffer.from(`users:${secret}!`).toString('base64')}`,
    basicShift: `Basic ${Buffer.from(`use:${secret}`).toString('base64')}`,
    hex: Buffer.from(secret).toString('hex'),
    headers: ['Authorization', secret, ['nested', secret]],
    key: { [secret]: 1 },
    cut: `${'x'.repeat(190)}${secret}`,
    err: error,
  }
  const hints = ['K3y', 'ümlaut', 'with+', 'quotes', 'K3Y', encodeURIComponent('ümlaut'), 'QUOTES']
  const base64s = ['', 'x', 'xx'].map((before) => {
    const all = Buffer.from(before + secret).toString('base64')
    return all.slice(8, 20)
  })
  const hex = Buffer.from(secret).toString('hex').slice(4, 16)

  test.each(Object.keys(planted))('%s', (name) => {
    for (const pretty of [false, true]) {
      const { lines, log } = open({ scrub: scrubber([secret]), pretty })
      log.error({ [name]: planted[name] }, `with ${name}`)
      log.info(`%s`, planted[name])
      const output = lines.join('')
      expect(output).toContain('***')
      for (const hint of [...hints, ...base64s, hex]) expect(output).not.toContain(hint)
    }
  })

  test('a number that is a secret, and secrets too short to look for', () => {
    const { lines, log } = open({ scrub: scrubber(['87654321', 'a', '']) })
    log.info({ key: 87654321, count: 8 }, 'a banana')
    expect(JSON.parse(lines[0])).toMatchObject({ key: '***', count: 8, msg: 'a banana' })
  })
})

describe('text from feeds', () => {
  const hostile = 'line\nbreak \u001b[31mred\u001b[0m \u202Egnp.exe\u2066 \u0085 \u007f end'

  test('a JSON line shows no control character, and parses to the same text', () => {
    const { lines, log } = open()
    log.warn({ address: hostile }, hostile)
    // oxlint-disable-next-line no-control-regex
    expect(lines[0]).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u202e\u2066]+\n$/)
    expect(JSON.parse(lines[0])).toEqual({
      level: 'warn',
      time: '2026-11-21T12:30:15.000Z',
      address: hostile,
      msg: hostile,
    })
  })

  test('a line for people is one line without them', () => {
    const { lines, log } = open({ pretty: true })
    log.warn({ address: hostile, count: 2 }, 'look')
    expect(lines).toEqual(['12:30:15 WARN  look address=line break red gnp.exe end count=2\n'])
  })

  test('an error for people has its stack below', () => {
    const { lines, log } = open({ pretty: true })
    log.error(new Error('broken'), 'it stopped')
    expect(lines[0]).toMatch(/^12:30:15 ERROR it stopped\n {4}Error: broken\n {4}at /)
  })

  test('a sentence of the program keeps its end, which says what to do', () => {
    const { lines, log } = open()
    const sentence = `${'/a-folder-of-this-machine'.repeat(8)}: the disk is full; free some space there`
    log.error({ error: sentence, problem: sentence, problems: [sentence], notes: [sentence] }, 'run failed')
    const entry = { error: sentence, problem: sentence, problems: [sentence], notes: [sentence] }
    expect(JSON.parse(lines[0])).toMatchObject(entry)
  })

  test('long values are cut, without half a character', () => {
    const { lines, log } = open()
    log.info({ value: 'x'.repeat(198) + '😀😀', list: Array.from({ length: 50 }, () => 'y') }, 'z'.repeat(900))
    const entry = JSON.parse(lines[0])
    expect(entry.value).toBe(`${'x'.repeat(198)}\uFFFD…`)
    expect(entry.list).toHaveLength(20)
    expect(entry.msg).toHaveLength(500)
  })
})

describe('repeated messages', () => {
  test('are written ten times, then counted until the run ends', () => {
    const { lines, log } = open()
    for (let i = 0; i < 25; i++) log.warn({ record: i }, 'record %d is odd', i)
    log.info('another')
    expect(lines).toHaveLength(11)
    log.endRun()
    expect(lines.map((line) => JSON.parse(line)).at(-1)).toMatchObject({
      repeated: 'record %d is odd',
      times: 25,
      msg: 'left out 15 repeated messages',
    })
    log.warn('record %d is odd', 26)
    expect(lines).toHaveLength(13)
    log.endRun()
    expect(lines).toHaveLength(13)
  })

  test('of what each run has once, none is left out: many feeds may end theirs at one time', () => {
    const { lines, log } = open()
    for (let feed = 0; feed < 25; feed++) log.info({ feed }, runFinished)
    for (let feed = 0; feed < 25; feed++) log.error({ feed }, runFailed)
    log.endRun()
    expect(lines).toHaveLength(50)
  })

  test('messages that all differ do not fill the memory', () => {
    const { lines, log } = open()
    for (let i = 0; i < 5000; i++) log.info(`record ${i}`)
    expect(lines).toHaveLength(1000)
  })

  test.each<[string, (record: number) => string, number]>([
    ['equal warnings: ten lines and a count', () => 'the same', 11],
    ['different ones: a thousand lines and counts', (record) => `record ${record} is odd`, 1021],
    ['700 warnings many times each: a thousand lines and counts', (record) => `field ${record % 700} is odd`, 1021],
  ])('a flood of 100,000 %s', (_, message, longest) => {
    const { lines, log } = open()
    for (let record = 0; record < 100_000; record++) log.warn({ record }, message(record))
    log.error('and an error')
    expect(lines.at(-1)).toContain('and an error')
    log.endRun()
    expect(lines.length).toBeLessThanOrEqual(longest + 1)
    const entries = lines.map((line) => JSON.parse(line) as { msg: string })
    // Each is written, or is in a number that says how many were left out.
    const counts = entries.map(({ msg }) => Number(/^left out (\d+) (?:repeated|more) messages$/.exec(msg)?.[1] ?? 1))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(100_001)
    const before = lines.length
    log.warn('the next run')
    expect(lines).toHaveLength(before + 1)
  })

  test('below the level nothing is written', () => {
    const { lines, log } = open({ level: 'warn' })
    log.info('quiet')
    log.debug('quieter')
    expect(lines).toEqual([])
  })
})
