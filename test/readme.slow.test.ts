/** README.md is short; its commands are run in test/readme.slow.test.ts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './support/document-pages.ts'

test('it has at most 900 words', () => {
  const words = readFileSync(join(root, 'README.md'), 'utf8')
    .split(/\s+/)
    .filter((word) => word !== '')
  expect(words.length).toBeLessThanOrEqual(900)
})
