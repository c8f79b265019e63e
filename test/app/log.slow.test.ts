/** The log of a process of its own. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

test('without a writer it goes to standard error, all of it before the process ends', () => {
  const program = `
    import { createLog } from './src/app/log.ts'
    const log = createLog({ level: 'info', scrub: (text) => text, pretty: false, repeatLimit: Infinity, clock: { now: () => 0 } })
    for (let i = 0; i < 1000; i++) log.info({ i }, 'line')
    process.exit(3)
  `
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })
  expect(child.status).toBe(3)
  expect(child.stdout).toBe('')
  expect(child.stderr.trimEnd().split('\n')).toHaveLength(1000)
})
