/** `inspect` reads files and exports; a live source is shown by `diff`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startReso } from '../../src/stand-in/reso/server.ts'
import { executed } from '../support/program.ts'

let folder: string
let reso: Awaited<ReturnType<typeof startReso>>
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-inspect-live-'))
  reso = await startReso({ vendor: 'generic', now: () => 0, token: 'stand-in' })
})
afterEach(async () => {
  await reso.close()
  rmSync(folder, { recursive: true, force: true })
})

test.each([[[]], [['--format', 'json']], [['--preset', 'reso-web-api']]])(
  'a live source is refused before it is asked, with the command that shows it: %j',
  async (more) => {
    const configFile = join(folder, 'listing-sync.yaml')
    writeFileSync(
      configFile,
      `service: { baseUrl: http://127.0.0.1:9, secretKey: any }
feeds:
  north:
    chatbot: SN-1001
    preset: reso-web-api
    source: { reso: ${reso.root}, vendor: generic, auth: { token: stand-in } }
`,
    )
    let asked = 0
    const answer = reso.world.answer.bind(reso.world)
    reso.world.answer = (request) => {
      asked++
      return answer(request)
    }
    expect(await executed(['--config', configFile, 'inspect', 'north', ...more])).toEqual({
      status: 64,
      stdout: '',
      stderr:
        'listing-sync: north is a live source (reso), which inspect does not read; use: listing-sync diff north\n',
    })
    expect(asked).toBe(0)
  },
)
