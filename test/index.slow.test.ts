/** The package as a library: packed from a build in a temporary folder, installed beside a program, imported, type-checked. */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startStandIn } from '../src/stand-in/stand-in.ts'
import type { StandIn } from '../src/stand-in/stand-in.ts'

const modules = join(process.cwd(), 'node_modules')
const compiler = join(modules, 'typescript/bin/tsc')

let folder: string
let standIn: StandIn
beforeAll(async () => {
  standIn = await startStandIn({ keys: { secret: 'library-key' } })
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-test-'))
  const installed = join(folder, 'node_modules/listing-sync')
  mkdirSync(installed, { recursive: true })
  // What package.json's `files` names is what npm packs; of that, a library needs no more.
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', join(installed, 'dist')])
  cpSync('package.json', join(installed, 'package.json'))
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> }
  for (const name of [...Object.keys(dependencies), '@types/node', 'undici-types']) {
    mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true })
    symlinkSync(join(modules, name), join(folder, 'node_modules', name))
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
})
afterAll(async () => {
  await standIn.close()
  rmSync(folder, { recursive: true, force: true })
})

async function run(name: string, code: string): Promise<{ status: number | null; stdout: string; stderr: string }> {
  writeFileSync(join(folder, name), code)
  const child = spawn(process.execPath, [name], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { status: await closed, stdout, stderr }
}

test('importing it does nothing, and the process ends by itself', async () => {
  const code = `
    const before = Reflect.ownKeys(globalThis).length
    const exports = await import('listing-sync')
    const handles = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap' && name !== 'TTYWrap')
    console.log(JSON.stringify({ exports: Object.keys(exports), more: Reflect.ownKeys(globalThis).length - before, handles }))
  `
  const { status, stdout, stderr } = await run('import.js', code)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({
    exports: [
      'BrokenAnswerError',
      'ListingServiceClient',
      'RequestError',
      'ServiceError',
      'UserError',
      'createService',
    ],
    more: 0,
    handles: [],
  })
})

test('a program asks with it, and ends without having closed it', async () => {
  standIn.seed('SN-1', [{ MLSNumber: 'A-1', City: 'Oxford', Address: '12 Elm Street', SaleType: 'for_sale' }])
  const code = `
    import { ListingServiceClient } from 'listing-sync'
    const client = new ListingServiceClient({ baseUrl: '${standIn.url}', secretKey: 'library-key' })
    await client.edit({ serialNumber: 'SN-1', WelcomeMessage: 'Hello' })
    let said = ''
    for await (const part of client.askStreaming({ sessionID: 1, content: 'What about 12 Elm Street?' }))
      if ('content' in part) said += part.content
      else console.log(JSON.stringify({ same: part.Answer === said, said }))
    const through = performance.now()
    process.on('exit', () => console.log(performance.now() - through))
  `
  const { status, stdout, stderr } = await run('ask.js', code)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const [answer, stayed] = stdout.trim().split('\n')
  expect(JSON.parse(answer)).toEqual({ same: true, said: expect.stringContaining('12 Elm Street') })
  // The deadline of a call is 30 s, and no timer of one that is over may keep the process up.
  expect(Number(stayed)).toBeLessThan(20_000)
  expect(standIn.settings('SN-1')).toEqual({ WelcomeMessage: 'Hello' })
})

test('its types say what the document says', () => {
  writeFileSync(
    join(folder, 'typed.ts'),
    `
    import { ListingServiceClient } from 'listing-sync'
    import type { ChatAnswer, Listing } from 'listing-sync'
    declare const listing: Listing
    const client = new ListingServiceClient({ baseUrl: 'http://127.0.0.1:1' })
    export const answer: Promise<ChatAnswer> = client.ask({ sessionID: 1, content: '', chatAskType: 'Image', fileIds: [1] })
    export const created: Promise<string> = client.create({ SerialNumber: 'A', ...listing })
    // @ts-expect-error runs of the daemon have it, with settings that are none of the library's
    void client.chatbot
    // @ts-expect-error a setting that does not exist
    void client.edit({ serialNumber: 'A', WelcomMessage: 'x' })
    // @ts-expect-error no such type of key
    void client.delete({ SerialNumber: 'A', Keys: [], KeyType: 'Id' })
    `,
  )
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node']
  const problem = (() => {
    try {
      return execFileSync(process.execPath, [compiler, ...options, 'typed.ts'], { cwd: folder, encoding: 'utf8' })
    } catch (error) {
      return (error as { stdout: string }).stdout
    }
  })()
  expect(problem).toBe('')
})
