/**
 * Keeps a listing to what its MLS lets be shown: opt-outs of the record, listings that are coming soon, the source that
 * must be named, images that may not be passed on (domain traps 25, 34, 35).
 */
import type { ExtensionEntry, ImagesLeftOut, Listing, Problem } from '../../core/listing.ts'
import type { RecordFields } from '../format/format.ts'
import { hostOf, hostOfAddress } from './compliance-schema.ts'
import type { Flag, Removal } from './compliance-schema.ts'
import type { Making, Unreadable } from './converters/converter.ts'
import { dateReader, instantOf } from './converters/date.ts'
import type { Moment } from './mapping.ts'
import type { Paths } from './path.ts'
import type { Preset } from './preset.ts'
import { compileFlag } from './record-rules.ts'
import { didYouMean } from './schema.ts'
import type { MappingOptions } from './schema.ts'

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
  preset: Preset,
  options: MappingOptions,
  columns: Iterable<string>,
  paths: Paths,
  attempt: Attempt,
  problems: string[],
): Compliance {
  const flags = <Written, Result>(key: string, written: readonly Written[], compile: (one: Written) => Result) =>
    written.flatMap((one, index) => attempt(`${key}.${index}`, () => compile(one)) ?? [])
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
