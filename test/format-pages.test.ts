/** docs/formats is what the presets and their fixtures say. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatPages } from './support/format-pages.ts'

const folder = join(import.meta.dirname, '../docs/formats')

test('every format has its page, and each is up to date (npm run formats)', () => {
  const pages = formatPages()
  expect(readdirSync(folder).toSorted()).toEqual([...pages.keys()].toSorted())
  for (const [name, text] of pages) expect(readFileSync(join(folder, name), 'utf8'), name).toBe(text)
})
