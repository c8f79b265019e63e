/** What the bounds of the heap do in a process that makes calls. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Many small calls to a server of its own, bounds set or not; tells the most memory, in MB, that V8's compilers had at once. */
const calling = (bounds: boolean): string => `
const { createServer } = require('node:http')
const { getHeapStatistics } = require('node:v8')
if (${bounds}) require('./bin/small-heap.cjs').keepHeapSmall(['sync'])
const { Pool } = require('undici')
const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1', async () => {
  const pool = new Pool('http://127.0.0.1:' + server.address().port, { connections: 1 })
  const compiled = () => getHeapStatistics().peak_malloced_memory / 1e6
  for (let call = 0; call < 300 || (!${bounds} && call < 20_000 && compiled() < 20); call++) {
    const { body } = await pool.request({ path: '/', method: 'POST', body: '{}' })
    await body.text()
  }
  console.log(compiled())
  await pool.close()
  server.close()
})`

test('what reads answers is not compiled for speed, which takes 20 MB', async () => {
  const taken = async (bounds: boolean): Promise<number> => {
    // Without what compiles JavaScript, which takes some as well.
    const words = ['--no-opt', '--no-maglev', '-e', calling(bounds)]
    return Number((await promisify(execFile)(process.execPath, words)).stdout)
  }
  expect(await taken(true)).toBeLessThan(6)
  // It would, so this test can tell.
  expect(await taken(false)).toBeGreaterThan(15)
})

test.runIf(process.platform === 'linux').each([
  ['may not start programs', ['--permission', '--allow-fs-read=*'], ''],
  ['is not found', [], "Object.defineProperty(process, 'execPath', { value: 'nowhere/node' })"],
])('a Node that %s goes on as it is', async (_, flags, first) => {
  const env = { ...process.env }
  delete env['MALLOC_ARENA_MAX']
  const code = `${first}; require('./bin/small-heap.cjs').shareArena(['sync']); console.log('goes on')`
  const ended = await promisify(execFile)(process.execPath, [...flags, '-e', code], { env })
  expect(ended).toEqual({ stdout: 'goes on\n', stderr: '' })
})
