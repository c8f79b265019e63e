import { z } from 'zod'
import type { RecordNode } from '../../format/format.ts'
import { joined } from '../path.ts'
import { pathSchema } from '../rule-keys.ts'
import { is3dTour, saysNothing } from '../vocabulary.ts'
import { RuleError, Unreadable } from './converter.ts'
import type { Building, Converter, Making } from './converter.ts'
import { dateReader, instantOf, readTime } from './date.ts'
import type { Written } from './date.ts'
import { webAddress } from './text.ts'

/** When an open house is: a slot for each node of `each`, from `date` with `start` and `end`, or from these two alone. */
const openHouseSchema = z.strictObject({
  each: pathSchema.optional(),
  date: pathSchema.optional(),
  start: pathSchema.optional(),
  end: pathSchema.optional(),
  /** What parts start from end where both are one text: ` to `. */
  separator: z.string().min(1).optional(),
  formats: z.array(z.string().min(1)).min(1).optional(),
})
type OpenHouseRule = z.output<typeof openHouseSchema>

interface ToursKeys {
  openHouses?: OpenHouseRule[]
  virtual?: string[]
}

/**
 * Tours: OpenHouse while a slot lies ahead, else 3D where an address is that of a tour one can walk through.
 * The end of the last slot is remembered, as Tours changes then by itself. Every tour's address is kept in
 * ExtensionColumn, unless it is the listing's own (thepartnerstrust writes that one in every record).
 */
export const tours: Converter<ToursKeys> = {
  yields: 'text',
  takes: [],
  keys: { openHouses: z.array(openHouseSchema), virtual: z.array(pathSchema) },
  paths: ({ openHouses = [], virtual = [] }) => [
    ...virtual,
    ...openHouses.flatMap(({ each = '', date, start, end }) =>
      [date, start, end].flatMap((inner) => (inner === undefined ? [] : [joined(each, inner)])),
    ),
  ],
  needsFrom: false,
  build: (building) => {
    const { rule, select } = building
    const houses = (rule.openHouses ?? []).map((house) => openHouseReader(house, building))
    const virtual = (rule.virtual ?? []).map(select)
    if (houses.length + virtual.length === 0) throw new RuleError('tours needs openHouses or virtual')

    return (node, making) => {
      const addresses = tourAddresses(
        virtual.flatMap((select) => select.all(node)),
        making.listing.Url,
      )
      for (const value of addresses) making.kept.push({ Key: 'VirtualTour', value })
      const has3d = addresses.some(is3dTour)
      let until = 0
      for (const read of houses) {
        const end = read(node, making)
        if (end instanceof Unreadable) return end
        until = Math.max(until, end)
      }
      if (until <= making.moment.now) return has3d ? '3D' : undefined
      making.moving.openHouseUntil = until
      if (has3d) making.moving.toursAfter = '3D'
      return 'OpenHouse'
    }
  },
}

function tourAddresses(texts: string[], listingUrl: string | undefined): string[] {
  const found = new Set<string>()
  for (const text of texts) {
    const address = webAddress(text)
    if (address !== null && address !== listingUrl) found.add(address)
  }
  return [...found]
}

/** Reads the end of the last slot, in milliseconds; 0 where there is none. */
function openHouseReader(rule: OpenHouseRule, { select, preset }: Building) {
  const compiled = (written: string | undefined) => (written === undefined ? null : select(written))
  const [each, date, start, end] = [rule.each, rule.date, rule.start, rule.end].map(compiled)
  if (!date && !start) throw new RuleError('openHouses needs date or start')
  const read = dateReader(rule.formats ?? preset.dates)
  const needs = new Unreadable('', `needs a date written as ${(rule.formats ?? preset.dates).join(' or ')}`)

  function endOf(node: RecordNode, { moment }: Making): number | Unreadable {
    const slot = (date ?? start)?.first(node) ?? ''
    const [dayText, slotEnd = ''] = rule.separator === undefined ? [slot] : slot.split(rule.separator, 2)
    if (saysNothing(dayText)) return 0
    const day = read(dayText)
    if (!day) return new Unreadable(dayText, needs.problem)
    // Two days cover every time zone and a slot beyond midnight: most slots of most feeds are long over.
    if (Date.UTC(day.year, day.month - 1, day.day + 3) <= moment.now) return 0
    const endText = end?.first(node) ?? slotEnd.trim()
    if (saysNothing(endText)) return instantOf(day, 24 * 60, moment.timezone)
    const endDay: Written = read(endText) ?? day
    const minutes = endDay === day ? readTime(endText) : endDay.minutes
    return minutes === null
      ? new Unreadable(endText, 'needs a time such as 16:00 or 4:00 PM')
      : instantOf(endDay, minutes, moment.timezone)
  }

  return (record: RecordNode, making: Making): number | Unreadable => {
    let last = 0
    for (const node of each ? each.nodes(record) : [record]) {
      const ends = endOf(node, making)
      if (ends instanceof Unreadable) return ends
      last = Math.max(last, ends)
    }
    return last
  }
}
