/** Gets one page of a live source, to look at. Nothing of it is kept. */
import { nameOf } from '../transport/address.ts'
import type { Gate } from './gate.ts'
import { Api } from './query.ts'
import { kept, unpacked } from './record.ts'
import type { ResoSettings } from './settings.ts'
import type { Vendor } from './vendors.ts'

export interface Sample {
  name: string
  /** Its records as `refresh` delivers them: JSON, one on each line. */
  bytes: Buffer
  /** How many records the source has; null: it does not count them, or all may be on this page. */
  all: number | null
  vendor: Vendor
  /** What the vendor's limits mean for a feed that is read on a schedule, as sentences. */
  schedule: string[]
}

/** Asks for the first page of a source, and for the number of records. Throws `FeedError`, and the signal's reason. */
export async function sampleOf(settings: ResoSettings, gate: Gate, signal: AbortSignal): Promise<Sample> {
  const api = new Api(settings, gate, signal)
  const { vendor } = api
  const filter = vendor.visible === null ? [] : [`${vendor.visible} eq true`]
  const page = await api.ask(api.url({ filter, what: 'records', order: [vendor.stamp, 'ListingKey'] }))
  api.assertDated(page.rows)
  const isAll = page.next === null && page.rows.length < api.top.records
  const all = vendor.counts ? await api.count() : isAll ? page.rows.length : null
  const lines = page.rows.map((row) => `${unpacked(kept(row, vendor)).toString()}\n`)
  return { name: nameOf(gate.root), bytes: Buffer.from(lines.join('')), all, vendor, schedule: scheduleOf(api, all) }
}

const minutes = (milliseconds: number): string => {
  const count = Math.ceil(milliseconds / 60_000)
  return count === 1 ? 'a minute' : count < 120 ? `${count} minutes` : `${Math.round(count / 60)} hours`
}

function scheduleOf(api: Api, all: number | null): string[] {
  const { vendor, top, settings } = api
  const { second, minute, hour, day } = vendor.limits
  const limits = [
    [second, 'a second'],
    [minute, 'a minute'],
    [hour, 'an hour'],
    [day, 'a day'],
  ] as const
  const allowances = limits
    .filter(([most]) => most < Infinity)
    .map(([most, time], index) => `${most.toLocaleString('en-US')}${index === 0 ? ' requests' : ''} ${time}`)
  const sentences = [
    `${vendor.title} takes ${allowances.join(', ')}, for all feeds with these credentials together. A run without changes makes about two`,
  ]
  if (all !== null) {
    const walks = vendor.counts ? 1 : 2
    const load = Math.ceil(all / top.records)
    const walk = Math.ceil(all / top.keys) * walks
    const rate = Math.min(second, minute / 60, hour / 3600)
    const times = (requests: number): string => (requests === 1 ? 'once' : `${requests.toLocaleString('en-US')} times`)
    const took = (requests: number): string => minutes((requests / rate) * 1000)
    sentences.push(
      `the first load asks ${times(load)} and takes at least ${took(load)}; a walk of all keys (keys) asks ${times(walk)} and takes at least ${took(walk)}`,
    )
  }
  if (vendor.memory < Infinity)
    sentences.push(
      `it tells a removal for a few days only: after ${minutes(vendor.memory).replace(/(\d+) hours/, (_, hours: string) => `${Number(hours) / 24} days`)} without a run all keys are walked`,
    )
  sentences.push(`absence deletes nothing but after a walk of all keys, due every ${minutes(settings.keys)}`)
  return sentences
}
