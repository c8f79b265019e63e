/** The first look at the list: how many listings there are, and what an earlier probe left. */
import { UserError } from '../core/errors.ts'
import type { RemoteSummary } from '../core/listing.ts'
import { isSentinel, sentinelPrefix } from '../core/sentinel.ts'
import type { ListItem } from '../service/canonical.ts'
import type { Calls } from './calls.ts'
import type { Seen } from './question.ts'
import { isMarked, mlsNumberOf, textOf } from './sentinel-listing.ts'
import type { SentinelNames } from './sentinel-listing.ts'

/** Test listings that are on the service, whoever left them. */
export interface Found {
  /** MLSNumbers of those that are called as they were sent. */
  leftOver: string[]
  /** The rows of those that are listed under another MLSNumber, as a service may cut it or fold its case. */
  renamed: ListItem[]
  /** Why some of what looks like a sentinel is not touched. */
  doubtful: string[]
}

export interface Survey extends Found {
  seen: Seen
}

/** Walks the list once. Throws `ServiceError` where it can't be had, `UserError` where List refuses. */
export async function survey(calls: Calls, names: SentinelNames): Promise<Survey> {
  const { listings, summary, rows, ...found } = await findSentinels(calls)
  const absent = await calls.list({ MLSNumber: names.absent(0), PageNumber: 1, PageSize: calls.pageSize })
  if (!absent.taken) throw new UserError(`List refuses its MLSNumber filter: ${absent.message}`)
  const { complete, reasons, pages } = summary
  const filters = absent.value.List.length === 0
  return { seen: { complete, reasons, pages, listings: listings - rows, filters }, ...found }
}

/** Walks the list for test listings. `listings` are all that there are, `rows` those of the sentinels that can be removed. */
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

/** Called like a sentinel, or as one whose name was cut. */
function isCalledAlike(item: ListItem): boolean {
  const name = folded(item)
  return name.startsWith(sentinelPrefix) || (name !== '' && sentinelPrefix.startsWith(name))
}

function folded(item: ListItem): string {
  return mlsNumberOf(item).toLowerCase()
}

/**
 * Sentinels are told by their MLSNumber and their address together. Where a service takes upper and lower case for the same, a
 * Delete could reach another listing that is called alike: such are left to a person. One that is listed under another
 * MLSNumber is told by its address, where every listing of that number has such a one and the whole list was seen.
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
          `${mlsNumber} is called like a test listing of a probe, but a listing of that name does not look like one: it was not touched, look at it by hand`,
        )
    } else if (isMarked(item)) {
      if (complete && isCalledAlike(item) && same.every((other) => isMarked(other))) renamed.add(item)
      else
        doubtful.add(
          `the listing with MLSNumber ${mlsNumber} has the Url of a test listing, ${textOf(item, 'Url')}, but another number than a probe gives: it was not touched, look at it by hand`,
        )
    }
  }
  return { leftOver: [...leftOver], renamed: [...renamed], doubtful: [...doubtful] }
}
