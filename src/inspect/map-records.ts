import { isAscii, isUtf8 } from 'node:buffer'
import { messageOf } from '../core/errors.ts'
import type { Delivered } from '../core/listing.ts'
import type { RawRecord, Reading } from '../feed/format/format.ts'
import { createMapping } from '../feed/mapping/create-mapping.ts'
import type { Mapping, Moment } from '../feed/mapping/mapping.ts'
import type { MappingOptions } from '../feed/mapping/schema.ts'
import type { Choice } from './choice.ts'
import { Profile } from './profile.ts'
import { Samples } from './samples.ts'
import { lacksFactsOnly, Tally } from './tally.ts'

/** What of a reading is kept. */
export class Work {
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
    for (const [index, one] of (mapping?.normalise(fields, record.at, moment) ?? []).entries()) {
      this.#count(one, () => filling?.normalise(fields, record.at, moment)[index] ?? null)
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
