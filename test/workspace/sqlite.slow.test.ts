/** What a process that was killed leaves of its workspace. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openWorkspace } from '../../src/workspace/sqlite.ts'
import { freshFolder } from '../store/folder.ts'

it('sweeps the folder of a process that was killed, and no other', () => {
  const folder = freshFolder()
  const url = new URL('../../src/workspace/sqlite.ts', import.meta.url).href
  const script = `import { openWorkspace } from ${JSON.stringify(url)}
    openWorkspace(${JSON.stringify(folder)}).addBookkeeping([{ op: 'steady', snapshot: 1 }])
    process.kill(process.pid, 'SIGKILL')`
  const killed = spawnSync(process.execPath, ['--input-type=module', '-e', script])
  expect(killed.signal).toBe('SIGKILL')
  const [left] = readdirSync(folder)
  expect(left).toMatch(new RegExp(`^listing-sync-run-${killed.pid}-`))
  // A container gives every process the number of the one before it.
  const ofForerunner = join(folder, `listing-sync-run-${process.pid}-zzz`)
  mkdirSync(ofForerunner)
  writeFileSync(join(folder, 'listing-sync-run-notes.txt'), 'not a workspace')

  const mine = openWorkspace(folder)
  const second = openWorkspace(folder)
  expect(existsSync(join(folder, left))).toBe(false)
  expect(existsSync(ofForerunner)).toBe(false)
  expect(readdirSync(folder).filter((name) => name.includes(`-${process.pid}-`))).toHaveLength(2)
  mine.close()
  second.close()
  expect(readdirSync(folder)).toEqual(['listing-sync-run-notes.txt'])
})
