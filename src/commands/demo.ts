import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'
import type { App, Finished, CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { UserError, messageOf } from '../core/errors.ts'
import { systemClock } from '../core/machine.ts'
import { exitStatus } from '../core/exit.ts'
import type { Report } from '../report/report.ts'
import { addHomes, startReso } from '../stand-in/reso/server.ts'
import { startStandIn } from '../stand-in/stand-in.ts'
import { withApp } from './command.ts'

const feed = 'cedar-valley'
const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/demo/${name}`, import.meta.url))

/** Where the demo's homes come from. */
interface Source {
  /** Settings of the feed, in YAML. */
  settings: string
  /** What it is, as a sentence. */
  title: string
  /** How it changes between two runs, as a sentence. */
  change: string
  next(): void
  close(): Promise<void>
}

/**
 * `demo`: the whole program on a sample feed and the stand-in, in a temporary folder; `reso`: on a RESO Web API of this machine. The
 * exit status is 0 only if every step worked and the last run found nothing left to do.
 */
export async function demoCommand(context: CommandContext, { reso }: { reso?: true } = {}): Promise<number> {
  const folder = temporaryFolder()
  const standIn = await startStandIn({})
  try {
    const source = reso ? await liveSource(context) : fileSource(folder)
    try {
      const configFile = join(folder, 'listing-sync.yaml')
      writeFileSync(configFile, configuration(standIn.url, source.settings))
      return await withApp(openApp({ ...context, configFile }), (app) =>
        play(app, source, () => standIn.listings('DEMO-1').length),
      )
    } finally {
      await source.close()
    }
  } finally {
    await standIn.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function fileSource(folder: string): Source {
  const deliver = (name: string): void => copyFileSync(fixture(name), join(folder, 'export.xml'))
  deliver('first.xml')
  return {
    settings: 'preset: zillow\n    source: ./export.xml',
    title: 'The feed is a file of XML.',
    change: 'The next delivery: homes that are new, cheaper, newly described, sold or gone, and one broken record.',
    next: () => deliver('second.xml'),
    close: async () => undefined,
  }
}

async function liveSource({ clock = systemClock }: CommandContext): Promise<Source> {
  const token = 'demo'
  const api = await startReso({ vendor: 'bridge', now: () => clock.now(), token })
  const { world } = api
  addHomes(world, 30)
  return {
    settings: `preset: reso-web-api\n    source: { reso: ${api.root}, vendor: bridge, auth: { token: ${token} } }`,
    title: `The feed is a RESO Web API with the rules of Bridge, on ${api.root}.`,
    change:
      'Meanwhile at the source: homes that are new, cheaper, newly described, sold or gone, and one broken record.',
    next() {
      const [cheaper, described, sold, gone, alsoGone, broken] = world.records.keys()
      world.put(cheaper, { ListPrice: 249_000 })
      world.put(described, { PublicRemarks: 'Newly painted, with a porch and a view of the creek.' })
      world.put(sold, { PropertyType: 'Residential', StandardStatus: 'Closed', ClosePrice: 431_000 })
      for (const key of [gone, alsoGone]) world.remove(key)
      world.put(broken, { BedroomsTotal: 'many' })
      world.put('7100001', { ...world.records.get(cheaper), ListingId: '1480001', UnparsedAddress: '9 New Street' })
    },
    close: api.close,
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

async function play(app: App, source: Source, count: () => number): Promise<number> {
  const [north] = app.config.feeds
  const say = (line: string): void => app.doors.out.write(`${styleText('bold', line)}\n`)
  say(`1. A stand-in of the listing service runs on ${app.config.service.baseUrl}. It holds no listing yet.`)
  say(`   ${source.title} Backfill: the whole feed, once.`)
  const backfill = await shown(app, app.sync(north, 'backfill'))
  say(`   The service now holds ${count()} listings.`)

  say(`2. ${source.change}`)
  source.next()
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

function configuration(baseUrl: string, source: string): string {
  return `
service:
  baseUrl: ${baseUrl}
  secretKey: demo
  rate: 200
store: ./listing-sync.db
feeds:
  ${feed}:
    chatbot: DEMO-1
    ${source}
    timezone: America/Chicago
`
}
