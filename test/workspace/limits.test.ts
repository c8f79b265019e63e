/** How large a scratch file may become, and what it leaves free (docs/faults.md, F29). */
import { statfsSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { UserError } from '../../src/core/errors.ts'
import { openWorkspace } from '../../src/workspace/sqlite.ts'
import type { Workspace } from '../../src/workspace/workspace.ts'
import { freshFolder } from '../store/folder.ts'

let workspace: Workspace
afterEach(() => workspace.close())

const rows = (from: number) => Array.from({ length: 200 }, (_, i) => ({ op: 'absent', key: `K${from + i}` }) as const)

test('a scratch file larger than maxScratchBytes ends the run with that name', () => {
  workspace = openWorkspace(freshFolder(), { maxScratchBytes: 256 * 1024, keepFree: 0 })
  let written = 0
  const write = () => {
    for (; written < 100_000; written += 200) workspace.addBookkeeping(rows(written))
  }
  const large = expect.stringMatching(/the run's scratch file would be larger than maxScratchBytes, 262144$/)
  expect(write).toThrow(expect.objectContaining({ name: UserError.name, message: large }))
  expect(written).toBeGreaterThan(1000)
})

test('what is to stay free is left free', () => {
  const folder = freshFolder()
  const { blocks, bsize } = statfsSync(folder)
  workspace = openWorkspace(folder, { maxScratchBytes: 2 ** 30, keepFree: blocks * bsize + 1 })
  expect(() => workspace.addBookkeeping(rows(0))).toThrow(/its disk has no room for .* are to stay free \(keepFree\)/)
  workspace.close()
  workspace = openWorkspace(folder, { maxScratchBytes: 2 ** 30, keepFree: 1 })
  workspace.addBookkeeping(rows(0))
  expect([...workspace.bookkeeping()]).toHaveLength(200)
})
