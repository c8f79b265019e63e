/** An office of twenty homes, from night to night: what its feed says, and what becomes of it. */
import { afterEach, beforeEach, expect } from 'vitest'
import { homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour
export const all = homes(1, 20)
export const volatile = { refresh: '365d' }
/** More than may leave of twenty. */
export const sixGone = all.slice(6)

export let world: RunWorld

/** Every test of the file has a world of its own. */
export function playNights(): void {
  beforeEach(start)
  afterEach(() => world.end())
}

async function start(): Promise<void> {
  world = await RunWorld.start({ feeds: { north: { volatile } } })
}

/** Goes on in a world of which nothing is known yet. */
export async function anew(): Promise<void> {
  await world.end()
  await start()
}

/** Loads these homes and lets the service be seen once, so that all is known. */
export async function loaded(some: readonly Home[] = all, feed: object = {}): Promise<void> {
  world.configure({ north: { volatile, ...feed } })
  world.deliver(zillowFeed(some))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: some.length } })
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { unchanged: some.length } })
  world.calls()
}

/** A run on these homes a day after the last one. */
export function night(feed: readonly Home[] | string, after = day): Promise<ReadReport> {
  world.clock.advance(after)
  world.deliver(typeof feed === 'string' ? feed : zillowFeed(feed))
  return world.run()
}

export async function nights(count: number, feed: readonly Home[] | string): Promise<ReadReport> {
  for (let i = 1; i < count; i++) await night(feed)
  return night(feed)
}

export const there = (): string[] => world.numbers()
export const of = (report: ReadReport, kind: string): string[] =>
  report.changes.flatMap((change) => (change.kind === kind ? [change.mlsNumber] : [])).toSorted()
/** What is carried out, by kind, without fields whose turn it is. */
export const planned = ({ changes }: ReadReport): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { kind, cause } of changes) if (cause !== 'refresh') counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
export const notes = (report: ReadReport): string => report.notes.join('\n')
/** The rules that hold something. */
export const rules = ({ holds }: ReadReport): string[] => holds.map(({ rule }) => rule)
export const priceOf = ({ mlsNumber, rental }: Home): unknown =>
  world.listing(mlsNumber)?.[rental ? 'RentPrice' : 'SalePrice']
export const times =
  (factor: number) =>
  (home: Home): Home => ({ ...home, price: home.price * factor })
/** The first ones changed, and the rest as they were. */
export const changed = (count: number, change: (home: Home) => Home, some: readonly Home[] = all): Home[] => [
  ...some.slice(0, count).map(change),
  ...some.slice(count),
]
export const renumbered = (home: Home): Home => ({ ...home, mlsNumber: `NEW-${home.mlsNumber}` })

/** Nothing was deleted, and whatever is not there is held by this rule. */
export function heldDeletes(report: ReadReport, count: number, sentence: string): void {
  expect(report.result).toBe('held')
  const holds = report.changes.filter((change) => change.kind === 'hold')
  expect(holds.map((change) => change.held)).toEqual(Array.from({ length: count }, () => 'delete'))
  expect(notes(report)).toContain(sentence)
  expect(world.calls()).toMatchObject({ Delete: 0 })
}
