/** Of which command lines the heap could grow: those are started with bounds for it. */
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'

const { growsHeap } = createRequire(import.meta.url)('../../bin/small-heap.cjs') as {
  growsHeap: (words: string[]) => boolean
}

test.each([
  ['sync', true],
  ['sync status', true],
  ['--config status sync', true],
  ['backup runs', true],
  ['status', false],
  ['status sync', false],
  ['--log-level warn status', false],
  ['--config=a.yaml approve sync', false],
  ['sync --help', false],
  ['--version', false],
  ['', false],
])('%s: %s', (line, grows) => {
  expect(growsHeap(line.split(' ').filter((word) => word !== ''))).toBe(grows)
})
