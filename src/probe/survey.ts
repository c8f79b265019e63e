/** The first look at the list: how many listings there are, and what an earlier probe left. */
import { UserError } from '../errors.ts'
import { isSentinel, sentinelPrefix } from '../sentinel.ts'
import type { ListItem, ProbeCalls, Seen } from './probe.ts'
import { mlsNumberOf, textOf } from './sentinel.ts'
import type { SentinelNames } from './sentinel.ts'

export interface Survey {
  seen: Seen
  /** MLSNumbers of sentinels that an earlier probe left. */
  leftOver: string[]
  /** Why some of what looks like a sentinel is not touched. */
  doubtful: string[]
}

/** Walks the list once. Throws `ServiceError` where it can't be had, `UserError` where List refuses. */
export async function survey(calls: ProbeCalls, names: SentinelNames): Promise<Survey> {
  let listings = 0
  let alike: ListItem[] = []
  const isAlike = (item: ListItem): boolean => mlsNumberOf(item).toLowerCase().startsWith(sentinelPrefix)
  const summary = await calls.walk(
    {},
    {
      reset() {
        listings = 0
        alike = []
      },
      add(items) {
        listings += items.length
        alike.push(...items.filter(isAlike))
      },
    },
  )
  const { leftOver, doubtful } = sorted(alike)
  const absent = await calls.list({ MLSNumber: names.absent(0), PageNumber: 1, PageSize: calls.pageSize })
  if (!absent.taken) throw new UserError(`List refuses its MLSNumber filter: ${absent.message}`)
  const { complete, reasons, pages } = summary
  const others = listings - alike.filter((item) => leftOver.includes(mlsNumberOf(item))).length
  const filters = absent.value.items.length === 0
  return { seen: { complete, reasons, pages, listings: others, filters }, leftOver, doubtful }
}

/**
 * Sentinels are told by their MLSNumber and their address together. Where a service takes upper and lower case for the same, a
 * Delete could reach another listing that is called alike: such are left to a person.
 */
function sorted(alike: ListItem[]): { leftOver: string[]; doubtful: string[] } {
  const leftOver = new Set<string>()
  const doubtful = new Set<string>()
  for (const item of alike) {
    const mlsNumber = mlsNumberOf(item)
    if (!isSentinel(mlsNumber)) continue
    const token = mlsNumber.slice(-14, -2)
    const same = alike.filter((other) => mlsNumberOf(other).toLowerCase() === mlsNumber.toLowerCase())
    const isOurs = same.every(
      (other) =>
        textOf(other, 'MLSNumber') === mlsNumber &&
        textOf(other, 'Url').startsWith(`https://listing-sync.invalid/probe/${token}/`),
    )
    if (isOurs) leftOver.add(mlsNumber)
    else
      doubtful.add(
        `${mlsNumber} is called like a test listing of a probe, but a listing of that name does not look like one: it was not touched, look at it by hand`,
      )
  }
  return { leftOver: [...leftOver], doubtful: [...doubtful] }
}
