/** Whatever the service answers to the interface's open questions, runs converge and leave alone what is not ours. */
import { afterEach, expect, test } from 'vitest'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import type { StandInProfileInput } from '../../src/stand-in/profile.ts'
import type { StandInOptions } from '../../src/stand-in/stand-in.ts'
import { home, homes, zillowFeed } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'
import { spellings } from '../support/spellings.ts'

/** Made by hand, past this program. The first numbers contain and are contained in those of the feed. */
const foreign: StandInListing[] = [home(3).mlsNumber.slice(0, -1), `${home(4).mlsNumber}7`, 'HAND-1'].map(
  (MLSNumber, index) => ({
    MLSNumber,
    SaleType: 'for_sale',
    Status: 'Active',
    CurrencySymbol: '$',
    PropertyType: 'Barn',
    Bedrooms: 1,
    Bathrooms: 1,
    Url: `https://hand.example/${index}`,
    YearBuilt: 1900,
    DaysOnMarket: 3,
    LotArea: 10,
    BuildingArea: 10,
    AreaUnit: 'Square Feet',
    ParkingSpots: 0,
    SalePrice: 1000 + index,
  }),
)

interface Answers {
  profile?: StandInProfileInput
  /** What our own profile has to say to it, if anything. */
  ours?: object
  keys?: StandInOptions['keys']
  service?: object
}

const both = { secretKey: 'test-secret-key', sessionKey: 'test-session-key' }
const keys = { secret: 'test-secret-key', session: 'test-session-key' }
const required = (how: 'either' | 'secret' | 'session' | 'both') => ({
  Create: how,
  Update: how,
  List: how,
  Delete: how,
})

const situations: Record<string, Answers> = {
  ...Object.fromEntries(Object.entries(spellings).map(([what, profile]) => [what, { profile }])),
  'the likeliest answers': {},
  'S1: either key': { profile: { headers: required('either') }, keys, service: both },
  'S1: only the secret key': { profile: { headers: required('secret') }, keys, service: both },
  'S1: only the session key': { profile: { headers: required('session') }, keys, service: both },
  'S1: both keys': { profile: { headers: required('both') }, keys, service: both },
  'S1: List by session key, the rest by secret key': {
    profile: { headers: { ...required('secret'), List: 'session' } },
    keys,
    service: both,
  },
  'S1: Content-Type must be there': { profile: { contentType: 'required' } },
  'S1: Content-Type is all one': { profile: { contentType: 'any' } },
  'only our chatbot exists': { profile: { chatbots: [chatbot] } },
  'S2: Create gives an unrelated identifier': { profile: { createdIdentifier: 'guid' } },
  'S3: an MLSNumber is unique': { profile: { duplicates: 'refused' } },
  'S3: only the first of several is touched': { profile: { doubles: 'first' } },
  'F49: keys match without regard to case': { profile: { caseInsensitiveKeys: true } },
  'S4: what is left out is cleared': { profile: { omitted: 'cleared' } },
  'S4: what is left out is cleared, and we leave out': { profile: { omitted: 'cleared' }, ours: { clear: 'omit' } },
  'S4: what is left out is kept, and we leave out': { profile: { omitted: 'kept' }, ours: { clear: 'omit' } },
  'S4: empty means nothing': {
    profile: { emptyText: 'ignored', emptyChoice: 'ignored', emptyArray: 'ignored' },
  },
  'S4: required fields may be missing': { profile: { requiredOnUpdate: 'optional' } },
  'S5: Update without match is refused': { profile: { updateWithoutMatch: 'refused' } },
  'S5: an Update that changes nothing counts nothing': { profile: { unchangedUpdate: 'zero' } },
  'S6: one key without match refuses all': { profile: { deleteWithoutMatch: 'refuse-all' } },
  'S6: one key without match is refused after the rest': { profile: { deleteWithoutMatch: 'refuse-after' } },
  'S6: Delete counts keys': { profile: { deleteCounts: 'keys' } },
  'S6: Delete counts what was sent': { profile: { deleteCounts: 'sent' } },
  'S7: three keys at most': { profile: { maxKeys: 3 } },
  'S8: pages of 5 at most, clamped': { profile: { maxPageSize: 5 } },
  'S8: pages of 5 at most, refused above': { profile: { maxPageSize: 5, largerPageSize: 'refused' } },
  'S8: one listing a page': { profile: { maxPageSize: 1 } },
  'S8: pages of any size': { profile: { maxPageSize: null } },
  'S8: past the end the last page again': { profile: { pastTheEnd: 'last-page', maxPageSize: 5 } },
  'S8: past the end the only page again': { profile: { pastTheEnd: 'last-page' } },
  'S8: past the end a refusal': { profile: { pastTheEnd: 'refused', maxPageSize: 5 } },
  'S8: past the end a refusal, the last page full': { profile: { pastTheEnd: 'refused', maxPageSize: 19 } },
  'S9: oldest first': { profile: { order: 'id', maxPageSize: 5 } },
  'S9: latest change first': { profile: { order: 'changed-first', maxPageSize: 5 } },
  'S9: by MLSNumber': { profile: { order: 'MLSNumber', maxPageSize: 5 } },
  'S9: every page in another order, all on one page': { profile: { order: 'shuffled' } },
  'S9: VirtualCount is the total, and we know it': { ours: { virtualCount: 'total' }, profile: { maxPageSize: 5 } },
  'S9: VirtualCount counts pages': { profile: { virtualCount: 'pages', maxPageSize: 5 } },
  'S9: VirtualCount is 0': { profile: { virtualCount: 'zero', maxPageSize: 5 } },
  'S9: VirtualCount counts the items of the page': { profile: { virtualCount: 'items', maxPageSize: 5 } },
  'S9: VirtualCount lags': { profile: { virtualCount: 'lagging', maxPageSize: 5 } },
  'the MLSNumber filter finds parts': { profile: { mlsNumberFilter: 'contains' } },
  'the MLSNumber filter is ignored': { profile: { mlsNumberFilter: 'ignored' } },
  'the MLSNumber filter finds parts, short deletes are looked up': {
    profile: { mlsNumberFilter: 'contains', deleteWithoutMatch: 'refuse-after' },
  },
  'S10: sale types in capitals': { profile: { saleTypeShown: { for_sale: 'FOR_SALE', for_rent: 'FOR_LEASE' } } },
  'S10: sale types that say nothing': { profile: { saleTypeShown: { for_sale: '1', for_rent: '2' } } },
  'S11: images by comma': { profile: { imagesShown: 'comma' } },
  'S11: images by semicolon': { profile: { imagesShown: 'semicolon' } },
  'S11: images by bar': { profile: { imagesShown: 'bar' } },
  'S11: images by blank': { profile: { imagesShown: 'blank' } },
  'S12: numbers plain': { profile: { moneyShown: 'plain', numbersShown: 'plain' } },
  'S12: numbers with two decimals': { profile: { moneyShown: 'two-decimals', numbersShown: 'two-decimals' } },
  'S12: numbers with many decimals': { profile: { moneyShown: 'many-decimals', numbersShown: 'many-decimals' } },
  'S12: coordinates cut': { profile: { coordinateDecimals: 3 } },
  'S12: absent coordinates empty': { profile: { absentCoordinates: 'empty' } },
  'S12: absent coordinates null': { profile: { absentCoordinates: 'null' } },
  'S13: texts trimmed': { profile: { trim: true } },
  'S13: texts escaped as HTML': { profile: { htmlEscape: true } },
  'S13: texts escaped, images by semicolon': { profile: { htmlEscape: true, imagesShown: 'semicolon' } },
  'S13: texts and images cut': { profile: { cut: { Description: 20, Images: 2, Location: 4 } } },
  'S14: refusals by HTTP status': {
    profile: { refusalsVia: 'http', pastTheEnd: 'refused', deleteWithoutMatch: 'refuse-all' },
  },
  'S15: 20 calls a second, Retry-After in seconds': { profile: { rateLimit: { callsPerSecond: 20 } } },
  'S15: 20 calls a second, Retry-After as a date': {
    profile: { rateLimit: { callsPerSecond: 20, retryAfter: 'date' } },
  },
  'S15: 20 calls a second, no Retry-After, by envelope': {
    profile: { rateLimit: { callsPerSecond: 20, retryAfter: 'none', via: 'envelope' } },
    service: { backoff: { base: '500ms', max: '2s' }, attempts: 20 },
  },
  'S19: another version': { profile: { version: '2.0.0' } },
}

let world: RunWorld
afterEach(() => world.end())

test.each(Object.entries(situations))('%s', async (_, { profile, ours, keys: wanted, service }) => {
  world = await RunWorld.start({
    standIn: { ...(profile && { profile }), ...(wanted && { keys: wanted }) },
    feeds: { north: { limits: { share: 25 } } },
    service: { ...service, ...(ours && { profile: ours }) },
  })
  world.standIn.seed(chatbot, foreign)
  const first = homes(1, 16)
  world.deliver(zillowFeed(first))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 16 }, remote: { complete: true } })

  world.calls()
  await world.run()
  expect(world.calls(), 'the second run').toMatchObject({ Create: 0, Update: 0, Delete: 0 })

  // New, cheaper, described anew, without its fee, without description and photos, and four gone.
  const fee = first.findIndex((home, index) => index > 3 && index < 12 && home.associationFee > 0)
  const second = [
    ...first.slice(4).map((home, index) => {
      if (index + 4 === fee) return { ...home, associationFee: 0 }
      if (index === 8) return { ...home, price: home.price + 1000 }
      if (index === 9) return { ...home, description: 'Fish & chips <in> "the" kitchen;  two   blanks' }
      if (index === 10) return { ...home, description: '', photos: 0 }
      return home
    }),
    ...homes(17, 19),
  ]
  world.deliver(zillowFeed(second))
  const changed = await world.run()
  expect(changed).toMatchObject({ result: 'ok', counts: { create: 3, update: 4, delete: 4 } })
  expect(changed.applied?.outcomes).toEqual({ done: 11, failed: 0, unknown: 0, skipped: 0 })

  await world.run()
  world.calls()
  const third = await world.run()
  expect(world.calls(), 'once all is right').toMatchObject({ Create: 0, Update: 0, Delete: 0 })
  expect(third).toMatchObject({ result: 'ok', counts: { unchanged: 15, hold: 0 } })

  const numbers = world.listings().map((item) => String(item['MLSNumber']))
  expect(numbers.toSorted()).toEqual(
    [...second.map((home) => home.mlsNumber), ...foreign.map((listing) => listing.MLSNumber)].toSorted(),
  )
  expect(world.listing(second[8].mlsNumber)).toMatchObject({
    [second[8].rental ? 'RentPrice' : 'SalePrice']: second[8].price,
  })
  for (const listing of foreign) expect(world.listing(listing.MLSNumber)).toEqual(listing)
})
