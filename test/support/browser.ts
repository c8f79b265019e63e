/** A real browser, where the machine has one: Debian's `chromium`, or what CHROMIUM names. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** The path of a browser; null where there is none. */
export function findBrowser(env: NodeJS.ProcessEnv = process.env): string | null {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)))
  return [...(env['CHROMIUM'] ? [env['CHROMIUM']] : []), ...paths].find(isExecutable) ?? null
}

export const noBrowser = 'skipped, as there is no browser: apt-get install chromium, or name one in CHROMIUM'

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
