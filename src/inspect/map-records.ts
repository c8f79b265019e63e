import { isAscii, isUtf8 } from 'node:buffer'
import { mlsNumberOf } from '../core/listing.ts'
import type { Delivered } from '../core/listing.ts'
import type { RawRecord, Reading } from '../feed/format/format.ts'
import { createMapping } from '../feed/mapping/create-mapping.ts'
import { LowPrices } from '../feed/mapping/low-prices.ts'
import type { Mapping, Moment } from '../feed/mapping/mapping.ts'
import { withFurther } from '../feed/mapping/defaults.ts'
import type { Choice } from './choice.ts'
import type { Sample } from './findings.ts'
import { Profile } from './profile.ts'
import { lacksFactsOnly, Tally, unread } from './tally.ts'

/** Maps the records of a feed one after another and keeps what is reported. */
export class MappedRecords {
  records = 0
  notUtf8 = 0
  beyondAscii = false
  readonly profile = new Profile()
  readonly tally = new Tally()
  readonly prices = new LowPrices()
  readonly samples = new Samples()
  readonly mapping: Mapping | null
  readonly moment: Moment
  /** Fills in missing values, to show the rest of a record. */
  readonly filling: Mapping | null

  constructor({ preset, options }: Choice, moment: Moment) {
    this.moment = moment
    this.mapping = preset && createMapping(preset, options, preset.file, this.tally.unmapped)
    // What the configuration gives for a record that lacks it is here what any record may be filled with.
    const { currency: _currency, placeholders: _placeholders, ...rest } = options
    this.filling = preset && createMapping(preset, { ...rest, defaults: withFurther(options.defaults, filled) })
  }

  /** May be cut off (`limits.read`): then the record does not count. */
  take(reading: Reading, record: RawRecord): void {
    this.#map(reading, record)
    this.records++
  }

  #map(reading: Reading, record: RawRecord): void {
    if (!isUtf8(record.raw)) this.notUtf8++
    else this.beyondAscii ||= !isAscii(record.raw)
    const { mapping, moment, filling } = this
    let fields
    try {
      fields = reading.parse(record)
    } catch (error) {
      return this.#count(unread(record.at, error), () => null)
    }
    this.profile.add(fields)
    for (const [index, delivered] of (mapping?.normalise(fields, record.at, moment) ?? []).entries()) {
      this.#count(delivered, () => filling?.normalise(fields, record.at, moment)[index] ?? null)
    }
  }

  #count(delivered: Delivered, filledUp: () => Delivered | null): void {
    const lacks = delivered.kind === 'reject' && lacksFactsOnly(delivered.problems)
    const whole = lacks ? filledUp() : null
    const made = whole ?? delivered
    const isGuessed = delivered.kind === 'reject' && delivered.problems.some(({ field }) => field === 'SaleType')
    if (made.kind === 'listing' && !isGuessed) this.prices.look(made.listing)
    this.tally.add(delivered, whole?.kind === 'listing' ? whole.listing.PropertyType : null)
    if (this.samples.wants(delivered)) this.samples.add(delivered, whole)
  }
}

/** For missing values while the rest of a record is shown; never reported. */
const filled = {
  SaleType: 'for_sale',
  Status: 'Active',
  CurrencySymbol: '$',
  PropertyType: 'Other',
  AreaUnit: 'Square Feet',
  Bedrooms: 0,
  Bathrooms: 0,
  Url: 'https://www.example.com/',
  YearBuilt: 0,
  DaysOnMarket: 0,
  LotArea: 0,
  BuildingArea: 0,
  ParkingSpots: 0,
}

const samplesShown = 3
/** Records to look at: a feed may have sales only. */
const lookedAt = 2000

/**
 * The records that best show how a feed is mapped: a complete one for sale, one for rent, further complete ones, and others
 * only if there are too few.
 */
class Samples {
  #sale: Sample[] = []
  #rent: Sample[] = []
  #others: Sample[] = []
  #looked = 0

  /** Whether a record of this kind could still be shown. Call once for each. */
  wants(delivered: Delivered): boolean {
    if (++this.#looked > lookedAt) return false
    if (delivered.kind === 'listing' || (delivered.kind === 'reject' && lacksFactsOnly(delivered.problems)))
      return this.#sale.length < samplesShown || this.#rent.length < samplesShown
    return this.#others.length < samplesShown
  }

  /** `filledUp`: the same record with missing values filled in; null: that does not complete it. */
  add(delivered: Delivered, filledUp: Delivered | null): void {
    const whole = delivered.kind === 'listing' ? delivered : filledUp?.kind === 'listing' ? filledUp : null
    const sample = sampleOf(delivered, whole)
    if (whole === null) {
      if (this.#others.length < samplesShown) this.#others.push(sample)
      return
    }
    const list = whole.listing.SaleType === 'for_rent' ? this.#rent : this.#sale
    if (list.length < samplesShown) list.push(sample)
  }

  list(): Sample[] {
    const [[sale, ...sales], [rent, ...rents]] = [this.#sale, this.#rent]
    const found = [sale, rent, ...sales, ...rents, ...this.#others].filter((sample) => sample !== undefined)
    return found.slice(0, samplesShown)
  }
}

function sampleOf(delivered: Delivered, whole: Extract<Delivered, { kind: 'listing' }> | null): Sample {
  const problems = delivered.kind === 'reject' ? delivered.problems : []
  const missing = whole === null ? [] : problems.map(({ field }) => field)
  const fields = whole && Object.entries(whole.listing).filter(([name]) => !missing.includes(name))
  return {
    at: delivered.at,
    kind: delivered.kind,
    mlsNumber: mlsNumberOf(delivered),
    listing: fields && Object.fromEntries(fields),
    missing,
    why: delivered.kind === 'removal' || delivered.kind === 'filtered' ? delivered.why : null,
    problems,
  }
}
