import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { reportForms } from '../../src/app/adapters.ts'
import { program } from '../support/program.ts'

test.each([
  ['diff', '--help'],
  ['help', 'diff'],
])('%s %s offers the forms of the map', (...words) => {
  const help = execFileSync(process.execPath, [program, ...words]).toString()
  const names = Object.keys(reportForms).map((name) => `"${name}"`)
  expect(help.replaceAll(/\s+/g, ' ')).toContain(`(choices: ${names.join(', ')}, default: "text")`)
})
