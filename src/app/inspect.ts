/** Wiring of `inspect`: any source is read by the same transports and formats as a feed. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { loadConfig } from '../config/config.ts'
import type { Config, FeedConfig } from '../config/config.ts'
import { shippedPresets, presetFileOf, makeMapping, presetAt } from '../config/presets.ts'
import type { MappingParts } from '../config/presets.ts'
import type { ReferenceSources } from '../config/text.ts'
import { ConfigError, UsageError } from '../core/errors.ts'
import { systemClock } from '../core/machine.ts'
import { jsonDocument, printable } from '../core/text.ts'
import { dayIn } from '../core/zone.ts'
import { apiReader } from '../feed/api/reader.ts'
import { sampleOf } from '../feed/api/sample.ts'
import type { ResoSettings } from '../feed/api/settings.ts'
import { bounded } from '../feed/format/bounded.ts'
import { readBudget } from '../feed/format/budget.ts'
import type { Reading } from '../feed/format/format.ts'
import type { Findings } from '../inspect/findings.ts'
import { inspect, inspectLive } from '../inspect/inspect.ts'
import type { Inspected, Inspection, LiveInspection } from '../inspect/inspect.ts'
import { findingsText } from '../inspect/text.ts'
import { readJoins, withJoins } from '../run/join.ts'
import { openWorkspace } from '../workspace/sqlite.ts'
import type { CommandContext } from './app.ts'
import { createGates } from './gates.ts'
import type { Gates } from './gates.ts'
import { progressLine } from './progress.ts'
import { readTextFile } from './text-file.ts'
import { wire } from './wire.ts'

export const findingsForms: Record<'text' | 'json', (findings: Findings, colour: boolean) => string> = {
  text: findingsText,
  json: jsonDocument,
}

interface Wishes {
  /** The value of `--preset`; undefined: the feed's, else the best match. */
  preset: string | undefined
  /** Records to read; null: all. */
  limit: number | null
}

/** `source`: as `inspect` takes it. */
export function inspectSource(context: CommandContext, source: string, wishes: Wishes): Promise<Inspected> {
  const { env, configFile, doors } = context
  const found = sourceToInspect(source, configFile, { env, readFile: readTextFile, learn: doors.learn })
  return inspectFound(context, found, givenPreset(wishes.preset, found.recipe), wishes.limit)
}

/** The source of a configured feed. Throws `ConfigError` for a wrong configuration, `UsageError` if it has no such feed. */
export function inspectFeed(context: CommandContext, name: string, wishes: Wishes): Promise<Inspected> {
  const { env, configFile, doors } = context
  const found = feedOf(name, configFile, { env, readFile: readTextFile, learn: doors.learn })
  if (found === null) throw new UsageError(`there is no feed "${printable(name)}" in ${configFile}`)
  return inspectFound(context, found, givenPreset(wishes.preset, found.recipe), wishes.limit)
}

/** The beginning of a configured feed; `isFree`: whichever preset fits it best, not its own. */
export function inspectBeginning(
  context: CommandContext,
  name: string,
  limit: number,
  isFree: boolean,
): Promise<Inspected> {
  const { env, configFile, doors } = context
  const found = feedOf(name, configFile, { env, readFile: readTextFile, learn: doors.learn })!
  return inspectFound(context, found, isFree ? null : givenPreset(undefined, found.recipe), limit)
}

async function inspectFound(
  { signal, doors, clock = systemClock }: CommandContext,
  { config, feed }: Source,
  given: Inspection['given'],
  limit: number | null,
): Promise<Inspected> {
  const gates = createGates(clock, doors)
  const moment = { now: clock.now(), today: dayIn(feed.timezone, clock.now()), timezone: feed.timezone }
  const workspace = openWorkspace(undefined, feed.transport)
  const progress = progressLine(feed.name, doors.err)
  const how = {
    limit,
    moment,
    budget: readBudget(feed.plan.limits.read, signal, clock),
    progress: (records: number) => progress.show('records', records, null),
  }
  try {
    const wired = wire(feed, config, clock, gates)
    // Only the feed's own preset has rules that read such tables.
    const tables = given?.how === 'configured' ? (wired.joins ?? []) : []
    const joins = await readJoins(tables, workspace, how.budget, feed.transport.maxRecordBytes)
    const joined = (reading: Reading): Reading => withJoins(reading, joins)
    const inspected =
      feed.live !== null && given !== null
        ? await livePage(feed, feed.live, gates, { ...how, given, joined })
        : await inspect({
            ...how,
            feed: wired,
            given,
            presets: shippedPresets(),
            scratch: workspace.folder,
            joined,
          })
    // Scrubbed here, as these are not only printed: `--init` writes them to files.
    return {
      ...inspected,
      findings: doors.clean({ ...inspected.findings, notes: [...inspected.findings.notes, ...joins.notes] }),
    }
  } finally {
    how.budget.end()
    progress.end()
    workspace.close()
    await gates.close()
  }
}

/** One page of a live source, which shows what its records are like. All of them are the work of a run. */
async function livePage(
  feed: FeedConfig,
  live: ResoSettings,
  gates: Gates,
  how: Pick<LiveInspection, 'limit' | 'moment' | 'budget' | 'progress' | 'given' | 'joined'>,
): Promise<Inspected> {
  const { name, bytes, all, vendor, schedule } = await sampleOf(live, gates.of(live), how.budget.signal)
  const licence = vendor.noPictures === null ? [] : [`the feed has no Images: ${vendor.noPictures}`]
  return inspectLive({
    ...how,
    page: { name, bytes },
    reader: bounded(apiReader, feed.transport),
    maxRecordBytes: feed.transport.maxRecordBytes,
    facts: { title: vendor.title, all, licence, schedule },
  })
}

/** A source as a feed: one of the configuration by its name, or any other with default settings. */
interface Source {
  config: Config
  feed: FeedConfig
  /** The parts of a configured feed; null: the source is not in the configuration. */
  recipe: MappingParts | null
}

/** Throws `ConfigError` for a wrong configuration, `UsageError` for an invalid source. */
function sourceToInspect(source: string, configFile: string, sources: ReferenceSources): Source {
  return configuredFeed(source, configFile, sources) ?? { ...anySource(source, sources), recipe: null }
}

/** A name means a feed only if there is no file of that name. */
function configuredFeed(name: string, configFile: string, sources: ReferenceSources): Source | null {
  if (!/^[A-Za-z0-9_.-]+$/.test(name) || name === '-' || existsSync(name) || !existsSync(configFile)) return null
  return feedOf(name, configFile, sources)
}

/** A feed of the configuration by its name; null: there is none. */
function feedOf(name: string, configFile: string, sources: ReferenceSources): Source | null {
  const made = new Map<string, MappingParts>()
  const config = loadConfig(configFile, sources, (recipe) => {
    made.set(recipe.feed, recipe)
    return makeMapping(recipe)
  })
  const feed = config.feeds.find((candidate) => candidate.name === name)
  return feed === undefined ? null : { config, feed, recipe: made.get(name) ?? null }
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
export function givenPreset(name: string | undefined, recipe: MappingParts | null): Inspection['given'] {
  if (name !== undefined) {
    const file = presetFileOf(name, process.cwd())
    if (!existsSync(file)) {
      const problem = /[/\\]|\.ya?ml$/.test(name) ? `${resolve(file)} does not exist` : missingPreset(file)
      throw new UsageError(`--preset: ${problem}`)
    }
    return { preset: presetAt(file), options: {}, how: 'given' }
  }
  if (recipe?.presetFile == null) return null
  return { preset: presetAt(recipe.presetFile), options: recipe.options, how: 'configured' }
}

function missingPreset(file: string): string {
  try {
    presetAt(file)
    return ''
  } catch (error) {
    return error instanceof ConfigError ? error.problems.join('; ') : String(error)
  }
}
