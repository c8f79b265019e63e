/**
 * Walks the pages of List. Order, page size, VirtualCount and what follows the last page are not documented, so a walk counts
 * as complete only if nothing in it contradicts that.
 */
import { BitSet } from '../core/bit-set.ts'
import { ServiceError } from '../core/errors.ts'
import type { RemoteSummary } from '../core/listing.ts'
import { many } from '../core/text.ts'
import type { ListItem } from './canonical.ts'

/** One page as it came. List null: the service sent none; VirtualCount null: not a number. One of them is there. */
export type Page = { List: ListItem[]; VirtualCount: number | null } | { List: null; VirtualCount: number }

/**
 * The listings of a page. Without a list there are none, if VirtualCount agrees: it says no more than the `before` listings of
 * the pages before. Throws `ServiceError`.
 */
export function listingsOf({ List, VirtualCount }: Page, before: number): ListItem[] {
  if (List !== null) return List
  if (VirtualCount <= before) return []
  throw new ServiceError(
    'transient',
    `The answer to List is not in its documented form: Data.List is missing, though VirtualCount says ${many(VirtualCount, 'listing')}`,
    { code: 200 },
  )
}

export interface WalkOptions {
  /** Asks for one page, numbered from 1. Throws `ServiceError`. */
  list(pageNumber: number, pageSize: number): Promise<Page>
  /** PageSize to begin with. */
  pageSize: number
  /** Called with the PageSize that the service accepted after refusing a larger one. */
  rememberPageSize(pageSize: number): void
  /**
   * What VirtualCount means: nothing, the number of all items (a walk that disagrees is contradictory), or only where to
   * stop.
   */
  virtualCount: 'unknown' | 'total' | 'end'
  /** Gives up a walk after so many pages; default: a hundred thousand. */
  maxPages?: number
  now(): number
  /** A walk that contradicted itself starts again: forgets what was added. */
  reset(): void
  /** Gets every item once, by its ID. */
  add(items: ListItem[]): void | Promise<void>
}

/** How one walk ended: why it is not complete, and whether another may be. */
interface WalkEnd {
  reasons: string[]
  again: boolean
  pages: number
  items: number
  /** PageSize for the next walk. */
  pageSize: number
}

const mostWalks = 3
/** A million listings at ten per page. */
const mostPages = 100_000
/** Limits the sentences of a walk that fails on every page. */
const mostReasons = 5

/** Walks until a walk doesn't contradict itself, at most three times. Throws `ServiceError` if page 1 can't be read. */
export async function walkPages(options: WalkOptions): Promise<RemoteSummary & { startedAt: number }> {
  let { pageSize } = options
  for (let number = 1; ; number++) {
    const startedAt = options.now()
    const end = await walkOnce(options, pageSize, number === mostWalks)
    if (!end.again || number === mostWalks) {
      const reasons = end.again
        ? [...end.reasons, `${mostWalks} readings of the list contradicted themselves.`]
        : end.reasons
      return { complete: reasons.length === 0, reasons, pages: end.pages, listings: end.items, startedAt }
    }
    pageSize = end.pageSize
    options.reset()
  }
}

/** One walk. Only the last one goes on after a contradiction, to find as much as possible. */
async function walkOnce(options: WalkOptions, asked: number, isLast: boolean): Promise<WalkEnd> {
  const first = await firstPage(options, asked)
  const end: WalkEnd = { reasons: [], again: false, pages: 0, items: 0, pageSize: first.pageSize }
  const contradict = (reason: string, nextPageSize = first.pageSize) => {
    if (end.reasons.length < mostReasons) end.reasons.push(reason)
    end.again = true
    end.pageSize = nextPageSize
  }
  /** After the last page. */
  const finish = () => {
    if (options.virtualCount === 'total' && virtualCount !== end.items)
      contradict(`The pages held ${many(end.items, 'listing')}, VirtualCount says ${virtualCount ?? 'nothing'}.`)
    return end
  }
  const firstItems = listingsOf(first.page, 0)
  const effective = firstItems.length
  const seen = new IdSet()
  let previous: ListItem[] = []
  let virtualCount: number | null = null

  for (let number = 1; ; number++) {
    let items: ListItem[]
    end.pages++
    try {
      const page = number === 1 ? first.page : await options.list(number, first.pageSize)
      items = listingsOf(page, end.items)
      // If a listing leaves an earlier page, the others move up: one that was not read yet may move onto a page that was.
      if (options.virtualCount !== 'unknown' && hasFallen(virtualCount, page.VirtualCount))
        contradict(`On page ${number} VirtualCount fell from ${virtualCount} to ${page.VirtualCount}.`)
      virtualCount = page.VirtualCount
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind === 'credentials' || error.kind === 'stopped') throw error
      if (error.kind === 'transient') {
        end.reasons.push(`Page ${number} could not be read: ${error.message}.`)
        return end
      }
      // A service may refuse a page after the end. After a full page that proves nothing; with a smaller page size the last is short.
      if (previous.length < (number === 2 ? first.pageSize : effective)) return finish()
      contradict(`Page ${number} was refused after a full one: ${error.message}.`, Math.max(1, effective - 1))
      return end
    }
    if (items.length === 0) return finish()
    if (isRepeated(items, previous)) {
      // A service may repeat its last page. If that is page 1, it may also ignore PageNumber: smaller pages show which.
      if (number > 2 || (effective === 1 && first.pageSize > 1)) return finish()
      contradict('Page 2 repeats page 1.', Math.ceil(effective / 2))
      return end
    }
    // After the end a service may start again: an identical page 1 after other pages is the end.
    if (number > 2 && isRepeated(items, firstItems)) return finish()
    if (number > 1 && (previous.length !== effective || items.length > effective)) {
      const held = `${previous.length} and ${many(items.length, 'listing')}, page 1 ${effective}`
      contradict(`Pages ${number - 1} and ${number} held ${held}.`)
    }
    const fresh = items.filter((item) => isNew(seen, item))
    if (fresh.length < items.length) contradict(`Page ${number} shows listings a second time.`)
    end.items += fresh.length
    await options.add(fresh)
    if (end.again && !isLast) return end
    if (options.virtualCount !== 'unknown' && end.items === virtualCount) return end
    if (options.virtualCount === 'total' && virtualCount !== null && end.items > virtualCount) return finish()
    if (number >= (options.maxPages ?? mostPages)) {
      end.reasons.push(`The list did not end after ${many(number, 'page')}.`)
      return end
    }
    previous = items
  }
}

/** Page 1, with PageSize halved until it is accepted. */
async function firstPage(options: WalkOptions, asked: number): Promise<{ page: Page; pageSize: number }> {
  for (let pageSize = asked; ; pageSize = Math.floor(pageSize / 2)) {
    try {
      const page = await options.list(1, pageSize)
      if (pageSize < asked) options.rememberPageSize(pageSize)
      return { page, pageSize }
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'refused' || pageSize <= 1) throw error
    }
  }
}

/** Whether VirtualCount fell. A 0 after the last page does not mean that the list became shorter. */
const hasFallen = (before: number | null, count: number | null): boolean =>
  before !== null && count !== null && count > 0 && count < before

/** Whether an item's ID, a number or its digits, is new. Items without an ID always count as new. */
function isNew(seen: IdSet, { ID }: ListItem): boolean {
  if (typeof ID === 'string') return seen.add(/^[1-9]\d{0,14}$/.test(ID) ? Number(ID) : ID)
  return typeof ID === 'number' ? seen.add(ID) : true
}

function isRepeated(items: ListItem[], previous: ListItem[]): boolean {
  return (
    items.length === previous.length &&
    items[0].ID === previous[0].ID &&
    JSON.stringify(items) === JSON.stringify(previous)
  )
}

/** From so many IDs with the same upper half on, a bit for each possible ID takes no more memory than a list. */
const mostListed = 1024

/** The IDs seen in one walk, perhaps a million. Consecutive ones take a bit each, others at most some bytes. */
export class IdSet {
  /** For each upper half of IDs, their lower halves: a sorted list, or a bit for each. */
  readonly #lowerHalves = new Map<number, number[] | BitSet>()
  /** IDs that are not whole numbers from 1 to 2³² − 1. */
  readonly #others = new Set<number | string>()

  /** Returns whether the ID is new. */
  add(id: number | string): boolean {
    if (typeof id !== 'number' || id < 1 || id > 0xffffffff || !Number.isInteger(id)) {
      const { size } = this.#others
      return this.#others.add(id).size > size
    }
    const [upper, lower] = [id >>> 16, id & 0xffff]
    const halves = this.#lowerHalves.get(upper)
    if (halves === undefined) {
      this.#lowerHalves.set(upper, [lower])
      return true
    }
    if (!Array.isArray(halves)) return halves.add(lower)
    const place = placeOf(halves, lower)
    if (halves[place] === lower) return false
    halves.splice(place, 0, lower)
    if (halves.length <= mostListed) return true
    const bits = new BitSet()
    for (const half of halves) bits.add(half)
    this.#lowerHalves.set(upper, bits)
    return true
  }
}

/** The index of a number among sorted ones, or where it would be. */
function placeOf(sorted: readonly number[], number: number): number {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (sorted[middle] < number) from = middle + 1
    else to = middle
  }
  return from
}
