/** Wiring of `inspect`: any source is read by the same transports and formats as a feed. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { loadConfig } from '../config/config.ts'
import type { Config, FeedConfig } from '../config/config.ts'
import { shippedPresets, presetFileOf, makeMapping, presetAt } from '../config/presets.ts'
import type { MappingParts } from '../config/presets.ts'
import type { ReferenceSources } from '../config/text.ts'
import { ConfigError, FeedError, UsageError } from '../core/errors.ts'
import { systemClock } from '../core/machine.ts'
import { jsonDocument } from '../core/text.ts'
import { dayIn } from '../core/zone.ts'
import { lookAt } from '../feed/api/look.ts'
import type { ResoSettings } from '../feed/api/settings.ts'
import { readBudget } from '../feed/format/budget.ts'
import type { Findings } from '../inspect/findings.ts'
import { inspect, inspectLook } from '../inspect/inspect.ts'
import type { Inspected, Inspection } from '../inspect/inspect.ts'
import { findingsText } from '../inspect/text.ts'
import { openWorkspace } from '../workspace/sqlite.ts'
import type { CommandContext } from './app.ts'
import { createGates } from './gates.ts'
import { progressLine } from './progress.ts'
import { readTextFile } from './text-file.ts'
import { wire } from './wire.ts'

export const findingsForms: Record<'text' | 'json', (findings: Findings, colour: boolean) => string> = {
  text: findingsText,
  json: jsonDocument,
}

interface InspectOptions {
  preset: string | undefined
  /** Records to read; null: all, or a page of a live source. */
  limit: number | null
  /** How often a feed with this schedule runs within a day from `now` on. */
  runsADay: (schedule: string, timezone: string, now: number) => number
}

/** Records of a live source that are looked at. */
const usualPage = 200

/** Throws `ConfigError`, `UsageError`, `FeedError`. */
export async function inspectSource(
  { env, signal, configFile, doors, clock = systemClock }: CommandContext,
  source: string,
  { preset, limit, runsADay }: InspectOptions,
): Promise<Inspected> {
  const { config, feed, parts } = sourceToInspect(source, configFile, {
    env,
    readFile: readTextFile,
    learn: doors.learn,
  })
  const gates = createGates(clock, doors)
  const wired = wire(feed, config, clock, gates)
  const moment = { now: clock.now(), today: dayIn(feed.timezone, clock.now()), timezone: feed.timezone }
  const workspace = openWorkspace(undefined, feed.transport)
  const progress = progressLine(feed.name, doors.err)
  const given = givenPreset(preset, parts)
  const reading = {
    moment,
    budget: readBudget(feed.plan.limits.read, signal, clock),
    progress: (records: number) => progress.show('records', records, null),
  }
  async function look(live: ResoSettings): Promise<Inspected> {
    if (given === null)
      throw new FeedError(`${feed.name} has no preset; name the one of a live source: --preset reso-web-api`)
    const runs = feed.schedule === null ? null : runsADay(feed.schedule, feed.timezone, moment.now)
    const most = limit ?? usualPage
    const page = await lookAt(live, gates.of(live), { signal: reading.budget.signal, most, runs })
    return inspectLook(page, { ...reading, given, transport: feed.transport })
  }
  try {
    const inspected =
      feed.live === null
        ? await inspect({
            ...reading,
            feed: wired,
            given,
            presets: shippedPresets(),
            limit,
            scratch: workspace.folder,
          })
        : await look(feed.live)
    // Not only printed: `--init` makes files of them.
    return { ...inspected, findings: doors.clean(inspected.findings) }
  } finally {
    progress.end()
    workspace.close()
    await gates.close()
  }
}

/** A source as a feed: one of the configuration by its name, or any other with default settings. */
interface Source {
  config: Config
  feed: FeedConfig
  /** Of a configured feed; null: the source is not in the configuration. */
  parts: MappingParts | null
}

/** Throws `ConfigError` for a wrong configuration, `UsageError` for an invalid source. */
function sourceToInspect(source: string, configFile: string, sources: ReferenceSources): Source {
  return configuredFeed(source, configFile, sources) ?? { ...anySource(source, sources), parts: null }
}

/** A name means a feed only if there is no file of that name. */
function configuredFeed(name: string, configFile: string, sources: ReferenceSources): Source | null {
  if (!/^[A-Za-z0-9_.-]+$/.test(name) || name === '-' || existsSync(name) || !existsSync(configFile)) return null
  const made = new Map<string, MappingParts>()
  const config = loadConfig(configFile, sources, (parts) => {
    made.set(parts.feed, parts)
    return makeMapping(parts)
  })
  const feed = config.feeds.find((one) => one.name === name)
  if (feed === undefined) return null
  return { config, feed, parts: made.get(name) ?? null }
}

/** The preset is not used: `inspect` makes its own mapping. */
function anySource(source: string, sources: ReferenceSources): { config: Config; feed: FeedConfig } {
  const written = stringify({
    service: { baseUrl: 'http://127.0.0.1' },
    feeds: { inspect: { chatbot: 'none', source: source.replaceAll('${', '$${'), preset: 'zillow' } },
  })
  const file = join(process.cwd(), 'inspect')
  const readFirst = (path: string): string => (path === file ? written : readTextFile(path))
  try {
    const config = loadConfig(file, { ...sources, readFile: readFirst }, makeMapping)
    return { config, feed: config.feeds[0] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const problems = error.problems.map((line) => line.replace(/^feeds\.inspect\./, '').replace(/ \(line \d+\)$/, ''))
    const hint = problems.some((line) => line.startsWith('login'))
      ? '\nwrite it in a feed of the configuration, and name that feed as SOURCE'
      : ''
    throw new UsageError(problems.join('\n') + hint)
  }
}

/** The preset of `--preset`, else of the feed. Throws `UsageError` if it doesn't exist, `ConfigError` if it is wrong. */
export function givenPreset(name: string | undefined, parts: MappingParts | null): Inspection['given'] {
  if (name !== undefined) {
    const file = presetFileOf(name, process.cwd())
    if (!existsSync(file)) {
      const problem = /[/\\]|\.ya?ml$/.test(name) ? `${resolve(file)} does not exist` : missingPreset(file)
      throw new UsageError(`--preset: ${problem}`)
    }
    return { preset: presetAt(file), options: {}, how: 'given' }
  }
  if (parts?.presetFile == null) return null
  return { preset: presetAt(parts.presetFile), options: parts.options, how: 'configured' }
}

function missingPreset(file: string): string {
  try {
    presetAt(file)
    return ''
  } catch (error) {
    return error instanceof ConfigError ? error.problems.join('; ') : String(error)
  }
}
