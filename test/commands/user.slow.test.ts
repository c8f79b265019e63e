/** A container's user may have no name, no home, or one that it may not write to: every command works all the same. */
import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { homes, zillowFeed } from '../support/homes.ts'
import { program } from '../support/program.ts'
import { RunWorld } from '../support/run-world.ts'

const nobody = 54_321
/** Only root may start a process as somebody else, who must be able to reach the program's files. */
const mayBeNobody =
  process.getuid?.() === 0 &&
  spawnSync(process.execPath, [program, '--version'], { uid: nobody, gid: nobody, env: {} }).status === 0
let world: RunWorld
afterEach(() => world.end())

test.runIf(mayBeNobody)('as a user without a name, without a home', async () => {
  world = await RunWorld.start()
  world.deliver(zillowFeed(homes(1, 12)))
  await world.run()
  world.deliver(zillowFeed(homes(1, 6)))
  await world.run()
  chmodSync(world.folder, 0o777)
  for (const name of readdirSync(world.folder)) chmodSync(join(world.folder, name), 0o666)
  const as = (env: Record<string, string>, ...words: string[]) =>
    spawnSync(process.execPath, [program, '--config', world.configFile, ...words], {
      uid: nobody,
      gid: nobody,
      env,
      encoding: 'utf8',
    })
  expect(as({}, 'status')).toMatchObject({ stderr: '', stdout: expect.stringContaining('held') })
  expect(as({ HOME: '/nowhere' }, 'approve', 'north', '--yes')).toMatchObject({ status: 0, stderr: '' })
  const { approvals } = JSON.parse(as({ HOME: '/proc' }, 'status', '--format', 'json').stdout)
  expect(approvals).toMatchObject([{ by: `uid ${nobody}`, changes: 6 }])
})
