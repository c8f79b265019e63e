/** An office as it truly is from hour to hour: agents who work in the evening, seasons, ends of months, mass changes that are right. */
import type { Listing } from '../../src/core/listing.ts'
import { home } from '../support/homes.ts'
import { Chance, unit } from './chance.ts'
import { edited, reworded } from './edits.ts'
import type { MassChange, World } from './world.ts'

export const hour = 3_600_000
export const day = 24 * hour

/** A listing as the feed has it; never changed, only replaced. */
export interface Entry {
  readonly listing: Listing
  /** YYYY-MM-DD. */
  readonly listedOn: string
}

interface Due {
  at: number
  happen(): void
}

interface Kept {
  entry: Entry
  agent: number
  expires: number
  /** When a sold listing leaves, or a new one that is coming soon opens; null: nobody knows. */
  leaves: number | null
  opens: number | null
}

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** The first moment of the month after. */
function monthEnd(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

export class Office {
  readonly size: number
  /** Mass changes so far, the earliest first. */
  readonly changed: { at: number; kind: string }[] = []
  readonly writesDays: boolean
  readonly #world: World
  readonly #seed: number
  readonly #chance: Chance
  readonly #kept = new Map<string, Kept>()
  readonly #agents = new Map<number, Set<string>>()
  #drawnUntil: number
  /** Sorted, the next one last. */
  #due: Due[] = []
  #homes = 0
  #lastAgent = 0
  #keys: { prefix: string; next: number }
  /** Edits that every new listing comes with since the office made them of all. */
  readonly #habits: { how: MassChange; seed: number }[] = []

  constructor(world: World, size: number, seed: number, from: number) {
    this.#world = world
    this.size = size
    this.#seed = seed
    this.#chance = new Chance(seed)
    this.#drawnUntil = from
    this.#keys = { prefix: this.#chance.pick(['M', 'R-', 'IA', '']), next: this.#chance.whole(1000, 500_000) }
    this.writesDays = this.#chance.happens(world.office.writesDaysOnMarket)
    const agents = Math.max(1, Math.round(size / world.office.agentHas))
    for (let agent = 0; agent < agents; agent++) this.#agents.set(this.#lastAgent++, new Set())
    for (let i = 0; i < size; i++) this.#add(from - this.#chance.between(0, world.office.stays) * day, false)
    // Nobody's contract ends before the beginning.
    for (const kept of this.#kept.values())
      kept.expires = Math.max(kept.expires, from + this.#chance.between(1, 90) * day)
  }

  /** What the office has, as a feed says it at this time. */
  entries(now: number): Entry[] {
    const entries = Array.from(this.#kept.values(), ({ entry }) => entry)
    if (!this.writesDays) return entries
    return entries.map(({ listing, listedOn }) => {
      const DaysOnMarket = Math.max(0, Math.floor((now - Date.parse(listedOn)) / day))
      return { listing: { ...listing, DaysOnMarket }, listedOn }
    })
  }

  /** Lets it live until then. */
  liveUntil(now: number): void {
    while (this.#drawnUntil < now) this.#drawDay()
    for (let next = this.#due.at(-1); next !== undefined && next.at <= now; next = this.#due.at(-1)) {
      this.#due.pop()
      next.happen()
    }
  }

  #drawDay(): void {
    const chance = this.#chance
    const { office, life, changes } = this.#world
    const start = this.#drawnUntil
    this.#drawnUntil += day
    const evening = (): number => start + Math.floor(chance.between(15, 23) * hour)
    const due: Due[] = []
    const week = [0.3, 1.1, 1.2, 1.3, 1.3, 1.2, 0.6][new Date(start).getUTCDay()]
    const season = office.season[new Date(start).getUTCMonth()] * week
    for (const agent of this.#agents.keys())
      if (chance.happens(office.evening)) {
        const at = evening()
        due.push({ at, happen: () => this.#work(agent, at, season) })
      }
    const lack = Math.min(3, Math.max(0.3, (this.size / Math.max(1, this.#kept.size)) ** 2))
    const events = chance.times(((this.size / office.stays) * season * lack) / 1.3)
    for (let i = 0; i < events; i++) {
      const at = evening()
      const agent = chance.pick([...this.#agents.keys()])
      let count = 1
      while (chance.happens(0.23)) count++
      due.push({ at, happen: () => this.#arrive(count, at, agent) })
    }
    due.push({ at: start, happen: () => this.#turnDay(start, life.renewed) })
    for (const change of changes) {
      const isDay = change.on === undefined || dateOf(start).endsWith(change.on)
      const share = change.on === undefined ? (change.aYear ?? 0) / 365 : 1
      if (!isDay || this.size < (change.from ?? 0) || !chance.happens(share)) continue
      const at = change.on === undefined ? evening() : start + 1
      due.push({ at, happen: () => this.#changeMuch(change, at) })
    }
    this.#due = [...this.#due, ...due].toSorted((a, b) => b.at - a.at)
  }

  /** What happens by itself at midnight: contracts end, what was sold is taken off, what was coming soon is there. */
  #turnDay(now: number, renewed: number): void {
    for (const [key, kept] of this.#kept) {
      if (kept.opens !== null && kept.opens <= now) {
        kept.opens = null
        this.#edit(key, { Status: 'Active' })
      }
      if (kept.leaves !== null) {
        if (kept.leaves <= now) this.#remove(key)
      } else if (kept.expires <= now) {
        if (this.#chance.happens(renewed)) kept.expires = this.#contract(now)
        else this.#remove(key)
      }
    }
  }

  /** An agent's evening: what was left for it is done in one go. */
  #work(agent: number, now: number, season: number): void {
    const { life, office } = this.#world
    const chance = this.#chance
    const often = 1 / office.evening
    for (const key of this.#agents.get(agent) ?? []) {
      const kept = this.#kept.get(key)
      if (kept === undefined || kept.leaves !== null) continue
      const { listing } = kept.entry
      if (chance.happens((often * season) / life.sold)) {
        kept.leaves = now + chance.between(1, life.soldShown) * day
        this.#edit(key, { Status: 'Sold' })
        continue
      }
      if (chance.happens(often / life.withdrawn)) {
        this.#remove(key)
        continue
      }
      if (chance.happens(often / life.price)) this.#price(key, chance.between(0.9, 0.99), 500)
      if (chance.happens(often / life.reword)) this.#edit(key, { Description: reworded(listing, chance.whole(0, 1e9)) })
      if (chance.happens(often / life.photos)) {
        const images = listing.Images ?? []
        this.#edit(key, { Images: [...images.slice(1), `${photo(key)}${chance.whole(100, 999)}.jpg`] })
      }
      if (chance.happens(often / life.openHouse))
        this.#edit(key, { Tours: listing.Tours === undefined ? 'OpenHouse' : undefined })
      if (chance.happens(often / life.correction)) this.#correct(key)
      if (chance.happens(often / life.slip)) {
        this.#price(key, 10, 1)
        const at = now + chance.between(0.5, 3) * day
        this.#due = [...this.#due, { at, happen: () => this.#price(key, 0.1, 1) }].toSorted((a, b) => b.at - a.at)
      }
    }
  }

  #price(key: string, by: number, step: number): void {
    const listing = this.#kept.get(key)?.entry.listing
    const name = listing?.SalePrice === undefined ? 'RentPrice' : 'SalePrice'
    const price = listing?.[name]
    if (price !== undefined) this.#edit(key, { [name]: Math.max(step, Math.round((price * by) / step) * step) })
  }

  #correct(key: string): void {
    const chance = this.#chance
    const { listing } = this.#kept.get(key)!.entry
    const kind = chance.whole(0, 5)
    if (kind === 0) this.#edit(key, { Bedrooms: listing.Bedrooms + chance.whole(1, 2) })
    else if (kind === 1) this.#edit(key, { BuildingArea: Math.round(listing.BuildingArea * chance.between(0.7, 1.8)) })
    else if (kind === 2) this.#edit(key, { YearBuilt: listing.YearBuilt - chance.whole(1, 40) })
    else if (kind === 3) this.#edit(key, { PropertyType: chance.pick(['House', 'Condo', 'Townhouse']) })
    else if (kind === 4 && listing.Latitude !== undefined)
      this.#edit(key, { Latitude: listing.Latitude + chance.between(-0.05, 0.05) })
    else this.#edit(key, edited(listing, { edit: 'rent' }, 0))
  }

  #changeMuch(change: MassChange, now: number): void {
    const chance = this.#chance
    const share = chance.between(...(change.share ?? [1, 1]))
    const seed = chance.whole(0, 1e9)
    this.changed.push({ at: now, kind: change.kind })
    const keys = [...this.#kept.keys()]
    const some = keys.filter((key) => unit(seed, key) < share)
    const count = Math.max(1, Math.round(this.size * share))
    if (change.edit !== undefined) {
      if (share === 1 && change.edit !== 'index' && change.edit !== 'days') this.#habits.push({ how: change, seed })
      for (const key of some) this.#edit(key, edited(this.#kept.get(key)!.entry.listing, change, seed))
    } else if (change.do === 'arrive') this.#arrive(count, now, chance.pick([...this.#agents.keys()]))
    else if (change.do === 'leave') for (const key of some) this.#remove(key)
    else if (change.do === 'open')
      for (const key of keys) this.#edit(key, { Status: this.#kept.get(key)!.leaves === null ? 'Active' : 'Sold' })
    else if (change.do === 'sell') {
      for (const key of some) {
        this.#kept.get(key)!.leaves ??= now + chance.between(5, 30) * day
        this.#edit(key, { Status: 'Sold' })
      }
    } else if (change.do === 'agentComes') {
      const agent = this.#lastAgent++
      this.#agents.set(agent, new Set())
      this.#arrive(chance.whole(1, this.#world.office.agentHas * 1.5), now, agent)
    } else if (change.do === 'agentLeaves') this.#dismiss(chance.pick([...this.#agents.keys()]))
    else if (change.do === 'renumber') this.#renumber()
    else throw new Error(`the world names a change ${change.do} that offices don't know`)
  }

  #dismiss(agent: number): void {
    if (this.#agents.size < 2) return
    for (const key of this.#agents.get(agent)!) this.#remove(key)
    this.#agents.delete(agent)
  }

  #renumber(): void {
    this.#keys = { prefix: `N${this.#chance.whole(1, 99)}-`, next: 1000 }
    const all = [...this.#kept]
    this.#kept.clear()
    for (const keys of this.#agents.values()) keys.clear()
    for (const [, kept] of all) {
      const MLSNumber = this.#newKey()
      kept.entry = { ...kept.entry, listing: { ...kept.entry.listing, MLSNumber, Url: urlOf(MLSNumber) } }
      this.#kept.set(MLSNumber, kept)
      this.#agents.get(kept.agent)!.add(MLSNumber)
    }
  }

  #newKey(): string {
    return `${this.#keys.prefix}${this.#keys.next++}`
  }

  #contract(now: number): number {
    const { life } = this.#world
    const end = now + this.#chance.between(...life.expires) * day
    return this.#chance.happens(life.toMonthEnd) ? monthEnd(end) : end
  }

  #arrive(count: number, now: number, agent: number): void {
    const at = this.#agents.has(agent) ? agent : [...this.#agents.keys()][0]
    for (let i = 0; i < count; i++) this.#add(now, this.#chance.happens(this.#world.office.comingSoon), at)
  }

  #add(now: number, comingSoon: boolean, agent = this.#chance.pick([...this.#agents.keys()])): void {
    const key = this.#newKey()
    let listing = newListing(this.#world, key, this.#homes++, this.#seed)
    if (comingSoon) listing.Status = 'PreOnMarket'
    for (const { how, seed } of this.#habits) listing = edited(listing, how, seed)
    const opens = comingSoon ? now + this.#chance.between(5, 20) * day : null
    const entry = { listing, listedOn: dateOf(now) }
    this.#kept.set(key, { entry, agent, expires: this.#contract(now), leaves: null, opens })
    this.#agents.get(agent)!.add(key)
  }

  #edit(key: string, changes: Partial<Listing>): void {
    const kept = this.#kept.get(key)
    if (kept !== undefined) kept.entry = { ...kept.entry, listing: { ...kept.entry.listing, ...changes } }
  }

  #remove(key: string): void {
    const kept = this.#kept.get(key)
    if (kept === undefined) return
    this.#agents.get(kept.agent)?.delete(key)
    this.#kept.delete(key)
  }
}

const urlOf = (key: string): string => `https://office.example/homes/${encodeURIComponent(key)}`
const photo = (key: string): string => `https://photos.example/${encodeURIComponent(key)}/`

/** The home of this number in the office of this seed, on the market for the first time. */
export function newListing({ office }: World, key: string, number: number, seed: number): Listing {
  const at = home(number, seed % 100_003)
  const is = (what: string, share: number): boolean => unit(seed, number, what) < share
  const rental = is('rental', office.rentals)
  return {
    MLSNumber: key,
    SaleType: rental ? 'for_rent' : 'for_sale',
    Status: 'Active',
    CurrencySymbol: '$',
    PropertyType: at.propertyType,
    Bedrooms: at.bedrooms,
    Bathrooms: at.fullBathrooms + at.halfBathrooms / 2,
    Url: urlOf(key),
    YearBuilt: at.yearBuilt,
    DaysOnMarket: 0,
    LotArea: Math.round(at.lotAcres * 43_560),
    BuildingArea: at.livingArea,
    AreaUnit: 'Square Feet',
    ParkingSpots: at.parking,
    Images: Array.from({ length: at.photos }, (_, i) => `${photo(key)}${i}.jpg`),
    Description: `${at.description}\nCall us, line ${seed % 1000}.`,
    City: at.city,
    State: at.state,
    ZIP: at.zip,
    ...(!is('address', office.withoutAddress) && { Address: `${at.street}${at.unit && `, Unit ${at.unit}`}` }),
    ...(!is('position', office.withoutPosition) && { Latitude: at.latitude, Longitude: at.longitude }),
    ...(rental
      ? { RentPrice: 600 + Math.round(at.livingArea / 2) }
      : { SalePrice: at.rental ? at.livingArea * 150 : at.price }),
  }
}
