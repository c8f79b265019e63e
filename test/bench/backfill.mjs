// `backfill` of a configuration's feed as the command does it, but at the machine's own pace: at the highest rate that a
// configuration may ask for, a hundred thousand calls would take longer than the whole bench may. The argument is the folder
// of the built program. Prints the report's counts.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [, , folder] = process.argv
const { keepHeapSmall } = await import(pathToFileURL(join(folder, 'bin/small-heap.mjs')).href)
keepHeapSmall(['backfill'])
const load = (name) => import(pathToFileURL(join(folder, 'dist/program', `${name}.cjs`)).href)
const [{ openApp }, { createDoors }] = [await load('app-open'), await load('app-doors')]
const configFile = process.env.LISTING_SYNC_CONFIG
const app = openApp({ configFile, env: process.env, signal: new AbortController().signal, doors: createDoors() })
const [feed] = app.config.feeds
feed.service.rate = Infinity
const { report, close } = await app.sync(feed, 'backfill')
close()
await app.close()
if (report.result !== 'ok') throw new Error(`the backfill ended ${report.result}: ${report.error}`)
process.stdout.write(JSON.stringify({ counts: report.counts }))
