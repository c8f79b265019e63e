/** Files that a configuration names and that are none, or huge (docs/faults.md, F161). */
import { execFileSync } from 'node:child_process'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunWorld } from '../support/run-world.ts'

let world: RunWorld
beforeEach(async () => {
  world = await RunWorld.start()
})
afterEach(() => world.end())

const none = 'it is a folder, a device or a pipe, not a file'

test.skipIf(process.platform === 'win32').each([
  ['/dev/zero', none],
  ['./pipe', none],
  ['.', none],
  ['./huge', 'it has more than 16777216 bytes'],
])('${file:%s} is refused: %s', async (file, why) => {
  execFileSync('mkfifo', [join(world.folder, 'pipe')])
  writeFileSync(join(world.folder, 'huge'), '')
  truncateSync(join(world.folder, 'huge'), 100_000_000)
  world.configure({ north: {} }, { sessionKey: `\${file:${file}}` })
  const { status, stderr } = await world.executed('status')
  expect(status).toBe(78)
  expect(stderr).toContain(`service.sessionKey: file ${file} can't be read: ${why}`)
})
