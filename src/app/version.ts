/** Which program this is. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The version of package.json, and the commit in brackets where it is known: "0.1.0 (2b58997)". */
export function programVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  const commit = builtFrom() ?? checkedOut()
  return commit === '' ? version : `${version} (${commit})`
}

/** The version that the build noted; null: this is not built. */
function builtFrom(): string | null {
  try {
    return readFileSync(new URL('../commit.txt', import.meta.url), 'utf8').trim()
  } catch {
    return null
  }
}

/** The commit of the sources' folder; '': it is no checkout, or there is no git. */
function checkedOut(): string {
  try {
    const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return commit.trim()
  } catch {
    return ''
  }
}
