/** Another process at a store: `node child.ts ACTION FILE`. */
import { once } from 'node:events'
import { openStore, openStoreReader } from '../../src/store/sqlite.ts'
import { migrateStore } from '../../src/store/migrate.ts'
import { confirmation } from '../contract/store.ts'
import { flattened } from '../support/pages.ts'

const [action, file] = process.argv.slice(2)
const now = Date.UTC(2026, 10, 21, 12)

try {
  if (action === 'read') {
    const reader = openStoreReader(file)
    console.log((await flattened(reader.snapshot.rows('SN-1001'))).map((row) => row.key).join(' '))
    await reader.close()
  } else if (action === 'copy') await migrateStore(file, `${file}.copy`)
  else await write()
} catch (error) {
  console.log(error instanceof Error ? `${error.name}: ${error.message}` : error)
}

/** Takes the lease, writes, says so, and lives until its input ends. */
async function write(): Promise<void> {
  const store = openStore(file)
  await store.lease('SN-1001', now)
  if (action === 'fill') {
    for (let i = 0; ; i++) {
      const sent = { listing: { ...confirmation('x').sent.listing, Description: 'long '.repeat(2000) }, moving: {} }
      await store.snapshot.confirm('SN-1001', [confirmation(`K${i}`, { sent })])
    }
  }
  await store.snapshot.confirm('SN-1001', [confirmation('A'), confirmation('B')])
  await store.ledger.begin('SN-1001', 'north', 'create', [{ key: 'C', counts: ['create'] }], now)
  console.log('ready')
  await once(process.stdin.resume(), 'end')
  await store.close()
}
