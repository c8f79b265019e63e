/** Which preset a feed is read with: the one that is given, else the one that fits best. */
import { FeedError } from '../core/errors.ts'
import type { Kind } from '../feed/format/detect.ts'
import type { Preset } from '../feed/mapping/preset.ts'
import type { MappingOptions } from '../feed/mapping/schema.ts'
import { looksLikeListings } from './facts.ts'
import type { Findings, Fit } from './findings.ts'
import { fitOf, numbersThatFit } from './fit.ts'
import type { Beginning } from './fit.ts'
import type { InspectParts } from './parts.ts'

/** Below this a preset is none of the feed's, and its own one is needed. */
const leastScore = 40
const mostOthers = 4

export interface Choice {
  preset: Preset | null
  options: MappingOptions
  fit: Findings['preset']
  others: Fit[]
  settings: Findings['settings']
}

/** Throws `FeedError` for a table that is none of listings, and where a given preset can't read the document. */
export async function chosenPreset(parts: InspectParts, kind: Kind, beginning: Beginning): Promise<Choice> {
  const { given, formats, moment } = parts
  if (given !== null) {
    const { preset, options, how } = given
    const format = formats[preset.format]
    const { score, ...fit } = await fitOf(preset, options, beginning, format, moment)
    // The preset's own format says best why it can't read this.
    if (score === 0 && preset.format !== kind.format)
      throw new FeedError(
        `the document is ${formatTitle(kind.format)}; the preset ${preset.name} reads ${formatTitle(preset.format)}`,
      )
    if (score === 0) throw new FeedError(`the preset ${preset.name} can't read it: ${fit.reason}`)
    return withNumbers(
      { preset, options, fit: { ...fit, score, chosen: how }, others: [], settings: [] },
      parts,
      beginning,
    )
  }
  const presets = parts.presets.filter(({ format }) => format === kind.format)
  const fits: { preset: Preset; fit: Fit }[] = []
  for (const preset of presets)
    fits.push({ preset, fit: await fitOf(preset, {}, beginning, formats[preset.format], moment) })
  fits.sort((a, b) => b.fit.score - a.fit.score)
  const [best] = fits
  const only = presets.length === 1
  const chosen = best !== undefined && (best.fit.score >= leastScore || (only && best.fit.score > 0)) ? best : null
  if (chosen === null && only) throw new FeedError(best.fit.reason)
  const others = fits.filter((one) => one !== chosen && one.fit.score > 0).map(({ fit }) => fit)
  if (chosen === null) {
    if (kind.dialect !== null) await looksLikeListings(parts, kind.dialect, beginning)
    return { preset: null, options: {}, fit: null, others: others.slice(0, mostOthers), settings: [] }
  }
  const choice: Choice = {
    preset: chosen.preset,
    options: {},
    fit: { ...chosen.fit, chosen: 'found' },
    others: others.slice(0, mostOthers),
    settings: [],
  }
  return withNumbers(choice, parts, beginning)
}

async function withNumbers(choice: Choice, { formats, moment }: InspectParts, beginning: Beginning): Promise<Choice> {
  const { preset, options, settings } = choice
  if (preset === null || options.numbers !== undefined) return choice
  const numbers = await numbersThatFit(preset, options, beginning, formats[preset.format], moment)
  if (numbers === undefined) return choice
  const write = `numbers: { decimal: '${numbers.decimal}', group: ${JSON.stringify(numbers.group)} }`
  const why = "numbers are not written in the preset's way; most of them can be read in this one"
  return { ...choice, options: { ...options, numbers }, settings: [...settings, { write, why }] }
}

function formatTitle(format: Preset['format']): string {
  return { xml: 'XML', csv: 'CSV', 'rets-compact': 'RETS COMPACT', blm: 'BLM' }[format]
}
