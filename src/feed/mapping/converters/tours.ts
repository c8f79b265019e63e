import { z } from 'zod'
import { later } from '../../../core/setting-kinds.ts'
import type { RecordNode } from '../../format/format.ts'
import { joined } from '../path.ts'
import { pathSchema } from '../rule-keys.ts'
import { is3dTour, saysNothing } from '../vocabulary.ts'
import { RuleError, Unreadable } from './converter.ts'
import type { Building, Converter, Making } from './converter.ts'
import { dateReader, instantOf, readTime } from './date.ts'
import type { Written } from './date.ts'
import { webAddress } from './text.ts'

/** Times of open houses: one for each node of `each`, from `date`, `start` and `end`, or from the last two alone. */
const openHouseSchema = later(() =>
  z.strictObject({
    each: pathSchema.optional().describe('Nodes of which each is one open house'),
    date: pathSchema.optional().describe('Path of its day'),
    start: pathSchema.optional().describe('Path of its beginning'),
    end: pathSchema.optional().describe('Path of its end'),
    separator: z.string().min(1).optional().describe('What stands between start and end if both are in one text'),
    formats: z.array(z.string().min(1)).min(1).optional().describe("Forms of these dates; default: the preset's dates"),
  }),
)
type OpenHouseRule = z.output<typeof openHouseSchema>

interface ToursKeys {
  openHouses?: OpenHouseRule[]
  virtual?: string[]
}

/**
 * Tours: OpenHouse while one lies ahead, else 3D if an address is that of a walk-through tour. The end of the last open
 * house is kept, since Tours changes then by itself. Tour addresses are kept in ExtensionColumn, except the listing's own
 * (thepartnerstrust has it in every record).
 */
export const tours: Converter<ToursKeys> = {
  yields: 'text',
  takes: [],
  keys: {
    openHouses: z.array(openHouseSchema).describe('tours: where open houses are'),
    virtual: z.array(pathSchema).describe('tours: paths of addresses of tours'),
  },
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
      const texts = virtual.flatMap((select) => select.all(node))
      if (texts.length === 0 && houses.length === 0) return undefined
      const found = texts.flatMap((text) => webAddress(text) ?? [])
      const addresses = [...new Set(found)].filter((address) => address !== making.listing.Url)
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

/** The end of the last open house, in milliseconds; 0: none. */
function openHouseReader(rule: OpenHouseRule, { select, preset }: Building) {
  const compiled = (written: string | undefined) => (written === undefined ? null : select(written))
  const [each, date, start, end] = [rule.each, rule.date, rule.start, rule.end].map(compiled)
  if (!date && !start) throw new RuleError('openHouses needs date or start')
  const read = dateReader(rule.formats ?? preset.dates)
  const needs = `needs a date written as ${(rule.formats ?? preset.dates).join(' or ')}`

  function endOf(node: RecordNode, { moment }: Making): number | Unreadable {
    const slot = (date ?? start)?.first(node) ?? ''
    const [dayText, slotEnd = ''] = rule.separator === undefined ? [slot] : slot.split(rule.separator, 2)
    if (saysNothing(dayText)) return 0
    const day = read(dayText)
    if (!day) return new Unreadable(dayText, needs)
    // Most open houses are long over; two days cover every time zone and one that ends after midnight.
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
