/** The program with leases of so many milliseconds: `node worker.ts MILLISECONDS WORDS…`. */
import { stores } from '../../src/app/adapters.ts'
import { main } from '../../src/main.ts'
import { openQueue } from '../../src/store/postgres/queue.ts'
import { openPostgres } from '../../src/store/postgres.ts'

const [leaseTime] = process.argv.splice(2, 1).map(Number)
stores['postgres'] = {
  ...stores['postgres'],
  open: (address, place) => openPostgres(address, { ...place, leaseTime }),
  openQueue: async (address, log) => openQueue(address, log, leaseTime),
}
await main()
