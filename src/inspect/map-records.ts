import { isAscii, isUtf8 } from 'node:buffer'
import { messageOf } from '../core/errors.ts'
import type { Delivered } from '../core/listing.ts'
import type { RawRecord, Reading } from '../feed/format/format.ts'
import { createMapping } from '../feed/mapping/create-mapping.ts'
import type { Mapping, Moment } from '../feed/mapping/mapping.ts'
import type { MappingOptions } from '../feed/mapping/preset.ts'
import type { Choice } from './choice.ts'
import type { Sample } from './findings.ts'
import { Profile } from './profile.ts'
import { lacksFactsOnly, Tally } from './tally.ts'

/** The records of a feed, mapped one after another: what of them is kept. */
export class MappedRecords {
  records = 0
  notUtf8 = 0
  beyondAscii = false
  readonly profile = new Profile()
  readonly tally = new Tally()
  readonly samples = new Samples()
  readonly mapping: Mapping | null
  readonly moment: Moment
  /** Fills up what a record lacks, to show the rest of it. */
  readonly filling: Mapping | null

  constructor({ preset, options }: Choice, moment: Moment) {
    this.moment = moment
    this.mapping = preset && createMapping(preset, options, preset.file, this.tally.unmapped)
    this.filling = preset && createMapping(preset, { ...options, defaults: { ...placeholders, ...options.defaults } })
  }

  take(reading: Reading, record: RawRecord): void {
    this.records++
    if (!isUtf8(record.raw)) this.notUtf8++
    else this.beyondAscii ||= !isAscii(record.raw)
    const { mapping, moment, filling } = this
    let fields
    try {
      fields = reading.parse(record)
    } catch (error) {
      const problems = [{ field: 'record', value: null, problem: messageOf(error) }]
      this.#count({ kind: 'reject', at: record.at, mlsNumber: null, problems }, () => null)
      return
    }
    this.profile.add(fields)
    for (const [index, delivered] of (mapping?.normalise(fields, record.at, moment) ?? []).entries()) {
      this.#count(delivered, () => filling?.normalise(fields, record.at, moment)[index] ?? null)
    }
  }

  #count(delivered: Delivered, filledUp: () => Delivered | null): void {
    this.tally.add(delivered)
    if (!this.samples.wants(delivered)) return
    const lacks = delivered.kind === 'reject' && lacksFactsOnly(delivered.problems)
    this.samples.add(delivered, lacks ? filledUp() : null)
  }
}

/** Stand for facts that a record lacks while the rest of it is shown; no report ever holds them. */
const placeholders: MappingOptions['defaults'] = {
  SaleType: 'for_sale',
  Status: 'Active',
  CurrencySymbol: '$',
  PropertyType: 'Other',
  Bedrooms: 0,
  Bathrooms: 0,
  Url: 'https://www.example.com/',
  YearBuilt: 0,
  DaysOnMarket: 0,
  LotArea: 0,
  BuildingArea: 0,
  AreaUnit: 'Square Feet',
  ParkingSpots: 0,
}

const samplesShown = 3
/** Records looked at: a feed of sales only has no rental to wait for. */
const lookedAt = 2000

/**
 * The records that show best how a feed is mapped: a whole one for sale, a whole one for rent, more whole ones, and only
 * where there are too few of them, others.
 */
class Samples {
  #sale: Sample[] = []
  #rent: Sample[] = []
  #others: Sample[] = []

  #looked = 0

  /** Whether a record of this kind could still be one of those shown. Asked once for each. */
  wants(delivered: Delivered): boolean {
    if (++this.#looked > lookedAt) return false
    if (delivered.kind === 'listing' || (delivered.kind === 'reject' && lacksFactsOnly(delivered.problems)))
      return this.#sale.length < samplesShown || this.#rent.length < samplesShown
    return this.#others.length < samplesShown
  }

  /** `filledUp`: the same record where the facts that it lacks are given; null: it can't be made whole by that. */
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
    const [sale, rent] = [this.#sale, this.#rent]
    return [...sale.slice(0, 1), ...rent.slice(0, 1), ...sale.slice(1), ...rent.slice(1), ...this.#others].slice(
      0,
      samplesShown,
    )
  }
}

function sampleOf(delivered: Delivered, whole: Extract<Delivered, { kind: 'listing' }> | null): Sample {
  const problems = delivered.kind === 'reject' ? delivered.problems : []
  const missing = whole === null ? [] : problems.map(({ field }) => field)
  const listing =
    whole === null
      ? null
      : Object.fromEntries(Object.entries(whole.listing).filter(([name]) => !missing.includes(name)))
  return {
    at: delivered.at,
    kind: delivered.kind,
    mlsNumber: delivered.kind === 'listing' ? delivered.listing.MLSNumber : delivered.mlsNumber,
    listing,
    missing,
    why: delivered.kind === 'removal' || delivered.kind === 'filtered' ? delivered.why : null,
    problems,
  }
}
