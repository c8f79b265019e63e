/** The server that the tests of the store on PostgreSQL use: real, whoever starts it, and gone afterwards. */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { noPostgres, startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const folders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('postgres-'))

describe.skipIf(noPostgres !== null)('PostgreSQL for tests', () => {
  it('keeps what it has over a restart, and nothing is left of it', async () => {
    const server = await startPostgres()
    await server.ask('CREATE TABLE kept AS SELECT 7 AS seven')
    await server.stop()
    await expect(server.ask('SELECT 1')).rejects.toThrow('ECONNREFUSED')
    await server.start()
    expect(await server.ask('SELECT seven FROM kept')).toEqual([{ seven: 7 }])
    await server.remove()
    expect(folders()).toEqual([])
  })

  it('ends with the process that started it, also where that is killed', async () => {
    const module = fileURLToPath(new URL('../support/postgres.ts', import.meta.url))
    const code = `const { startPostgres } = await import(${JSON.stringify(module)})
      const server = await startPostgres(); console.log(server.port); setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    expect(folders()).toHaveLength(1)
    child.kill('SIGKILL')
    await until(() => folders().length === 0)
  })
})
