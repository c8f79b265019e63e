/**
 * What an MLS allows to be shown: opt-outs of a record, listings that are coming soon, the source that must be named,
 * images that may not be passed on, hidden addresses. The preset keys and their effect.
 */
import { z } from 'zod'
import type { ExtensionEntry, Listing, Problem } from '../../core/listing.ts'
import { later } from '../../core/setting-kinds.ts'
import type { RecordFields } from '../format/format.ts'
import { Unreadable } from './converters/converter.ts'
import { dateReader, instantOf, isZero } from './converters/date.ts'
import type { HiddenStreet } from './hidden-street.ts'
import type { Moment } from './mapping.ts'
import { didYouMean } from './names.ts'
import type { Paths } from './path.ts'
import { optional, severalWords } from './rule-keys.ts'
import { readBoolean, saysNothing, wordKey } from './vocabulary.ts'

/** A condition on a record: a yes or no (`is`), or one of some words (`equals`, compared by `wordKey`). */
const flagSchema = later(() =>
  z
    .strictObject({
      from: z.string().min(1).describe('Path of the flag'),
      is: z.boolean().optional().describe('true: applies if the flag is a yes; false: if it is a no.'),
      equals: severalWords.optional().describe('Applies if the flag is one of these words.'),
    })
    .refine((flag) => (flag.is === undefined) !== (flag.equals === undefined), 'needs one of is and equals'),
)
type Flag = z.infer<typeof flagSchema>

/** A flag or a past date that removes the listing, with the reason for reports. */
const removalSchema = later(() =>
  z
    .strictObject({
      flag: flagSchema.optional().describe('A flag that removes the listing.'),
      past: z.string().min(1).optional().describe("Path of the date of the listing's last day."),
      formats: z
        .array(z.string().min(1))
        .min(1)
        .optional()
        .describe("Forms of that date; default: the preset's dates."),
      why: z.string().min(1).describe('The reason that reports give.'),
    })
    .refine(({ flag, past }) => (flag === undefined) !== (past === undefined), 'needs one of flag and past')
    .refine(({ past, formats }) => past !== undefined || formats === undefined, 'formats goes with past'),
)
type Removal = z.infer<typeof removalSchema>

const hostSchema = z
  .string()
  .refine((host) => hostOf(host) !== null, 'needs a host such as media.example.com, without http://, port and path')

/** Keys of presets and feeds. The first two add up; in the others the feed's value replaces the preset's. */
export const complianceShape = {
  removeWhen: optional(z.array(removalSchema), 'What removes a listing, apart from its status.'),
  hideAddress: optional(z.array(flagSchema), 'When street and coordinates must be hidden.'),
  comingSoon: optional(
    z.enum(['show', 'hide']),
    'hide: a listing that would be PreOnMarket is removed. Default: show.',
  ),
  attribution: optional(
    z.string().min(1),
    'Key of the ExtensionColumn entry that every listing must carry, such as ListOfficeName.',
  ),
  imagesNotFrom: optional(z.array(hostSchema), 'Hosts, with their subdomains, whose images may not be passed on.'),
}
type Written = z.output<z.ZodObject<typeof complianceShape>>

/** Whether a record removes its listing now; `later`: at a time that it names. */
type Removes = (record: RecordFields, moment: Moment) => boolean | 'later' | Unreadable

/** The paths of all flags and past dates that hide an address or remove a listing. */
export const pathsOfFlags = (
  both: readonly { hideAddress?: readonly Flag[] | undefined; removeWhen?: readonly Removal[] | undefined }[],
): string[] =>
  both.flatMap(({ hideAddress: hiding = [], removeWhen = [] }) => [
    ...hiding.map(({ from }) => from),
    ...removeWhen.map(({ flag, past = '' }) => flag?.from ?? past),
  ])

/**
 * `columns`: the keys that have a rule under `extension`. `attempt` runs `make`: if it throws, the error becomes a problem
 * after `label`, and the result is null.
 */
export function compileCompliance(
  preset: Written & { dates: string[] },
  options: Written,
  columns: Iterable<string>,
  paths: Paths,
  attempt: <Result>(label: string, make: () => Result) => Result | null,
  problems: string[],
) {
  const flags = <Written, Result>(key: string, written: readonly Written[], compile: (flag: Written) => Result) =>
    written.flatMap((flag, index) => attempt(`${key}.${index}`, () => compile(flag)) ?? [])
  const hiding = (flag: Flag) => compileFlag(flag, paths)
  const removing = ({ flag, past = '', formats = preset.dates, why }: Removal): { removes: Removes; why: string } => ({
    removes: flag === undefined ? compilePast(past, formats, paths) : compileFlag(flag, paths),
    why,
  })
  const both = [preset, options]

  const comingSoon = options.comingSoon ?? preset.comingSoon ?? 'show'
  const attribution = options.attribution ?? preset.attribution
  const known = new Set(columns)
  if (attribution !== undefined && !known.has(attribution)) {
    const remedy = didYouMean(attribution, known) || '; give it one'
    problems.push(`attribution: no column ${attribution} has a rule under extension${remedy}`)
  }
  const isBarred = hostTest(options.imagesNotFrom ?? preset.imagesNotFrom ?? [])

  return {
    removeWhen: both.flatMap(({ removeWhen = [] }) => flags('removeWhen', removeWhen, removing)),
    hideAddress: both.flatMap(({ hideAddress = [] }) => flags('hideAddress', hideAddress, hiding)),
    /** Why a listing may not be shown; null: it may. */
    forbids: ({ Status }: Partial<Listing>): string | null =>
      comingSoon === 'hide' && Status === 'PreOnMarket'
        ? 'coming soon, which this feed hides (comingSoon: hide)'
        : null,
    /**
     * Removes images that may not be passed on (`left`) from the listing, and their addresses from its texts.
     * `entries`: the columns that may be passed on.
     */
    withoutImages: (listing: Partial<Listing>, entries: ExtensionEntry[]) =>
      isBarred === null ? { entries, left: null } : leaveOut(listing, entries, isBarred),
    /** What is wrong with a listing that does not name its source; null: nothing. */
    unnamed(entries: readonly ExtensionEntry[]): Problem | null {
      if (attribution === undefined || entries.some(({ Key }) => Key === attribution)) return null
      const problem = 'is missing, but attribution requires it in every listing; ask the sender to fill it'
      return { field: `ExtensionColumn ${attribution}`, value: null, problem }
    },
  }
}

/**
 * Compiles the date on which a listing ends. Text that is not a date means no end: senders write `0000-00-00`, `0001-01-01` and the
 * like, and a feed could not switch off a rule of its preset.
 */
function compilePast(path: string, formats: readonly string[], paths: Paths): Removes {
  const select = paths.compile(path)
  const read = dateReader(formats)
  return (record, { now, timezone }) => {
    const date = read(select.first(record).trim())
    if (date === null || isZero(date)) return false
    return instantOf(date, date.minutes ?? 24 * 60, timezone) <= now ? true : 'later'
  }
}

/** Which of the hosts an address belongs to, subdomains included; null: no hosts are configured. */
function hostTest(written: readonly string[]): ((address: string) => string | null) | null {
  if (written.length === 0) return null
  const named = new Map(written.map((host) => [hostOf(host), host]))
  return (address) => {
    for (let host = hostOfAddress(address); host !== null && host !== '';) {
      const found = named.get(host)
      if (found !== undefined) return found
      const dot = host.indexOf('.')
      host = dot === -1 ? null : host.slice(dot + 1)
    }
    return null
  }
}

function leaveOut(listing: Partial<Listing>, entries: ExtensionEntry[], isBarred: (address: string) => string | null) {
  const left: Record<string, number> = {}
  const images = listing.Images?.filter((address) => {
    const host = isBarred(address)
    if (host !== null) left[host] = (left[host] ?? 0) + 1
    return host === null
  })
  if (images !== undefined && images.length > 0) listing.Images = images
  else if (images !== undefined) delete listing.Images

  rewrite(listing, (text) => withoutAddresses(text, isBarred, '…'))
  const clean = entries.flatMap((entry) => {
    const value = withoutAddresses(entry.value, isBarred, '')
    if (value === entry.value) return entry
    // Separators between removed addresses go too.
    const rest = withoutSeparators(value).replaceAll(/([,;|]\s*){2,}/g, '$1')
    return rest === '' ? [] : { ...entry, value: rest }
  })
  return { entries: clean, left: Object.keys(left).length === 0 ? null : left }
}

/** Without a regular expression: one anchored at the end starts again at every separator of a long run. */
function withoutSeparators(text: string): string {
  let [start, end] = [0, text.length]
  while (/[\s,;|]/.test(text.charAt(start))) start++
  while (end > start && /[\s,;|]/.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

/** An address in a text ends at a blank, or where the next one follows a list separator. */
const addresses = /(?:https?:)?\/\/(?:(?![,;|]\s*(?:https?:)?\/\/)[^\s<>"])+/gi

function withoutAddresses(text: string, isBarred: (address: string) => string | null, instead: string): string {
  if (!text.includes('//')) return text
  return text.replaceAll(addresses, (found) => {
    let length = found.length
    while (length > 0 && ',;|.)]'.includes(found[length - 1])) length--
    const address = found.startsWith('//') ? `http:${found}` : found
    return isBarred(address.slice(0, length - found.length || undefined)) === null
      ? found
      : instead + found.slice(length)
  })
}

/** Whether the record meets the condition, or why that is unreadable. Without a value it does not. */
function compileFlag(flag: Flag, paths: Paths): (record: RecordFields) => boolean | Unreadable {
  const select = paths.compile(flag.from)
  const words = new Set((flag.equals ?? []).map(wordKey))
  return (record) => {
    const text = select.first(record)
    if (saysNothing(text)) return false
    if (flag.is === undefined) return words.has(wordKey(text))
    const value = readBoolean(text)
    return value === null ? new Unreadable(text, `needs yes or no (${flag.from})`) : value === flag.is
  }
}

/** A host in its normal form: lower case, punycode, no final dot. Null if the text is not just a host. */
function hostOf(text: string): string | null {
  if (!/^[\p{L}\p{N}_-][\p{L}\p{M}\p{N}._-]*$/u.test(text)) return null
  return hostOfAddress(`http://${text}`)
}

/**
 * The host of an address, or null. Punctuation may follow an address in a sentence, and URL parsing takes some of it for
 * letters of the host: the host ends before it.
 */
function hostOfAddress(address: string): string | null {
  // Cut to its end, which tells whose the host is, as URL parsing takes quadratic time for a long one beyond ASCII.
  const near = address.replace(/^(https?:\/\/)[^/?#]*([^/?#]{300})/i, '$1$2')
  const [host] = /^[\w-]+(?:\.[\w-]+)*/.exec(URL.parse(near)?.hostname ?? '') ?? []
  return host ?? null
}

/** Removes street and coordinates from a listing. In titles and descriptions an ellipsis replaces the street. */
export function hideAddress(listing: Partial<Listing>, street: HiddenStreet | null): void {
  for (const name of ['Address', 'Latitude', 'Longitude'] as const) delete listing[name]
  if (street !== null) rewrite(listing, (text) => street.takenFrom(text))
}

/** Changes title and description; one of which only an ellipsis is left is removed. */
function rewrite(listing: Partial<Listing>, change: (text: string) => string): void {
  for (const name of ['Description', 'Location'] as const) {
    const text = listing[name] && change(listing[name])
    if (text === '…') delete listing[name]
    else if (text !== undefined) listing[name] = text
  }
}

/** Without the columns that name the street, addresses of tours among them. */
export function withoutStreet(entries: ExtensionEntry[], street: HiddenStreet | null): ExtensionEntry[] {
  return street === null ? entries : entries.filter(({ value }) => !street.isIn(value))
}
