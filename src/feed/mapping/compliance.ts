/**
 * Keeps a listing to what its MLS lets be shown: opt-outs of the record, listings that are coming soon, the source that
 * must be named, images that may not be passed on, addresses that are hidden. As it is written, and as it is carried out.
 */
import { z } from 'zod'
import type { ExtensionEntry, ImagesLeftOut, Listing, Problem } from '../../core/listing.ts'
import type { RecordFields } from '../format/format.ts'
import { Unreadable } from './converters/converter.ts'
import type { Making } from './converters/converter.ts'
import { dateReader, instantOf } from './converters/date.ts'
import type { Moment } from './mapping.ts'
import { didYouMean } from './names.ts'
import type { Paths } from './path.ts'
import { readBoolean, saysNothing, wordKey } from './vocabulary.ts'

/** Something a record says of itself: yes or no (`is`), or one of some words (`equals`, by the vocabulary's matching rule). */
const flagSchema = z
  .strictObject({
    from: z.string().min(1),
    is: z.boolean().optional(),
    equals: z.array(z.string()).min(1).optional(),
  })
  .refine((flag) => (flag.is === undefined) !== (flag.equals === undefined), 'needs one of is and equals')
type Flag = z.infer<typeof flagSchema>

/** A flag, or a date that is past, that takes its listing off, and why in words for a person. */
const removalSchema = z
  .strictObject({
    flag: flagSchema.optional(),
    past: z.string().min(1).optional().describe('Path of the date on which the listing ends, that day included.'),
    formats: z.array(z.string().min(1)).min(1).optional().describe("Forms of that date; default: the preset's dates."),
    why: z.string().min(1),
  })
  .refine(({ flag, past }) => (flag === undefined) !== (past === undefined), 'needs one of flag and past')
  .refine(({ past, formats }) => past !== undefined || formats === undefined, 'formats goes with past')
type Removal = z.infer<typeof removalSchema>

const hostSchema = z
  .string()
  .refine((host) => hostOf(host) !== null, 'needs a host such as media.example.com, without http://, port and path')

/**
 * The keys of a preset and of a feed alike. Of the first two, both count; of the others a feed's word wins over its
 * preset's.
 */
export const complianceShape = {
  removeWhen: z.array(removalSchema).optional().describe('What else than a status takes a listing off.'),
  hideAddress: z.array(flagSchema).optional().describe('What forbids to show street and coordinates.'),
  comingSoon: z
    .enum(['show', 'hide'])
    .optional()
    .describe('hide: a listing that would be PreOnMarket is taken off. Default: show.'),
  attribution: z
    .string()
    .min(1)
    .optional()
    .describe('Key of the ExtensionColumn entry that every listing must carry, such as ListOfficeName.'),
  imagesNotFrom: z
    .array(hostSchema)
    .optional()
    .describe('Hosts, with their subdomains, whose addresses of images may not be passed on.'),
}
type Written = z.output<z.ZodObject<typeof complianceShape>>

/** Runs `make`; what it throws becomes a problem with the label before it, and the result null. */
type Attempt = <Result>(label: string, make: () => Result) => Result | null

type Raised = (record: RecordFields) => boolean | Unreadable

/** Whether a record takes its listing off now; `later`: not yet, but time alone will. */
type Removes = (record: RecordFields, moment: Moment) => boolean | 'later' | Unreadable

/** Columns as they may be passed on, and the images that may not be. */
interface Kept {
  entries: ExtensionEntry[]
  left: ImagesLeftOut | null
}

export interface Compliance {
  removeWhen: { removes: Removes; why: string }[]
  hideAddress: Raised[]
  /** Why a listing that the record would give may not be shown; null where it may. */
  forbids(listing: Partial<Listing>): string | null
  /** Takes images that may not be passed on off the listing, and their addresses out of its texts. */
  withoutImages(listing: Partial<Listing>, entries: ExtensionEntry[]): Kept
  /** What is wrong with a listing that does not name its source; null where it does, or need not. */
  unnamed(entries: readonly ExtensionEntry[]): Problem | null
}

/** Compiles the switches of a preset and a feed; `columns` are the keys that have a rule under `extension`. */
export function compileCompliance(
  preset: Written & { dates: string[] },
  options: Written,
  columns: Iterable<string>,
  paths: Paths,
  attempt: Attempt,
  problems: string[],
): Compliance {
  const flags = <Written, Result>(key: string, written: readonly Written[], compile: (flag: Written) => Result) =>
    written.flatMap((flag, index) => attempt(`${key}.${index}`, () => compile(flag)) ?? [])
  const hiding = (flag: Flag): Raised => compileFlag(flag, paths)
  const removing = ({ flag, past = '', formats = preset.dates, why }: Removal): Compliance['removeWhen'][number] => ({
    removes: flag === undefined ? compilePast(past, formats, paths) : compileFlag(flag, paths),
    why,
  })

  const comingSoon = options.comingSoon ?? preset.comingSoon ?? 'show'
  const attribution = options.attribution ?? preset.attribution
  const known = new Set(columns)
  if (attribution !== undefined && !known.has(attribution)) {
    const remedy = didYouMean(attribution, known) || '; give it one'
    problems.push(`attribution: no column ${attribution} has a rule under extension${remedy}`)
  }
  const isBarred = hostTest(options.imagesNotFrom ?? preset.imagesNotFrom ?? [])

  return {
    removeWhen: [
      ...flags('removeWhen', preset.removeWhen ?? [], removing),
      ...flags('removeWhen', options.removeWhen ?? [], removing),
    ],
    hideAddress: [
      ...flags('hideAddress', preset.hideAddress ?? [], hiding),
      ...flags('hideAddress', options.hideAddress ?? [], hiding),
    ],
    forbids: ({ Status }) =>
      comingSoon === 'hide' && Status === 'PreOnMarket'
        ? "coming soon, which this feed's rules do not let be shown (comingSoon: hide)"
        : null,
    withoutImages: (listing, entries) =>
      isBarred === null ? { entries, left: null } : leaveOut(listing, entries, isBarred),
    unnamed(entries) {
      if (attribution === undefined || entries.some(({ Key }) => Key === attribution)) return null
      const problem = 'is missing, and attribution wants every listing to carry it; have the sender fill it'
      return { field: `ExtensionColumn ${attribution}`, value: null, problem }
    },
  }
}

/**
 * Compiles the date on which a listing ends. What is no date says nothing: senders write `0000-00-00` and the like for
 * "no end", and a feed could not switch its preset's rule off.
 */
function compilePast(path: string, formats: readonly string[], paths: Paths): Removes {
  const select = paths.compile(path)
  const read = dateReader(formats)
  return (record, { now, timezone }) => {
    const date = read(select.first(record).trim())
    if (date === null) return false
    return instantOf(date, date.minutes ?? 24 * 60, timezone) <= now ? true : 'later'
  }
}

/** Sets `making.removal` where the listing may not be shown; a reason that is there already stays. */
export function removeForbidden(making: Making, compliance: Compliance): void {
  making.removal ??= compliance.forbids(making.listing)
}

/** Tells which of the hosts an address belongs to, being it or below it; null where there are no hosts. */
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

function leaveOut(
  listing: Partial<Listing>,
  entries: ExtensionEntry[],
  isBarred: (address: string) => string | null,
): Kept {
  const left: Record<string, number> = {}
  const images = listing.Images?.filter((address) => {
    const host = isBarred(address)
    if (host !== null) left[host] = (left[host] ?? 0) + 1
    return host === null
  })
  if (images !== undefined && images.length > 0) listing.Images = images
  else delete listing.Images

  for (const name of ['Description', 'Location'] as const) {
    const text = listing[name]
    if (text === undefined) continue
    const clean = withoutAddresses(text, isBarred, '…')
    if (clean === '…') delete listing[name]
    else listing[name] = clean
  }
  const clean = entries.flatMap((entry) => {
    const value = withoutAddresses(entry.value, isBarred, '')
    if (value === entry.value) return entry
    // What stood between addresses says nothing without them.
    const rest = value.replaceAll(/^[\s,;|]+|[\s,;|]+$/g, '').replaceAll(/([,;|]\s*){2,}/g, '$1')
    return rest === '' ? [] : { ...entry, value: rest }
  })
  return { entries: clean, left: Object.keys(left).length === 0 ? null : left }
}

/** An address in a text ends at a blank, or where after a mark of a list the next one begins. */
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

/** Compiles a flag: whether the record raises it, or why that can't be told. A record without a word does not. */
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

/**
 * A host as the web compares hosts: lower case, punycode, no dot at the end. Null where the text is not a host alone.
 */
function hostOf(text: string): string | null {
  if (!/^[\p{L}\p{N}_-][\p{L}\p{M}\p{N}._-]*$/u.test(text)) return null
  return hostOfAddress(`http://${text}`)
}

/**
 * The same of an address; null where it has none that can be read. In a sentence a mark may follow the address at once,
 * and some marks are letters of a host to the web's rules: the host ends before them.
 */
function hostOfAddress(address: string): string | null {
  const [host] = /^[\w-]+(?:\.[\w-]+)*/.exec(URL.parse(address)?.hostname ?? '') ?? []
  return host ?? null
}

/** Shortest street that is looked for in other texts: `1 A` would be found everywhere. */
const shortest = 5
/** So much of a street is enough to find it; an expression of a whole description is too large to be one. */
const longest = 200

/** What to look for in other texts: the street without its unit, so that `2/39 Main Road` and `39 Main Road #2` are one. */
export function hiddenStreet(street: string | undefined): string | null {
  const bare = street
    ?.replace(/\s(?:#|(?:apt|apartment|unit|suite|ste)\.?\s)\s*\S+$/i, '')
    .replace(/^[^/]{1,20}\/(?=\d)/, '')
    .toLowerCase()
  return bare === undefined || bare.length < shortest ? null : bare.slice(0, longest)
}

/**
 * Takes street and coordinates off a listing. What may not be shown in one place must not be shown in another: where titles
 * and descriptions name the street, an ellipsis stands for it.
 */
export function hideAddress(listing: Partial<Listing>, street: string | null): void {
  for (const name of ['Address', 'Latitude', 'Longitude'] as const) delete listing[name]
  if (street === null) return
  const pattern = new RegExp(street.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`), 'gi')
  for (const name of ['Description', 'Location'] as const) {
    const text = listing[name]?.replaceAll(pattern, '…')
    if (text === '…') delete listing[name]
    else if (text !== undefined) listing[name] = text
  }
}

/** Columns that name the street are left out with it. */
export function withoutStreet(entries: ExtensionEntry[], street: string | null): ExtensionEntry[] {
  return street === null ? entries : entries.filter(({ value }) => !value.toLowerCase().includes(street))
}
