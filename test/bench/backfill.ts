/**
 * `backfill` of a configuration's feed as the command does it, but at the machine's own pace: at the highest rate that a
 * configuration may ask for, a hundred thousand calls would take longer than the whole bench may.
 */
import { openApp } from '../../src/app.ts'

const app = openApp({ configFile: process.argv[2], env: process.env, signal: new AbortController().signal })
const [feed] = app.config.feeds
feed.service.rate = Infinity
const { report, close } = await app.sync(feed, 'backfill')
close()
await app.close()
if (report.result !== 'ok') throw new Error(`the backfill ended ${report.result}: ${report.error}`)
