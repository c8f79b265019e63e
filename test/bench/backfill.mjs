// `backfill` of a configuration's feed as the command does it, but at the machine's own pace: at the highest rate that a
// configuration may ask for, a hundred thousand calls would take longer than the whole bench may. The first argument is
// the folder of the built program, the second the configuration.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [, , folder, configFile] = process.argv
const { openApp } = await import(pathToFileURL(join(folder, 'dist/app.js')).href)
const app = openApp({ configFile, env: process.env, signal: new AbortController().signal })
const [feed] = app.config.feeds
feed.service.rate = Infinity
const { report, close } = await app.sync(feed, 'backfill')
close()
await app.close()
if (report.result !== 'ok') throw new Error(`the backfill ended ${report.result}: ${report.error}`)
