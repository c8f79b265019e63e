import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'
import type { App, Finished, CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { UserError, messageOf } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import type { Report } from '../report/report.ts'
import { startStandIn } from '../stand-in/stand-in.ts'
import { withApp } from './command.ts'

const feed = 'cedar-valley'
const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/demo/${name}`, import.meta.url))

/**
 * `demo`: the whole program on a sample feed and the stand-in, in a temporary folder. The exit status is 0 only if every
 * step worked and the last run found nothing left to do.
 */
export async function demoCommand(context: CommandContext): Promise<number> {
  const folder = temporaryFolder()
  const standIn = await startStandIn({})
  try {
    const configFile = join(folder, 'listing-sync.yaml')
    writeFileSync(configFile, configuration(standIn.url))
    copyFileSync(fixture('first.xml'), join(folder, 'export.xml'))
    return await withApp(openApp({ ...context, configFile }), (app) =>
      play(app, folder, () => standIn.listings('DEMO-1').length),
    )
  } finally {
    await standIn.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function temporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'listing-sync-demo-'))
  } catch (error) {
    throw new UserError(
      `the demo needs a temporary folder: ${messageOf(error)}; name one that can be written to with TMPDIR`,
    )
  }
}

async function play(app: App, folder: string, count: () => number): Promise<number> {
  const [north] = app.config.feeds
  const say = (line: string): void => app.doors.out.write(`${styleText('bold', line)}\n`)
  say(`1. A stand-in of the listing service runs on ${app.config.service.baseUrl}. It holds no listing yet.`)
  say('   Backfill: the whole feed, once.')
  const backfill = await shown(app, app.sync(north, 'backfill'))
  say(`   The service now holds ${count()} listings.`)

  say('2. The next delivery: homes that are new, cheaper, newly described, sold or gone, and one broken record.')
  copyFileSync(fixture('second.xml'), join(folder, 'export.xml'))
  say('   Diff: what would change? Nothing is written.')
  const before = count()
  const planned = await shown(app, app.diff(north))
  const untouched = count() === before

  say('3. Sync: carry it out.')
  const synced = await shown(app, app.sync(north, 'sync'))
  say(`   The service now holds ${count()} listings.`)

  say('4. Sync again: is anything left to do?')
  const again = await shown(app, app.sync(north, 'sync'))
  const writes =
    again.applied === null ? 1 : again.applied.calls.create + again.applied.calls.update + again.applied.calls.delete
  const right =
    backfill.applied?.outcomes.done === backfill.delivery.listings &&
    untouched &&
    planned.digest === synced.digest &&
    synced.applied?.outcomes.failed === 0 &&
    synced.applied.outcomes.unknown === 0 &&
    writes === 0
  say(right ? '   No. The third run wrote nothing: the service equals the feed.' : '   Something went wrong.')
  return right ? exitStatus.right : exitStatus.failed
}

async function shown(app: App, run: Promise<Finished>): Promise<Report> {
  const { report, close } = await run
  try {
    const form = await app.reportForm('text', { colour: app.doors.out.isTTY })
    await app.doors.reports().report(form, report)
    return report
  } finally {
    close()
  }
}

function configuration(baseUrl: string): string {
  return `
service:
  baseUrl: ${baseUrl}
  secretKey: demo
  rate: 200
store: ./listing-sync.db
feeds:
  ${feed}:
    chatbot: DEMO-1
    source: ./export.xml
    preset: zillow
    timezone: America/Chicago
`
}
