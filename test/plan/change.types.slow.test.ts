/** The compiler reads `change.types.ts`: what must not compile does not, and each case is one of its own. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const cases = 'test/plan/change.types.ts'

/** What the compiler says of a file in place of the cases. */
function compiled(text: string): string {
  const folder = mkdtempSync(resolve('test/plan/.types-'))
  try {
    const file = join(folder, 'cases.ts')
    writeFileSync(file, text.replaceAll("from '../", "from '../../"))
    const extended = { extends: resolve('tsconfig.json'), include: [], files: [file] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(extended))
    const { stdout, stderr } = spawnSync('node_modules/.bin/tsc', ['-p', folder], { encoding: 'utf8' })
    return stdout + stderr
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('no delete or forget by absence can be written down without its own proof', () => {
  const text = readFileSync(cases, 'utf8')
  expect(compiled(text)).toBe('')
  const expected = text.match(/@ts-expect-error/g) ?? []
  expect(expected.length).toBeGreaterThanOrEqual(10)
  // Without the marks the compiler complains about every case.
  const errors = compiled(text.replaceAll('// @ts-expect-error', '//')).match(/error TS\d+/g) ?? []
  expect(errors.length).toBeGreaterThanOrEqual(expected.length)
})
