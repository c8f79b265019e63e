/** The store under test on a real PostgreSQL: asked past its code, at once, and cut off where a process dies. */
import { openPostgres } from '../../src/store/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { Disk } from './disk.ts'
import type { PutBack } from './disk.ts'
import type { VirtualTime } from './time.ts'
import type { Window } from './window.ts'

let databases = 0

/** Where the stores of histories are made. */
export interface Site {
  window: Window
  /** The server, as its administrator enters it. */
  address: string
  /** Name of an empty store, which others are copies of. */
  empty: string
}

export class PostgresDisk extends Disk {
  store: Store
  readonly #site: Site
  readonly #time: VirtualTime
  readonly #name = `simulated_${++databases}`
  readonly #address: string

  /** An empty store in a database of its own, or one from a backup. No time passes while it works. */
  constructor(site: Site, time: VirtualTime, backup: string | null = null) {
    super()
    this.#site = site
    this.#time = time
    this.#address = site.address.replace(/[^/]+$/, this.#name)
    site.window.ask(site.address, `CREATE DATABASE ${this.#name} TEMPLATE ${backup ?? site.empty}`)
    if (backup === null) this.all("UPDATE meta SET lineage = replace(gen_random_uuid()::text, '-', '')")
    this.store = this.#open()
  }

  #open(): Store {
    return timed(openPostgres(this.#address), this.#time)
  }

  protected all<Row>(sql: string, ...values: (string | number)[]): Row[] {
    return this.#site.window.ask(this.#address, sql, ...values)
  }

  bytes(): Buffer {
    const tables = this.all<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`,
    )
    const rows = tables.map(({ name }) => this.all(`SELECT t::text FROM ${name} AS t ORDER BY 1`))
    return Buffer.from(JSON.stringify([tables, rows]))
  }

  /** The server puts an end to the connections of the dead, and time to its leases. */
  async outlive(): Promise<void> {
    const dead = this.store
    this.all(
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'listing-sync'`,
    )
    this.all('UPDATE lease SET expires = clock_timestamp()')
    this.store = this.#open()
    await dead.close()
  }

  cameKeylessAfter(feed: string, key: string): boolean {
    const came = this.all(
      `SELECT 1 FROM feed, json_array_elements(feed.keyless::json) AS record, absence
      WHERE name = $1 AND absence.feed = name AND absence.key = $2 AND (record ->> 'since')::bigint > absence.since LIMIT 1`,
      feed,
      key,
    )
    return came.length > 0
  }

  /** A copy of the database; the one that is made from it later is found out by the place where it lies. */
  async backUp(): Promise<PutBack> {
    const backup = `simulated_${++databases}`
    await this.store.close()
    this.#site.window.ask(this.#address, null)
    this.#site.window.ask(this.#site.address, `CREATE DATABASE ${backup} TEMPLATE ${this.#name}`)
    this.store = this.#open()
    return () => new PostgresDisk(this.#site, this.#time, backup)
  }

  close(): Promise<void> {
    return this.store.close()
  }

  /** Removes all databases of a site that histories have left. */
  static clear({ window, address }: Site): void {
    const left = window.ask<{ name: string }>(
      address,
      "SELECT datname AS name FROM pg_database WHERE datname LIKE 'simulated%'",
    )
    for (const { name } of left) window.ask(address, `DROP DATABASE ${name} WITH (FORCE)`)
  }
}

/** The store, while each of whose answers is on its way no time passes. */
function timed(store: Store, time: VirtualTime): Store {
  const waited = async <Value>(answer: Promise<Value>): Promise<Value> => {
    time.committing++
    try {
      return await answer
    } finally {
      time.committing--
    }
  }
  async function* walked(pages: AsyncIterable<unknown>): AsyncGenerator {
    const walk = pages[Symbol.asyncIterator]()
    try {
      for (let next = await waited(walk.next()); next.done !== true; next = await waited(walk.next())) yield next.value
    } finally {
      await walk.return?.()
    }
  }
  const method =
    (asked: (...values: unknown[]) => unknown) =>
    (...values: unknown[]): unknown => {
      const answer = asked(...values)
      if (answer instanceof Promise) return waited(answer)
      return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer
        ? walked(answer as AsyncIterable<unknown>)
        : answer
    }
  const part = (value: unknown): unknown =>
    typeof value === 'function'
      ? method(value as never)
      : Object.fromEntries(Object.entries(value as object).map(([name, value]) => [name, part(value)]))
  const all = part(store) as Store
  return {
    ...all,
    lease: async (...words) => {
      const lease = await all.lease(...words)
      return { ...lease, release: () => waited(lease.release()) }
    },
  }
}
