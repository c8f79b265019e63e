// Part of the build: the commit that it is made from, for `--version`. COMMIT names it where there is no checkout, as in an image.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

let commit = process.env.COMMIT ?? ''
try {
  if (commit === '')
    commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
} catch {
  // No checkout: the version has to do.
}
writeFileSync('dist/commit.txt', commit)
