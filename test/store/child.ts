/** Another process at a store: `node child.ts ACTION FILE`. */
import { once } from 'node:events'
import { openStore, openStoreReader } from '../../src/store/sqlite.ts'
import { confirmation } from '../contract/store.ts'

const [action, file] = process.argv.slice(2)
const now = Date.UTC(2026, 10, 21, 12)

try {
  if (action === 'read') {
    const reader = openStoreReader(file)
    console.log([...reader.snapshot('SN-1001')].map((row) => row.key).join(' '))
    reader.close()
  } else await write()
} catch (error) {
  console.log(error instanceof Error ? `${error.name}: ${error.message}` : error)
}

/** Takes the lease, writes, says so, and lives until its input ends. */
async function write(): Promise<void> {
  const store = openStore(file)
  store.lease('SN-1001', now)
  if (action === 'fill') {
    for (let i = 0; ; i++) {
      const sent = { listing: { ...confirmation('x').sent.listing, Description: 'long '.repeat(2000) }, moving: {} }
      store.confirm('SN-1001', [confirmation(`K${i}`, { sent })])
    }
  }
  store.confirm('SN-1001', [confirmation('A'), confirmation('B')])
  store.markInFlight('SN-1001', 'north', 'create', ['C'], now, false)
  console.log('ready')
  await once(process.stdin.resume(), 'end')
  store.close()
}
