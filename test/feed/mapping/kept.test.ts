/** A mapping that nobody uses keeps next to nothing: a daemon has one for each of its feeds. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createMapping } from '../../../src/feed/mapping/create-mapping.ts'
import { loadPreset } from '../../../src/feed/mapping/load-preset.ts'
import { collected } from '../../support/collected.ts'

test('an unused mapping holds less than 20 kB, and maps as before', async () => {
  const file = new URL('../../../config/presets/zillow.yaml', import.meta.url)
  const preset = loadPreset(readFileSync(file, 'utf8'), 'zillow')
  const moment = { now: 0, today: '2026-11-21', timezone: 'UTC' }
  const made = () => Array.from({ length: 50 }, (_, number) => createMapping(preset, { mlsPrefix: `${number}-` }))
  const listing = { ListingDetails: { MlsId: '1', Status: 'Active', Price: '320000' } }
  made()
  const before = await heap()
  const mappings = made()
  const first = mappings[7].normalise(listing, 'here', moment)
  expect(first).toMatchObject([{ kind: 'reject', mlsNumber: '7-1' }])
  expect(((await heap()) - before) / mappings.length).toBeLessThan(20_000)
  expect(mappings[7].normalise(listing, 'here', moment)).toEqual(first)
})

/** Bytes in use. */
async function heap(): Promise<number> {
  await collected()
  return process.memoryUsage().heapUsed
}
