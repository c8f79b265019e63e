/**
 * Report forms and stores by name. To add one, write its file and its line here. Formats and transports are in
 * feed/format/formats.ts and feed/transport/transports.ts.
 */
import { schemeOf } from '../config/config.ts'
import { StoreConfigError } from '../core/errors.ts'
import type { Log } from '../core/machine.ts'
import type { Pace } from '../core/shared-limiter.ts'
import type { FormOptions, ReportForm } from '../report/report.ts'
import { backUp } from '../store/backup.ts'
import type * as Postgres from '../store/postgres.ts'
import type { Queue } from '../store/queue.ts'
import { openStore, openStoreReader } from '../store/sqlite.ts'
import type { Place } from '../store/sqlite.ts'
import type { Store, StoreReader } from '../store/store.ts'

/** Forms of a report; each is loaded when first used. */
export const reportForms: Record<string, () => Promise<(options: FormOptions) => ReportForm>> = {
  text: async () => (await import('../report/text.ts')).textForm,
  json: async () => (await import('../report/json.ts')).jsonForm,
  markdown: async () => (await import('../report/markdown.ts')).markdownForm,
  html: async () => (await import('../report/html.ts')).htmlForm,
}

/** A kind of store, as the configuration names it under `store`. Methods throw `StoreError`. */
export interface StoreKind {
  /** Loads what is needed to open one; left out: nothing is. */
  load?(): Promise<unknown>
  open(address: string, place: Place): Store
  /** For reading only. */
  openReader(address: string, place: Pick<Place, 'formerly'>): StoreReader
  /** Rejects if one that can be read takes no writes now; left out: its files tell. */
  assertTakesWrites?(address: string): Promise<void>
  /** The queue of runs that any free process on the store takes; left out: each process keeps its own. */
  openQueue?(address: string, log: Log): Promise<Queue>
  /** The pace of calls to a service that all processes share; left out: each process keeps its own. */
  openPace?(address: string, baseUrl: string): Promise<Pace & { close(): Promise<void> }>
  /** Writes a whole copy to a new file; left out: such stores have backups of their own. */
  backUp?(address: string, to: string): void | Promise<void>
}

/** Loaded on demand, so that with a file as store none of it takes time or memory. */
let loaded: typeof Postgres | null = null
const postgres: StoreKind = {
  load: async () => (loaded = await import('../store/postgres.ts')),
  open: (address, place) => loaded!.openPostgres(address, place),
  openReader: (address, place) => loaded!.openPostgresReader(address, place),
  assertTakesWrites: (address) => loaded!.assertTakesWrites(address),
  openQueue: async (address, log) => (await import('../store/postgres/queue.ts')).openQueue(address, log),
  openPace: async (address, baseUrl) => (await import('../store/postgres/pace.ts')).openPace(address, baseUrl),
  backUp: async (address, to) => (await import('../store/migrate.ts')).backUpPostgres(address, to),
}

/** Stores by the scheme of their address; one without a scheme is a `file`. */
export const stores: Record<string, StoreKind> = {
  file: {
    open: (file, place) => openStore(file, undefined, place),
    openReader: (file, place) => openStoreReader(file, undefined, place),
    backUp,
  },
  postgres,
  postgresql: postgres,
}

/** The key in `stores` for an address. */
export const kindOf = (address: string): string => schemeOf(address) ?? 'file'

/** Throws `StoreConfigError` for a scheme that no store has. */
export function storeKind(address: string): StoreKind {
  const scheme = kindOf(address)
  if (Object.hasOwn(stores, scheme)) return stores[scheme]
  const others = Object.keys(stores).filter((name) => name !== 'file')
  throw new StoreConfigError(
    `store: there is no ${scheme} store; use ${others.map((name) => `${name}://`).join(', ')} or the path of a file`,
  )
}
