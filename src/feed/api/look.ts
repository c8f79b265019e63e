/**
 * A look at a live source before it is used: one page of its records, and what its vendor's rules mean for this feed. Nothing is
 * kept.
 */
import { nameOf } from '../transport/address.ts'
import type { Gate } from './gate.ts'
import { Api } from './query.ts'
import { kept, unpacked } from './record.ts'
import type { ResoSettings } from './settings.ts'
import type { Limits, Vendor } from './vendors.ts'

/** All lists are of sentences without a full stop. */
export interface LiveFacts {
  /** Its title. */
  vendor: string
  /** How many records there are by the source's own count; null: it is not asked for one. */
  counted: number | null
  /** What the vendor lets ask. */
  limits: string[]
  /** What may not be shown. */
  licence: string[]
  /** What the limits mean for loading and for the schedule. */
  schedule: string[]
  /** Settings of `source` that are missing. */
  settings: { write: string; why: string }[]
}

export interface Look {
  /** The source, without what is secret of it. */
  name: string
  /** The records of the page, one a line, as `refresh` delivers them. */
  lines: Buffer
  facts: LiveFacts
}

export interface LookOptions {
  signal: AbortSignal
  /** Records to look at; the page holds fewer where the vendor does not give so many. */
  most: number
  /** How often a day the schedule runs; null: by hand. */
  runs: number | null
}

const day = 86_400_000

/** Asks for one page, of the latest records where the vendor takes an order, and for the count. Throws `FeedError`, and the signal's reason. */
export async function lookAt(settings: ResoSettings, gate: Gate, { signal, most, runs }: LookOptions): Promise<Look> {
  const api = new Api(settings, gate, signal)
  const { vendor } = api
  const filter = vendor.visible === null ? [] : [`${vendor.visible} eq true`]
  const top = Math.min(most, api.top.records)
  const { rows } = await api.ask(api.url({ filter, what: 'records', order: [`${vendor.stamp} desc`], top }))
  const counted = vendor.counts ? await api.count() : null
  const lines = rows.map((row) => unpacked(kept(row, vendor)))
  const records = lines.map((line) => JSON.parse(line.toString()) as Record<string, unknown>)
  const sent = rows.reduce((sum, { record }) => sum + pictures(record), 0)
  const lasting = records.reduce((sum, record) => sum + pictures(record), 0)
  const lacksMedia = records.length > 0 && sent === 0 && vendor.noPictures === null
  return {
    name: nameOf(gate.root),
    lines: Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')])),
    facts: {
      vendor: vendor.title,
      counted,
      limits: [limitsOf(vendor)],
      licence: licenceOf(vendor, records, sent - lasting, sent),
      schedule: scheduleOf(api, counted, runs),
      settings:
        lacksMedia && !settings.expand?.includes('Media')
          ? [
              {
                write: `expand: [${[...(settings.expand ?? []), 'Media'].join(', ')}]`,
                why: 'no record has Media, so that listings would be without Images; under source',
              },
            ]
          : [],
    },
  }
}

function pictures({ Media: media }: Readonly<Record<string, unknown>>): number {
  return Array.isArray(media) ? media.length : 0
}

function limitsOf({ title, limits }: Vendor): string {
  const { second, minute, hour, day: daily, hourBytes, dayBytes } = limits
  const isPublished = [minute, hour, daily].some((limit) => limit < Infinity)
  if (!isPublished) return `${title} publishes no limits that are known; it is asked at most ${second} times a second`
  const requests: [number, string][] = [
    [second, 'a second'],
    [minute, 'a minute'],
    [hour, 'an hour'],
    [daily, 'a day'],
  ]
  const bytes: [number, string][] = [
    [hourBytes / 1e9, 'GB an hour'],
    [dayBytes / 1e9, 'GB a day'],
  ]
  const said = [...requests, ...bytes].flatMap(([most, per]) => (most < Infinity ? `${grouped(most)} ${per}` : []))
  return `requests to ${title}: at most ${said.join(', ')}, for all feeds with the same credentials together; they are kept to`
}

function licenceOf(
  { title, noPictures }: Vendor,
  records: readonly Record<string, unknown>[],
  left: number,
  sent: number,
): string[] {
  const unlicensed = records.filter((record) => record['@@Licensed'] === false).length
  return [
    ...(noPictures === null ? [] : [`listings of ${title} have no Images: ${noPictures}`]),
    ...(noPictures === null && left > 0
      ? [`${left} of ${sent} pictures have an address that ends after a time, and are left out`]
      : []),
    ...(unlicensed > 0
      ? [
          `${unlicensed} of ${records.length} records are licensed for neither IDX nor VOW (MlgCanUse) and are not shown`,
        ]
      : []),
  ]
}

function scheduleOf({ vendor, top, settings }: Api, counted: number | null, runs: number | null): string[] {
  const { title, memory } = vendor
  // A vendor that does not count is walked twice; one that does is asked for the count before and after.
  const walk = counted === null ? null : Math.ceil(counted / top.keys) + 2
  const often = settings.keys / day
  const most = mostADay(vendor.limits)
  const said =
    counted === null
      ? [
          `how many records there are is not asked: a first load takes a request for each ${grouped(top.records)} of them, and a walk of all keys two for each ${grouped(top.keys)}`,
        ]
      : [
          `a first load of ${grouped(counted)} records takes about ${grouped(Math.ceil(counted / top.records) + 1)} requests, a walk of all keys ${grouped(walk!)}`,
        ]
  if (runs === null) said.push('there is no schedule; a run takes one request or more')
  else {
    const walks = walk === null ? 0 : Math.min(runs, 1 / often) * walk
    const all = Math.ceil(runs + walks)
    const beside = walk === null ? ', beside the walks' : ', walks of all keys included'
    const of = most < Infinity ? `, of ${grouped(most)}` : ''
    const excess = all > most ? ': more than the vendor takes, so that runs will end early; let it run less often' : ''
    said.push(`the schedule makes ${grouped(runs)} runs a day: about ${grouped(all)} requests${beside}${of}${excess}`)
  }
  if (memory < Infinity)
    said.push(
      `${title} tells of a removal for some days only: after ${memory / day} days without a run all keys are walked first`,
    )
  return said
}

/** Requests that the narrowest limit leaves in a day; Infinity: none is published. */
function mostADay({ minute, hour, day: daily }: Limits): number {
  return Math.min(daily, 24 * hour, 24 * 60 * minute)
}

const grouped = (count: number): string => count.toLocaleString('en-US')
