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

/** Root may read every file; whoever else runs the tests can't read one without rights. */
const another = mayBeNobody ? { uid: nobody, gid: nobody } : {}

test.runIf(mayBeNobody || process.getuid?.() !== 0)('a store that this user may not read', async () => {
  world = await RunWorld.start()
  world.deliver(zillowFeed(homes(1, 12)))
  await world.run()
  chmodSync(world.folder, 0o777)
  for (const name of readdirSync(world.folder)) chmodSync(join(world.folder, name), 0o666)
  const store = join(world.folder, 'store.db')
  chmodSync(store, 0)
  const tell = (...words: string[]) => {
    const options = { ...another, encoding: 'utf8' as const }
    const ended = spawnSync(process.execPath, [program, '--config', world.configFile, ...words], options)
    return { status: ended.status, said: ended.stdout + ended.stderr }
  }
  const sentence = `${store}: this user may not read the store; give it the right to read the file and its folder\n`
  for (const words of [['status'], ['runs'], ['backup', join(world.folder, 'backup.db')]])
    expect(tell(...words), words[0]).toEqual({ status: 1, said: `listing-sync: ${sentence}` })
  const diff = tell('diff')
  expect(diff).toMatchObject({ status: 1, said: expect.stringContaining(`failed: ${sentence}`) })
})
