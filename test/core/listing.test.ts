import { expect, test } from 'vitest'
import { listingAt } from '../../src/core/listing.ts'
import { house } from '../contract/store.ts'

test('an open house that a clock which ran ahead has ended is one again', () => {
  const listing = house('A')
  expect(listingAt({ listing, moving: { openHouseUntil: 10 } }, 9, '2026-11-21').Tours).toBe('OpenHouse')
  expect(listingAt({ listing, moving: { openHouseUntil: 10 } }, 10, '2026-11-21').Tours).toBeUndefined()
})
