/**
 * `npm run invented -- FOLDER…`: what `inspect --init` makes up for every file below these folders. Nothing is written there.
 * Ends with 1 where a fact is invented.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countInvented, tableOf } from './count.ts'
import type { Counted } from './count.ts'

const folders = process.argv.slice(2)
if (folders.length === 0 || !folders.every((folder) => existsSync(folder))) {
  process.stderr.write('npm run invented -- FOLDER…: name folders with files of feeds\n')
  process.exit(64)
}
const files = folders
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
  .filter((file) => statSync(file).isFile() && !file.endsWith('.md'))
const counted: Counted[] = []
for (const file of files.toSorted()) {
  const folder = mkdtempSync(join(tmpdir(), 'listing-sync-invented-'))
  try {
    counted.push(await countInvented(file, folder))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
process.stdout.write(tableOf(counted))
process.exitCode = counted.some(({ invented }) => invented.length > 0) ? 1 : 0
