/** The store on PostgreSQL, for several machines at once: opened for writing or for reading. */
import { StoreConfigError } from '../core/errors.ts'
import { many } from '../core/text.ts'
import type { Formerly } from './formerly.ts'
import { createChanges } from './postgres/changes.ts'
import { openDoor } from './postgres/door.ts'
import type { Asker, Door } from './postgres/door.ts'
import { placeOf, storeError } from './postgres/failure.ts'
import { createDeliveries, createLearnt, createRecords } from './postgres/feeds.ts'
import { handOver, leftOf } from './postgres/formerly.ts'
import { createHolds } from './postgres/holds.ts'
import { assertClock, createLeases, databaseNow, leaseTime } from './postgres/lease.ts'
import { createHistory, createLedger } from './postgres/ledger.ts'
import { createRuns } from './postgres/runs.ts'
import { steps } from './postgres/schema.ts'
import { createSnapshot } from './postgres/snapshot.ts'
import type { Store, StoreReader } from './store.ts'

/** How a store is opened, beside its address. */
export interface PostgresOptions {
  /** Former names of feeds: what is kept under them belongs to the present names. */
  formerly?: Formerly
  /** Told what feeds took over from their former names. */
  warn?: (remark: string) => void
  /** Milliseconds after which a lease ends that is not renewed. */
  leaseTime?: number
  migrations?: readonly string[]
}

/** The oldest major version that is still maintained. */
const oldest = 14
/** The number ("LSYN") of the advisory lock under which one process at a time brings the schema up to date. */
const lockNumber = 0x4c53594e

/**
 * The store in the database of an address, postgres://USER:PASSWORD@HOST/DATABASE, for reading and writing. It connects with its
 * first use, and makes or updates its tables then. That use rejects with a `StoreError` if the database can't be reached or this
 * machine's clock is off; the error has exit status 78 if the database refuses the user, is too old, or has a newer schema.
 */
export function openPostgres(address: string, options: PostgresOptions = {}): Store {
  const { formerly = new Map(), warn = () => undefined, migrations = steps } = options
  const leases = createLeases(() => door, options.leaseTime ?? leaseTime)
  const door: Door = openDoor(address, {
    readOnly: false,
    chatbotOf: (feed) => leases.chatbotOf(feed),
    assertMayWrite: (lane, asker) => leases.assertMayWrite(lane, asker),
    async prepare(asker, transaction) {
      await assertFit(asker, placeOf(address))
      await transaction(async (asker) => {
        await migrateOnce(asker, migrations, placeOf(address))
        await takeOver(asker)
      })
    },
  })

  async function takeOver(asker: Asker): Promise<void> {
    await asker.run('SELECT pg_advisory_xact_lock($1)', [lockNumber])
    for (const { feed, from, listings } of await handOver(asker, formerly))
      warn(`${feed} took over ${many(listings, 'listing')} that the store had under ${from} (formerly)`)
  }

  return {
    ...rolesOn(door, leases),
    isBehind: async (chatbot) => leases.isBehind(chatbot),
    async lease(chatbot, now) {
      // A daemon whose configuration is still the earlier one may have run a feed under its former name since.
      if (formerly.size > 0) await door.transaction(takeOver)
      return leases.lease(chatbot, now)
    },
    async close() {
      try {
        await leases.releaseAll()
      } finally {
        await door.close()
      }
    },
  }
}

/**
 * The database of a store without its roles, its tables up to date. Rejects as `openPostgres` does. `most`: connections;
 * `updates`: whether tables of an older version are brought up to date, or it rejects.
 */
export function openPostgresDoor(
  address: string,
  { most, updates = true }: { most?: number; updates?: boolean } = {},
): Door {
  return openDoor(address, {
    most,
    readOnly: false,
    mayIdle: 0,
    chatbotOf: () => undefined,
    assertMayWrite: () => Promise.resolve(),
    async prepare(asker, transaction) {
      const place = placeOf(address)
      await assertFit(asker, place)
      await transaction(async (asker) => {
        if (!updates) assertNotOlder(await versionOf(asker), place)
        await migrateOnce(asker, steps, place)
      })
    },
  })
}

/**
 * The same for reading only. In a database without the tables it makes them, as an empty store. Rejects as `openPostgres` does, and
 * also if a feed still has a former name in it or the schema is older: only a writer hands over and updates.
 */
export function openPostgresReader(address: string, options: Pick<PostgresOptions, 'formerly'> = {}): StoreReader {
  const leases = createLeases(() => door, leaseTime)
  const door: Door = openDoor(address, {
    readOnly: true,
    chatbotOf: () => undefined,
    assertMayWrite: () => Promise.resolve(),
    async prepare(asker, transaction) {
      const place = placeOf(address)
      await assertFit(asker, place)
      const version = await versionOf(asker)
      assertKnown(version, steps.length, place)
      if (version === 0)
        await transaction(async (asker) => {
          await asker.run('SET TRANSACTION READ WRITE')
          await migrateOnce(asker, steps, place)
        })
      else assertNotOlder(version, place)
      const [left] = await leftOf(asker, options.formerly ?? new Map())
      if (left !== undefined)
        throw storeError(
          place,
          `it has ${left} still under its former name; the next \`sync\` or the daemon hands it over`,
        )
    },
  })
  return { ...rolesOn(door, leases), isBehind: () => leases.isCopy(), close: () => door.close() }
}

/** Rejects with a `StoreError` if the database of a store that can be read takes no writes now. */
export async function assertTakesWrites(address: string): Promise<void> {
  const door = openDoor(address, {
    most: 1,
    readOnly: false,
    chatbotOf: () => undefined,
    assertMayWrite: () => Promise.resolve(),
    prepare: () => Promise.resolve(),
  })
  try {
    await door.run('UPDATE meta SET token = token WHERE false')
  } finally {
    await door.close()
  }
}

function rolesOn(door: Door, leases: ReturnType<typeof createLeases>): Omit<Store, 'isBehind' | 'lease' | 'close'> {
  return {
    snapshot: createSnapshot(door),
    ledger: createLedger(door),
    history: createHistory(door),
    holds: createHolds(door),
    runs: createRuns(
      door,
      () => leases.isHeld(),
      (feed, chatbot) => leases.begun(feed, chatbot),
    ),
    deliveries: createDeliveries(door),
    records: createRecords(door),
    learnt: createLearnt(door),
    changes: createChanges(door),
  }
}

/** Refuses a server that is too old, a database of another encoding, and a clock that is off. */
async function assertFit(asker: Asker, place: string): Promise<void> {
  const [{ version, encoding, now }] = await asker.all<{ version: number; encoding: string; now: number }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
      ${databaseNow} AS now`,
  )
  if (version < oldest * 10_000)
    throw new StoreConfigError(
      `${place}: this is PostgreSQL ${Math.floor(version / 10_000)}, but the store needs ${oldest} or newer; update it`,
    )
  if (encoding !== 'UTF8')
    throw new StoreConfigError(
      `${place}: its encoding is ${encoding}, but the store needs UTF8; make the database anew with it`,
    )
  assertClock(now, place)
}

/** The version of the schema; 0: there is no store in the database. */
async function versionOf(asker: Asker): Promise<number> {
  const [{ found }] = await asker.all<{ found: boolean }>("SELECT to_regclass('schema_version') IS NOT NULL AS found")
  if (!found) return 0
  return (await asker.all<{ version: number }>('SELECT version FROM schema_version'))[0]?.version ?? 0
}

function assertKnown(version: number, known: number, place: string): void {
  if (version > known)
    throw new StoreConfigError(
      `${place}: the store has schema version ${version}, but this program knows versions up to ${known}; run the newer program, or put back the backup made before it`,
    )
}

/** A command that only looks leaves such tables to the version that made them, whose daemon may still be at work. */
function assertNotOlder(version: number, place: string): void {
  if (version > 0 && version < steps.length)
    throw storeError(place, 'its store is one of an older version; the next `sync` or the daemon brings it up to date')
}

/** Brings the schema up to date. Waits for another process that is doing so. */
async function migrateOnce(asker: Asker, migrations: readonly string[], place: string): Promise<void> {
  await asker.run('SELECT pg_advisory_xact_lock($1)', [lockNumber])
  const version = await versionOf(asker)
  assertKnown(version, migrations.length, place)
  if (version === 0)
    await asker.run('CREATE TABLE schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL)')
  for (const step of migrations.slice(version)) await asker.run(step)
  await asker.run(
    'INSERT INTO schema_version VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET version = excluded.version WHERE schema_version.version <> excluded.version',
    [migrations.length],
  )
}
