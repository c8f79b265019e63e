/** A sample of the same histories with the store on a real PostgreSQL: whoever dies is cut off from it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgres } from '../../src/store/postgres.ts'
import { numbersInTime } from '../support/in-time.ts'
import { noPostgres, startPostgres } from '../support/postgres.ts'
import type { PostgresServer } from '../support/postgres.ts'
import { testSeed } from '../support/random.ts'
import { runHistory } from './history.ts'
import { PostgresDisk } from './postgres-disk.ts'
import type { Site } from './postgres-disk.ts'
import { Window } from './window.ts'

const histories = 100
/** The server's clock stays the machine's, and a program that is far away from it rightly refuses to write. */
const isShifted = process.env['SHIFT_DAYS'] !== undefined

describe.skipIf(noPostgres !== null || isShifted)('histories on PostgreSQL', () => {
  let server: PostgresServer
  let site: Site
  beforeAll(async () => {
    server = await startPostgres()
    const address = await server.database()
    const store = openPostgres(address)
    await store.runs.feeds()
    await store.close()
    const empty = new URL(address).pathname.slice(1)
    site = { window: new Window(), address: address.replace(/[^/]+$/, 'postgres'), empty }
  })
  afterAll(async () => {
    await site.window.close()
    await server.remove()
  })

  test(`${histories} of them break no invariant`, async ({ signal }) => {
    const from = testSeed(0)
    let [writes, played] = [0, 0]
    for (const seed of numbersInTime(from, histories, 'histories', signal)) {
      const trace: string[] = []
      const outcome = await runHistory(seed, { signal, trace, disks: (time) => new PostgresDisk(site, time) })
      PostgresDisk.clear(site)
      if (outcome.violation !== null) expect.fail([`seed ${seed}: ${outcome.violation}`, ...trace].join('\n'))
      writes += outcome.calls
      played++
    }
    // Histories in which nothing is written would prove nothing.
    expect(writes).toBeGreaterThan(played)
  })
})
