/** What goes wrong with a feed: from what the office has to what is delivered instead. */
import type { Listing } from '../../src/core/listing.ts'
import { seedOf, unit } from './chance.ts'
import { edited } from './edits.ts'
import { newListing } from './office.ts'
import type { Entry } from './office.ts'
import type { Incident, World } from './world.ts'

/** What a delivery holds; `withdrawn`: MLSNumbers that it says are gone. `cut`: what share of the bytes came. */
export interface Content {
  entries: readonly Entry[]
  withdrawn?: ReadonlySet<string>
  cut?: number
}

export interface Scene {
  world: World
  seed: number
  /** Nights since it began. */
  night: number
  /** What the office had so many days before tonight. */
  before: (days: number) => readonly Entry[]
}

type Step = (entries: readonly Entry[], how: Incident, scene: Scene) => Content

function strangers(count: number, { world, seed }: Scene, prefix = 'X'): Entry[] {
  return Array.from({ length: count }, (_, i) => ({
    listing: newListing(world, `${prefix}${70_000 + i}`, i, seedOf(seed, 'strangers')),
    listedOn: '2026-01-01',
  }))
}

const isOne = ({ listing }: Entry, share: number, seed: number): boolean => unit(seed, listing.MLSNumber, 'hit') < share
const renamed = ({ listing, listedOn }: Entry, MLSNumber: string): Entry => ({
  listing: { ...listing, MLSNumber },
  listedOn,
})
const otherwise = ({ listing, listedOn }: Entry, changes: Partial<Listing>): Entry => ({
  listing: { ...listing, ...changes },
  listedOn,
})

const spellings: Readonly<Record<string, (key: string) => string>> = {
  prefix: (key) => `MLS${key}`,
  zeros: (key) => key.replace(/\d/, '00$&'),
  letter: (key) => `${key.toLowerCase()}a`,
}

const steps: Readonly<Record<string, Step>> = {
  noBytes: () => ({ entries: [], cut: 0 }),
  cutFile: (entries) => ({ entries, cut: 0.5 }),
  lose: (entries, { share = 1 }, { seed }) => ({ entries: entries.filter((entry) => !isOne(entry, share, seed)) }),
  loseRentals: (entries) => ({ entries: entries.filter(({ listing }) => listing.SaleType === 'for_sale') }),
  first: (entries, { count = 1 }) => ({ entries: entries.slice(0, count) }),
  other: (entries, _, scene) => ({ entries: strangers(entries.length, scene) }),
  test: (_, { count = 5 }, scene) => ({ entries: strangers(count, scene, 'TEST') }),
  testMore: (entries, { count = 3 }, scene) => ({ entries: [...entries, ...strangers(count, scene, 'TEST')] }),
  withdraw: (entries, { share = 1 }, { seed }) => ({
    entries,
    withdrawn: new Set(entries.filter((entry) => isOne(entry, share, seed)).map(({ listing }) => listing.MLSNumber)),
  }),
  grow: (entries, { times = 2 }, scene) => ({
    entries: [...entries, ...strangers(entries.length * (times - 1), scene)],
  }),
  shiftKeys: (entries) => ({
    entries: entries.map((entry, i) => renamed(entry, entries[(i + 1) % entries.length].listing.MLSNumber)),
  }),
  respell: (entries, { share = 1, how = 'prefix' }, { seed }) => ({
    entries: entries.map((entry) =>
      isOne(entry, share, seed) ? renamed(entry, spellings[how](entry.listing.MLSNumber)) : entry,
    ),
  }),
  shiftPrices: (entries) => ({
    entries: entries.map((entry, i) => {
      const { SalePrice, RentPrice } = entries[(i + 1) % entries.length].listing
      const name = entry.listing.SaleType === 'for_sale' ? 'SalePrice' : 'RentPrice'
      const price = name === 'SalePrice' ? SalePrice : RentPrice
      return price === undefined ? entry : otherwise(entry, { [name]: price })
    }),
  }),
  drain: (entries, { share = 0.05 }, { seed, night }) => ({
    entries: entries.filter((entry) => !isOne(entry, share * (night + 1), seed)),
  }),
  old: (_, { days = 7 }, { before, night }) => ({ entries: before(days + night) }),
  // A database that was set back goes on from there: what is new since the accident is in it.
  restored(entries, { days = 14 }, { before, night }) {
    const [then, since] = [before(days + night), before(night)]
    const known = new Set(since.map(({ listing }) => listing.MLSNumber))
    return { entries: [...then, ...entries.filter(({ listing }) => !known.has(listing.MLSNumber))] }
  },
}

/** What is delivered in place of these. */
export function spoiled(entries: readonly Entry[], incident: Incident, scene: Scene): Content {
  const { share = 1, everyOther = false } = incident
  if (everyOther && scene.night % 2 === 1) return { entries }
  if (incident.edit !== undefined)
    return {
      entries: entries.map((entry) =>
        isOne(entry, share, scene.seed) ? otherwiseBy(entry, incident, scene.seed) : entry,
      ),
    }
  const step = steps[incident.do ?? '']
  if (step === undefined) throw new Error(`the world names a step ${incident.do} that incidents.ts lacks`)
  return step(entries, incident, scene)
}

/** One edit of one entry, as a mass change of the office makes it. */
export function otherwiseBy({ listing, listedOn }: Entry, how: Parameters<typeof edited>[1], seed: number): Entry {
  return { listing: edited(listing, how, seed), listedOn }
}
