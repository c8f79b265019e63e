/** A daemon on 24 homes that has read the service's list, and reads it once a week. */
import { afterEach, beforeEach, expect } from 'vitest'
import type { App } from '../../src/app/app.ts'
import { openApp } from '../../src/app/open.ts'
import { dearer, homes, zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'
import type { ReadReport } from '../support/run-world.ts'

export const minute = 60_000
export const hour = 60 * minute
export const all = homes(1, 24)
export const [first] = all
export const last = all.at(-1)!
/** Pages of two, so that a look-up takes fewer calls than the list: twelve, and the one that shows that no more come. */
export const service = { profile: { pageSize: 2 }, attempts: 2 }
export const north = { observe: '7d', volatile: { refresh: '365d' } }
export const readsTheList = { observed: { lookedUp: null } }
export const readsNone = { observed: { lookedUp: expect.any(Number) } }

export let world: RunWorld
export let daemon: App

/** Each test of the file has a world and a daemon of its own. */
export function beginEach(): void {
  beforeEach(async () => {
    world = await RunWorld.start({ feeds: { north }, service })
    daemon = openApp(world.context, { logLevel: 'error' })
    for (const _ of ['the first load', 'a list of it']) await run(all)
  })
  afterEach(async () => {
    await daemon.close()
    await world.end()
  })
}

/** A run of the daemon on these homes, a quarter of an hour after the last one. */
export function run(some: readonly Home[] = all, command: 'sync' | 'diff' | 'backfill' = 'sync'): Promise<ReadReport> {
  world.deliver(zillowFeed(some))
  world.clock.advance(15 * minute)
  return world.run(command, 'north', daemon)
}

export const changed = (...some: Home[]): Home[] => all.map((home) => (some.includes(home) ? dearer(home) : home))
