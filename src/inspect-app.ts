/** Wiring of `inspect`: any source goes through the same transports and formats as a feed does. */
import { formats, wire } from './app.ts'
import type { CommandContext } from './commands/command.ts'
import { givenPreset, sourceToInspect } from './config-inspect.ts'
import { shippedPresets } from './config-preset.ts'
import { inspect } from './inspect.ts'
import type { Findings } from './inspect/findings.ts'
import { findingsJson } from './inspect/json.ts'
import type { Inspected } from './inspect/parts.ts'
import { findingsText } from './inspect/text.ts'
import { systemClock } from './machine.ts'
import { dayIn } from './zone.ts'
import { progressLine } from './progress.ts'
import { scrubbedError, scrubbedTexts } from './scrubbed.ts'
import { scrubber } from './secrets.ts'
import { openWorkspace } from './workspace/sqlite.ts'

/** How findings of `inspect` are written. */
export const findingsForms: Record<'text' | 'json', (findings: Findings, colour: boolean) => string> = {
  text: findingsText,
  json: findingsJson,
}

/** Reads a source for `inspect`: a feed of the configuration by its name, else any source, every setting at its default. */
export async function inspectSource(
  { env, signal, configFile }: CommandContext,
  source: string,
  { preset, limit }: { preset: string | undefined; limit: number | null },
): Promise<Inspected> {
  const { config, feed, parts } = sourceToInspect(source, configFile, env)
  const scrub = scrubber(config.secrets)
  const wired = wire(feed, config, systemClock)
  const moment = { now: systemClock.now(), today: dayIn(feed.timezone, systemClock.now()), timezone: feed.timezone }
  const workspace = openWorkspace()
  const progress = progressLine(feed.name, process.stderr)
  try {
    const inspected = await inspect({
      feed: wired,
      formats,
      given: givenPreset(preset, parts),
      presets: shippedPresets(),
      limit,
      moment,
      scratch: workspace.folder,
      signal,
      progress: (records) => progress.show('records', records, null),
    })
    return { ...inspected, findings: scrubbedTexts(inspected.findings, scrub) }
  } catch (error) {
    throw scrubbedError(error, scrub)
  } finally {
    progress.end()
    workspace.close()
  }
}
