/** Chooses the preset for a feed: the given one, else the best match. */
import { FeedError } from '../core/errors.ts'
import { many, printable, shorten } from '../core/text.ts'
import { formats } from '../feed/format/formats.ts'
import type { Kind } from '../feed/format/formats.ts'
import { fieldsRead } from '../feed/mapping/fields-read.ts'
import type { MappingOptions, Preset } from '../feed/mapping/preset.ts'
import type { Findings, Fit } from './findings.ts'
import { firstFields, fitOf, numbersThatFit } from './fit.ts'
import type { Beginning } from './fit.ts'

/** Below this score no preset fits, and the feed needs its own. */
const leastScore = 40
const mostOthers = 4

export interface Candidates {
  /** A preset given by the user. */
  given: { preset: Preset; options: MappingOptions; how: 'given' | 'configured' } | null
  presets: readonly Preset[]
}

export interface Choice {
  preset: Preset | null
  options: MappingOptions
  fit: Findings['preset']
  others: Fit[]
  settings: Findings['settings']
}

/** Throws `FeedError` for a table without listings, and if a given preset can't read the document. */
export async function chosenPreset(candidates: Candidates, kind: Kind, beginning: Beginning): Promise<Choice> {
  const { given } = candidates
  if (given !== null) {
    const { preset, options, how } = given
    const { score, isEmpty = false, isUnread = false, ...fit } = await fitOf(preset, options, beginning)
    // A run takes such a document for an empty delivery, unless something else in it looks like records.
    const hasOthers = formats[kind.format].nested && kind.options !== null
    if (isEmpty && preset.format === kind.format && !hasOthers)
      return { preset, options, fit: { ...fit, score, chosen: how }, others: [], settings: [] }
    // The format of the preset explains best why it can't read this.
    if (score === 0 && preset.format !== kind.format)
      throw new FeedError(
        `the document is ${formats[kind.format].title}; the preset ${preset.name} reads ${formats[preset.format].title}`,
      )
    // The reasons why records can't be parsed say more.
    if (score === 0 && !isUnread) throw new FeedError(`the preset ${preset.name} can't read it: ${fit.reason}`)
    const choice: Choice = { preset, options, fit: { ...fit, score, chosen: how }, others: [], settings: [] }
    return withNumbers(choice, beginning)
  }
  const presets = candidates.presets.filter(({ format }) => format === kind.format)
  const fits: { preset: Preset; fit: Fit }[] = []
  for (const preset of presets) fits.push({ preset, fit: await fitOf(preset, {}, beginning) })
  fits.sort((a, b) => b.fit.score - a.fit.score)
  const [best] = fits
  // A format of one dialect, as BLM is, says by itself what its records are like; members of JSON may be called anything.
  const { nested } = formats[kind.format]
  const only = presets.length === 1 && !nested
  const hasNone = presets.length === 1 && best.fit.score === 0 && kind.options === null
  const chosen = best !== undefined && (best.fit.score >= leastScore || (only && best.fit.score > 0)) ? best : null
  if (chosen === null && (only || hasNone)) throw new FeedError(best.fit.reason)
  const others = fits.filter((other) => other !== chosen && other.fit.score > 0).map(({ fit }) => fit)
  const rest = { options: {}, others: others.slice(0, mostOthers), settings: [] }
  if (chosen !== null) {
    return withNumbers({ ...rest, preset: chosen.preset, fit: { ...chosen.fit, chosen: 'found' } }, beginning)
  }
  if (kind.dialect !== undefined) await refuseOtherTables(presets, kind, beginning)
  return { ...rest, preset: null, fit: null }
}

async function withNumbers(choice: Choice, beginning: Beginning): Promise<Choice> {
  const { preset, options, settings } = choice
  if (preset === null || options.numbers !== undefined) return choice
  const numbers = await numbersThatFit(preset, options, beginning)
  if (numbers === undefined) return choice
  const write = `numbers: { decimal: '${numbers.decimal}', group: ${JSON.stringify(numbers.group)} }`
  const why = 'the feed writes numbers in another form than the preset; most can be read in this one'
  return { ...choice, options: { ...options, numbers }, settings: [...settings, { write, why }] }
}

/**
 * Throws `FeedError` for a table whose columns are not those of listings. A table unknown to every preset may still have
 * listings if it has a column of web or street addresses.
 */
async function refuseOtherTables(presets: readonly Preset[], kind: Kind, beginning: Beginning): Promise<void> {
  const fields = await firstFields(kind.format, kind.options ?? {}, beginning)
  if (fields.length === 0)
    throw new FeedError(
      'the document is a table, but none of its rows can be read, so nothing shows what it is about. Inspect a delivery with ' +
        'listings; or write a preset (config/presets/README.md) and name it with --preset',
    )
  const names = fields.map(({ path }) => path)
  const known = presets
    .filter(({ formatOptions }) => formatOptions.columns === undefined)
    .map((preset) => {
      const found = fieldsRead(preset, {}, names).filter(({ reads }) => reads.length > 0)
      return new Set(found.map(({ owner }) => owner))
    })
  const has = (...owners: string[]): boolean => known.some((found) => owners.every((owner) => found.has(owner)))
  if (has('MLSNumber') || has('Address') || has('Url') || has('Bedrooms', 'SalePrice')) return
  if (fields.some(({ examples }) => examples.some((example) => /^https?:\/\//i.test(example)))) return
  const shown = names.slice(0, 6).map((name) => JSON.stringify(shorten(printable(name), 40)))
  throw new FeedError(
    `the document is a table of ${many(names.length, 'column')} (${shown.join(', ')}${names.length > 6 ? ' …' : ''}), but not of ` +
      'listings (perhaps market statistics): no column has listing numbers, addresses or web pages. If it has listings, ' +
      'write a preset (config/presets/README.md) and name it with --preset',
  )
}
