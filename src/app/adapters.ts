/**
 * Report forms and stores by name. To add one, write its file and its line here. Formats and transports are in
 * feed/format/formats.ts and feed/transport/transports.ts.
 */
import { schemeOf } from '../config/config.ts'
import { UserError } from '../core/errors.ts'
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

/** How a store is opened, by what the configuration says under `store`. Throws `StoreError`. */
export interface StoreKind {
  /** Loads what is needed to open one; left out: nothing is. */
  load?(): Promise<unknown>
  open(address: string, place: Place): Store
  /** For reading only. */
  openReader(address: string, place: Pick<Place, 'formerly'>): StoreReader
  /** The runs that wait for whichever process on the store is free; left out: each process keeps its own. */
  openQueue?(address: string, log: Log): Promise<Queue>
  /** The pace of calls to a service; left out: each process keeps its own. */
  openPace?(address: string, baseUrl: string): Promise<Pace & { close(): Promise<void> }>
  /** Writes a whole copy to a new file; left out: such stores are backed up by means of their own. */
  backUp?(address: string, to: string): void | Promise<void>
}

/** Who has a file as store waits for nothing of this, and has none of it in memory. */
let loaded: typeof Postgres | null = null
const postgres: StoreKind = {
  load: async () => (loaded = await import('../store/postgres.ts')),
  open: (address, place) => loaded!.openPostgres(address, place),
  openReader: (address, place) => loaded!.openPostgresReader(address, place),
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

/** Its key in `stores`, if it has one. */
export const kindOf = (address: string): string => schemeOf(address) ?? 'file'

/** Throws `UserError` for a scheme that no store has. */
export function storeKind(address: string): StoreKind {
  const scheme = kindOf(address)
  if (Object.hasOwn(stores, scheme)) return stores[scheme]
  throw new UserError(
    `store: there is no ${scheme} store; use ${Object.keys(stores).join(', ')}, or the path of a file`,
  )
}
