/** The first look at the list: how many listings there are, and what an earlier probe left. */
import { UserError } from '../core/errors.ts'
import type { RemoteSummary } from '../core/listing.ts'
import { isSentinel, sentinelPrefix } from '../core/sentinel.ts'
import type { ListItem } from '../service/canonical.ts'
import type { Calls } from './calls.ts'
import type { Seen } from './question.ts'
import { isMarked, mlsNumberOf, textOf } from './sentinel-listing.ts'
import type { SentinelNames } from './sentinel-listing.ts'

/** Test listings on the service, of any probe. */
export interface Found {
  /** MLSNumbers of those listed under the number that was sent. */
  leftOver: string[]
  /** Rows of those listed under another MLSNumber, as a service may cut it or change its case. */
  renamed: ListItem[]
  /** Why some possible sentinels are not touched. */
  doubtful: string[]
}

/** Reads the list once. Throws `ServiceError` if it can't be read, `UserError` if List refuses the filter. */
export async function survey(calls: Calls, names: SentinelNames): Promise<Found & { seen: Seen }> {
  const { listings, summary, rows, ...found } = await findSentinels(calls)
  const absent = await calls.list({ MLSNumber: names.absent(0), PageNumber: 1, PageSize: calls.pageSize })
  if (!absent.taken) throw new UserError(`List refuses its MLSNumber filter: ${absent.message}`)
  const { complete, reasons, pages } = summary
  const filters = absent.value.List.length === 0
  return { seen: { complete, reasons, pages, listings: listings - rows, filters }, ...found }
}

/** Searches the list for test listings. `listings`: the number of all; `rows`: of sentinels that can be removed. */
export async function findSentinels(
  calls: Calls,
): Promise<Found & { summary: RemoteSummary; listings: number; rows: number }> {
  let listings = 0
  let alike: ListItem[] = []
  const summary = await calls.walk(
    {},
    {
      reset() {
        listings = 0
        alike = []
      },
      add(items) {
        listings += items.length
        alike.push(...items.filter((item) => isMarked(item) || isCalledAlike(item)))
      },
    },
  )
  const found = sorted(alike, summary.complete)
  const rows = alike.filter((item) => found.leftOver.includes(mlsNumberOf(item))).length + found.renamed.length
  return { ...found, summary, listings, rows }
}

/** Has the name of a sentinel, perhaps cut. */
function isCalledAlike(item: ListItem): boolean {
  const name = folded(item)
  return name.startsWith(sentinelPrefix) || (name !== '' && sentinelPrefix.startsWith(name))
}

function folded(item: ListItem): string {
  return mlsNumberOf(item).toLowerCase()
}

/**
 * A sentinel has both the MLSNumber and the Url of one. If a service ignores case, a Delete could reach another listing of a
 * similar name: such cases are left to a person. One under another MLSNumber is recognised by its Url, if every listing of
 * that number has such a Url and the list was complete.
 */
function sorted(alike: ListItem[], complete: boolean): Found {
  const leftOver = new Set<string>()
  const renamed = new Set<ListItem>()
  const doubtful = new Set<string>()
  for (const item of alike) {
    const mlsNumber = mlsNumberOf(item)
    const same = alike.filter((other) => folded(other) === folded(item))
    if (isSentinel(mlsNumber)) {
      const token = mlsNumber.slice(-14, -2)
      const isOurs = same.every((other) => textOf(other, 'MLSNumber') === mlsNumber && isMarked(other, token))
      if (isOurs) leftOver.add(mlsNumber)
      else
        doubtful.add(
          `${mlsNumber} has the name of a test listing, but a listing of that name does not look like one: it was not touched; check it yourself`,
        )
    } else if (isMarked(item)) {
      if (complete && isCalledAlike(item) && same.every((other) => isMarked(other))) renamed.add(item)
      else
        doubtful.add(
          `the listing with MLSNumber ${mlsNumber} has the Url of a test listing, ${textOf(item, 'Url')}, but not the number of one: it was not touched; check it yourself`,
        )
    }
  }
  return { leftOver: [...leftOver], renamed: [...renamed], doubtful: [...doubtful] }
}
