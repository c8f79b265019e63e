/** The server that the tests of the store on PostgreSQL use: real, whoever starts it, and gone afterwards. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { noPostgres, startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

describe.skipIf(noPostgres !== null)('PostgreSQL for tests', () => {
  it('keeps what it has over a restart, and nothing is left of it', async () => {
    const server = await startPostgres()
    await server.ask('CREATE TABLE kept AS SELECT 7 AS seven')
    await server.stop()
    await expect(server.ask('SELECT 1')).rejects.toThrow('ECONNREFUSED')
    await server.start()
    expect(await server.ask('SELECT seven FROM kept')).toEqual([{ seven: 7 }])
    await server.remove()
    expect(existsSync(server.folder)).toBe(false)
  })

  it('ends with the process that started it, also where that is killed', async () => {
    const module = fileURLToPath(new URL('../support/postgres.ts', import.meta.url))
    const code = `const { startPostgres } = await import(${JSON.stringify(module)})
      const server = await startPostgres(); console.log(server.folder); setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer]
      const folder = line.toString().trim()
      expect(existsSync(folder)).toBe(true)
      child.kill('SIGKILL')
      await until(() => !existsSync(folder))
    } finally {
      child.kill('SIGKILL')
    }
  })

  it('takes another port where its own was taken meanwhile', async () => {
    const server = await startPostgres()
    try {
      await server.stop()
      const { port } = server
      const other = createServer().listen(port, '127.0.0.1')
      await once(other, 'listening')
      await server.start()
      other.close()
      expect(server.port).not.toBe(port)
      expect(await server.ask('SELECT 1 AS one')).toEqual([{ one: 1 }])
    } finally {
      await server.remove()
    }
  })
})
