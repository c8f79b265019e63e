/** `settings` and `feeds.*.settings`, against the stand-in: what is sent, what is remembered, what is only shown. */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { home, zillowFeed } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
  const forSale = { rental: false, status: 'Active', city: 'Cedar Falls' }
  world.deliver(
    zillowFeed([
      { ...home(1), ...forSale, price: 210_000 },
      { ...home(2), ...forSale, price: 189_000 },
    ]),
  )
})
afterEach(() => world.end())

function write(settings: object | string, name = 'chatbot.yaml'): string {
  const file = join(world.folder, name)
  writeFileSync(file, typeof settings === 'string' ? settings : stringify(settings))
  return file
}

const settings = (...words: string[]) => world.executed('settings', '--feed', 'north', ...words)

describe('what was applied before', () => {
  const apply = async (written: object) => {
    expect(await settings('--file', write(written))).toMatchObject({ status: 0 })
    world.clock.advance(60_000)
  }

  test('--history lists it, --rollback takes back the latest change or all since a number', async () => {
    expect((await settings('--history')).stdout).toBe('north → chatbot SN-1: no changes of settings yet\n')
    expect(await settings('--rollback')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('there is nothing to take back'),
    })
    await apply({ Name: 'One', RateLimitCount: 5 })
    await apply({ Name: 'Two' })
    await apply({ Name: 'Three', RateLimitCount: 6 })
    const { history } = JSON.parse((await settings('--history', '--format', 'json')).stdout) as {
      history: { number: number; at: string; changes: object[] }[]
    }
    expect(history.map(({ changes }) => changes.length)).toEqual([2, 1, 2])
    expect(history[1].changes).toEqual([{ name: 'Name', from: 'One', to: 'Two' }])
    expect((await settings('--history')).stdout).toContain(`  ${history[1].number}  2026-11-21T`)

    expect(await settings('--rollback', '--dry-run')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Name: "Three" → "Two"'),
    })
    expect(world.standIn.settings(chatbot)).toMatchObject({ Name: 'Three', RateLimitCount: 6 })
    expect(await settings('--rollback', String(history[1].number))).toMatchObject({ status: 0 })
    expect(world.standIn.settings(chatbot)).toMatchObject({ Name: 'One', RateLimitCount: 5 })
    // A rollback is a change like any other.
    expect(await settings('--rollback')).toMatchObject({ status: 0 })
    expect(world.standIn.settings(chatbot)).toMatchObject({ Name: 'Three', RateLimitCount: 6 })
    const all = await settings('--rollback', String(history[2].number))
    expect(all).toMatchObject({ status: 4, stdout: expect.stringContaining('Name stays as it is') })
    expect(await settings('--rollback', '999')).toMatchObject({ status: 1 })
    for (const words of [
      ['--rollback', 'x'],
      ['--rollback', '--force'],
      ['--rollback', '--file', 'a.yaml'],
    ])
      expect(await settings(...words)).toMatchObject({ status: 64 })
  })

  test('--diff and --format json', async () => {
    const file = write({ Name: 'One' })
    const words = ['--file', file, '--format', 'json']
    const differs = await settings(...words, '--diff')
    expect(differs.status).toBe(2)
    expect(JSON.parse(differs.stdout)).toEqual({
      version: 1,
      feed: 'north',
      chatbot,
      applied: false,
      changes: [{ name: 'Name', from: null, to: 'One' }],
      lacking: [],
      unknown: [],
    })
    expect(JSON.parse((await settings(...words)).stdout)).toMatchObject({ applied: true })
    expect(await settings(...words, '--diff')).toMatchObject({ status: 0 })
    expect(world.calls().Edit).toBe(1)
  })
})

test('a value that the service refuses is named, and the others are applied', async () => {
  world.standIn.changeProfile({ emptySetting: 'refused' })
  const file = write({ Name: 'One', FacebookUrl: '', RateLimitCount: 5 })
  const { status, stderr } = await settings('--file', file)
  expect(status).toBe(1)
  expect(stderr).toContain('north: the service refuses FacebookUrl "": ')
  expect(stderr).toContain('(2 other settings were applied)')
  expect(world.standIn.settings(chatbot)).toEqual({ Name: 'One', RateLimitCount: 5 })
  expect((await settings('--file', file, '--dry-run')).stdout).toContain('1 setting would change')
})

describe('by hand', () => {
  test('applies what changed since the last time, all with --force, nothing with --dry-run', async () => {
    await world.run()
    world.calls()
    const file = write({ WelcomeMessage: 'From {minPrice}: {listings} homes in {cities} cities', RateLimitCount: 5 })
    const before = world.storeBytes()
    const dry = await settings('--file', file, '--dry-run')
    expect(dry).toMatchObject({ status: 0, stderr: '' })
    expect(dry.stdout).toBe(
      [
        'north → chatbot SN-1: 2 settings would change',
        '  WelcomeMessage: (not applied before) → "From $189,000: 2 homes in 1 cities"',
        '  RateLimitCount: (not applied before) → 5',
        '',
      ].join('\n'),
    )
    expect(world.calls().Edit).toBe(0)
    expect(world.storeBytes()).toEqual(before)

    expect((await settings('--file', file)).stdout).toContain('2 settings changed')
    expect(world.standIn.settings(chatbot)).toMatchObject({
      WelcomeMessage: 'From $189,000: 2 homes in 1 cities',
      RateLimitCount: 5,
    })
    expect((await settings('--file', file)).stdout).toBe('north → chatbot SN-1: no settings changed\n')
    expect(world.calls().Edit).toBe(1)
    const json = write('{"WelcomeMessage": "Hello", "RateLimitCount": 5}', 'chatbot.json')
    const changed = await settings('--file', json)
    expect(changed.stdout).toContain('WelcomeMessage: "From $189,000: 2 homes in 1 cities" → "Hello"')
    expect(changed.stdout).not.toContain('RateLimitCount')
    expect((await settings('--file', json, '--force')).stdout).toContain('2 settings changed')
    const edits = world.standIn.requests.filter((entry) => entry.operation === 'Edit')
    expect(edits.map(({ body }) => Object.keys(body as object).length)).toEqual([2, 3])
  })

  test('everything wrong with a file is said at once, and nothing is sent', async () => {
    const file = write(
      [
        'WelcomMessage: hi',
        'serialNumber: SN-2',
        'ChatBubbleColor: "#ff0000"',
        'RateLimitCount: "5"',
        'SystemMessage: "{listing} homes, {\\"a\\": 1}, {{word}}"',
        'Name: {}',
        'WelcomeMessage: "{agency}"',
      ].join('\n'),
    )
    const wrong = await settings('--file', file)
    expect(wrong).toMatchObject({ status: 78, stdout: '' })
    for (const line of [
      '7 problems',
      'WelcomMessage: unknown key; did you mean "WelcomeMessage"? (line 1)',
      'serialNumber: is set by chatbot of the feed',
      'ChatBubbleColor: takes rgb(r,g,b): write rgb(255,0,0) (line 3)',
      'RateLimitCount: takes a number (line 4)',
      'SystemMessage: {listing} is not a figure of the feed; did you mean {listings}? For the text itself write {{listing}} (line 5)',
      'Name: takes text (Name of the chatbot) (line 6)',
      'WelcomeMessage: {agency} is not a figure of the feed; use one of {listings}, {cities}, {minPrice}. For the text itself write {{agency}} (line 7)',
    ])
      expect(wrong.stderr).toContain(line)
    expect(world.calls().Edit).toBe(0)
    expect(await settings('--file', join(world.folder, 'none.yaml'))).toMatchObject({ status: 78 })
    expect(await settings()).toMatchObject({ status: 64, stderr: expect.stringContaining('--file FILE') })
  })

  test('what a lost or refused answer left is known or sent again', async () => {
    const first = write({ Name: 'A', WelcomeMessage: 'Hello' })
    await settings('--file', first)
    const second = write({ Name: 'B', WelcomeMessage: 'Hello' }, 'second.yaml')
    world.standIn.addFault({ operations: ['Edit'], fault: { kind: 'refuse', message: 'No such name' }, times: 1 })
    const refused = await settings('--file', second)
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('north: the service refuses Name "B": No such name'),
    })
    expect((await settings('--file', first, '--dry-run')).stdout).toContain('no settings would change')
    // Carried out five times without an answer: the old value must be sent again, although it was applied last.
    world.standIn.addFault({ operations: ['Edit'], fault: { kind: 'reset', when: 'after-carrying-out' }, times: 5 })
    expect(await settings('--file', second)).toMatchObject({ status: 1 })
    expect(world.standIn.settings(chatbot)).toMatchObject({ Name: 'B' })
    expect((await settings('--file', first)).stdout).toContain('Name: (not applied before) → "A"')
    expect(world.standIn.settings(chatbot)).toMatchObject({ Name: 'A' })
  })

  test('a text whose figure has no value stays as it is → 4', async () => {
    const file = write({ WelcomeMessage: 'From {minPrice}', Name: '{listings} homes' })
    const applied = await settings('--file', file)
    expect(applied.status).toBe(4)
    expect(applied.stdout).toContain('WelcomeMessage was not changed: {minPrice} has no value')
    expect(world.standIn.settings(chatbot)).toEqual({ Name: '0 homes' })
  })
})

describe('after each sync that changed them', () => {
  test('from a file or in the configuration; braces that are no figure stay', async () => {
    write({ WelcomeMessage: '{listings} homes', SystemMessage: 'Answer as {"a": {{listings}}}' })
    world.configure({ north: { settings: './chatbot.yaml' } })
    const first = await world.run('backfill')
    expect(first).toMatchObject({ result: 'ok' })
    expect(first.notes).toContain('Chatbot settings applied: SystemMessage, WelcomeMessage')
    expect(world.standIn.settings(chatbot)).toEqual({
      WelcomeMessage: '2 homes',
      SystemMessage: 'Answer as {"a": {listings}}',
    })
    world.calls()
    expect((await world.run()).notes).toEqual([])
    expect((await world.run('diff')).notes).toEqual([])
    expect(world.calls().Edit).toBe(0)

    world.configure({ north: { settings: { WelcomeMessage: '{listings} homes' } } })
    world.deliver(zillowFeed([home(1), home(2), home(3)]))
    expect((await world.run()).notes).toEqual(['Chatbot settings applied: WelcomeMessage'])
    expect(world.standIn.settings(chatbot)).toMatchObject({ WelcomeMessage: '3 homes' })
    expect(world.calls().Edit).toBe(1)
  })

  test('a failure there is a note and exit 4, never a failed run, and the next run tries again', async () => {
    world.configure({ north: { settings: { WelcomeMessage: '{listings} homes' } } })
    world.standIn.addFault({ operations: ['Edit'], fault: { kind: 'refuse', message: 'Not today' }, times: 2 })
    const run = await world.run()
    expect(run).toMatchObject({ result: 'partial', error: null, applied: { outcomes: { done: 2, failed: 0 } } })
    expect(run.notes.join()).toContain(
      'could not be applied; the next run tries again: the service refuses WelcomeMessage "2 homes": Not today',
    )
    const command = await world.executed('sync', '--format', 'json')
    expect(command).toMatchObject({ status: 4, stderr: expect.stringContaining('Not today') })
    expect(JSON.parse(command.stdout)).toMatchObject({ result: 'partial' })
    const status = async (): Promise<string> => (await world.executed('status')).stdout
    expect(await status()).toMatch(
      /last sync: partial, run 2, .*The chatbot settings could not be applied; .*Not today/,
    )
    expect((await world.executed('runs', '--run', '2', '--format', 'markdown')).stdout).toContain(
      'The chatbot settings could not be applied',
    )
    expect((await world.run()).result).toBe('ok')
    expect(await status()).not.toContain('settings')
    expect(world.standIn.settings(chatbot)).toEqual({ WelcomeMessage: '2 homes' })
  })

  test('are told before what was wrong with the delivery', async () => {
    world.deliver(zillowFeed([home(1), home(2)]).replace('</Listings>', ''))
    world.configure({ north: { settings: { Name: 'Ann' } } })
    world.standIn.addFault({ operations: ['Edit'], fault: { kind: 'refuse', message: 'Not today' } })
    expect(await world.run()).toMatchObject({ result: 'partial' })
    expect((await world.executed('status')).stdout).toMatch(/Not today\. The last delivery was not complete: [^.]*\.\n/)
  })

  test('are sent again once a backup of the store is put back, as later ones may be on the service', async () => {
    const copy = join(world.folder, 'copy.db')
    const apply = async (name: string) => {
      world.clock.advance(60_000)
      world.configure({ north: { settings: { Name: name } } })
      return (await world.run()).notes
    }
    await apply('Ann')
    expect(await world.executed('backup', copy)).toMatchObject({ status: 0 })
    await apply('Bob')
    world.loseStore()
    renameSync(copy, join(world.folder, 'store.db'))
    expect(await settings('--dry-run', '--file', write({ Name: 'Ann' }))).toMatchObject({
      stdout: expect.stringContaining('1 setting would change'),
    })
    expect(await apply('Ann')).toContain('Chatbot settings applied: Name')
    expect(world.standIn.settings(chatbot)).toMatchObject({ Name: 'Ann' })
    expect(await apply('Ann')).toEqual([])
  })

  test('a run that failed applies nothing', async () => {
    world.configure({ north: { settings: { Name: 'A' }, source: './missing.xml' } })
    expect(await world.run()).toMatchObject({ result: 'failed' })
    expect(world.calls().Edit).toBe(0)
  })

  test('a wrong file is a wrong configuration', async () => {
    write({ WelcomMessage: 'hi', Name: '{cites}' })
    world.configure({ north: { settings: './chatbot.yaml' }, south: { settings: { Nam: 'x' } }, east: { settings: 5 } })
    const wrong = await world.executed('sync')
    expect(wrong.status).toBe(78)
    expect(wrong.stderr).toContain('feeds.north.settings: ./chatbot.yaml: WelcomMessage: unknown key')
    expect(wrong.stderr).toContain('{cites} is not a figure of the feed; did you mean {cities}?')
    expect(wrong.stderr).toContain('feeds.south.settings.Nam: unknown key; did you mean "Name"?')
    expect(wrong.stderr).toContain('feeds.east.settings: takes text or keys with values')

    write('__proto__: { Name: x }\nName: A')
    world.configure({ north: { settings: './chatbot.yaml' }, south: { settings: { Name: 'B', AnswerSuffix: '!' } } })
    expect((await world.executed('sync')).stderr).toContain('./chatbot.yaml: __proto__: unknown key')
    write('Name: A')
    const twice = await world.executed('sync')
    expect(twice.status).toBe(78)
    expect(twice.stderr).toContain(
      'one problem\n  feeds.south.settings: sets Name, which north also sets for the same chatbot',
    )
  })
})
