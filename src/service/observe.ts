/**
 * The walk over the pages of List. Neither the order, nor the page size, nor VirtualCount, nor what comes after the last
 * page can be relied on, so a walk is complete only if nothing in it speaks against it.
 */
import { ServiceError } from '../core/errors.ts'
import type { RemoteSummary } from '../core/listing.ts'
import type { ListItem } from './canonical.ts'

/** One answer of List. */
export interface Page {
  List: ListItem[]
  /** null: the answer has no number there. */
  VirtualCount: number | null
}

/** How to walk. */
export interface WalkOptions {
  /** Asks for one page, numbered from 1. Throws `ServiceError`. */
  list(pageNumber: number, pageSize: number): Promise<Page>
  /** PageSize to begin with. */
  pageSize: number
  /** Told the PageSize that the service took after it had refused a larger one. */
  rememberPageSize(pageSize: number): void
  /**
   * What VirtualCount is worth: nothing, the number of all items (a walk that disagrees is contradictory), or only a
   * reason to stop where it is reached.
   */
  virtualCount: 'unknown' | 'total' | 'end'
  /** A walk that is this long without an end is given up; left out: after a hundred thousand. */
  maxPages?: number
  now(): number
  /** A contradictory walk is begun again: forget what was added. */
  reset(): void
  /** Every item once, as far as IDs can tell. */
  add(items: ListItem[]): void | Promise<void>
}

/** How one walk ended: why it can't be trusted, and whether another one may do better. */
interface WalkEnd {
  reasons: string[]
  again: boolean
  pages: number
  items: number
  /** PageSize for the next walk. */
  pageSize: number
}

const mostWalks = 3
/** A million listings fit even where a service gives no more than ten a page. */
const mostPages = 100_000
/** A walk that goes wrong on every page needs no sentence for each. */
const mostReasons = 5

/** Walks until a walk doesn't contradict itself, three times at most. Throws `ServiceError` where page 1 can't be had. */
export async function walkPages(options: WalkOptions): Promise<RemoteSummary & { startedAt: number }> {
  let { pageSize } = options
  for (let number = 1; ; number++) {
    const startedAt = options.now()
    const end = await walkOnce(options, pageSize, number === mostWalks)
    if (!end.again || number === mostWalks) {
      const reasons = end.again
        ? [...end.reasons, `${mostWalks} walks over the pages contradicted themselves.`]
        : end.reasons
      return { complete: reasons.length === 0, reasons, pages: end.pages, listings: end.items, startedAt }
    }
    pageSize = end.pageSize
    options.reset()
  }
}

/** One walk. Only the last one goes on after a contradiction, to show as much as it can. */
async function walkOnce(options: WalkOptions, asked: number, isLast: boolean): Promise<WalkEnd> {
  const first = await firstPage(options, asked)
  const end: WalkEnd = { reasons: [], again: false, pages: 0, items: 0, pageSize: first.pageSize }
  const contradict = (reason: string, nextPageSize = first.pageSize) => {
    if (end.reasons.length < mostReasons) end.reasons.push(reason)
    end.again = true
    end.pageSize = nextPageSize
  }
  /** The walk has come past the last page. */
  const finish = () => {
    if (options.virtualCount === 'total' && virtualCount !== end.items)
      contradict(`The pages held ${end.items} listings, VirtualCount says ${virtualCount ?? 'nothing'}.`)
    return end
  }
  const effective = first.page.List.length
  const seen = new IdSet()
  let previous: ListItem[] = []
  let virtualCount: number | null = null

  for (let number = 1; ; number++) {
    let items: ListItem[]
    end.pages++
    try {
      ;({ List: items, VirtualCount: virtualCount } =
        number === 1 ? first.page : await options.list(number, first.pageSize))
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind === 'credentials' || error.kind === 'stopped') throw error
      if (error.kind === 'transient') {
        end.reasons.push(`Page ${number} could not be had: ${error.message}.`)
        return end
      }
      // Past the end a service may refuse. After a full page that proves nothing; with one item fewer the last is short.
      if (previous.length < (number === 2 ? first.pageSize : effective)) return finish()
      contradict(`Page ${number} was refused after a full one: ${error.message}.`, Math.max(1, effective - 1))
      return end
    }
    if (items.length === 0) return finish()
    if (isRepeated(items, previous)) {
      // A service may show its last page again. Where that is page 1 it may as well ignore PageNumber: smaller pages tell.
      if (number > 2 || (effective === 1 && first.pageSize > 1)) return finish()
      contradict('Page 2 repeats page 1.', Math.ceil(effective / 2))
      return end
    }
    // Past the end a service may begin again. Page 1 after other pages is the end, as long as it is the very same.
    if (number > 2 && isRepeated(items, first.page.List)) return finish()
    if (number > 1 && (previous.length !== effective || items.length > effective)) {
      const held = `${previous.length} and ${items.length} listings, page 1 ${effective}`
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
      end.reasons.push(`There was no end after ${number} pages.`)
      return end
    }
    previous = items
  }
}

/** Page 1, with PageSize halved as long as it is refused. */
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

/** Whether the ID wasn't shown before; items without one can't be told apart. */
function isNew(seen: IdSet, { ID }: ListItem): boolean {
  return typeof ID !== 'number' && typeof ID !== 'string' ? true : seen.add(ID)
}

function isRepeated(items: ListItem[], previous: ListItem[]): boolean {
  return (
    items.length === previous.length &&
    items[0].ID === previous[0].ID &&
    JSON.stringify(items) === JSON.stringify(previous)
  )
}

/** The IDs of list items seen in one walk: whole numbers in a flat table, eight bytes each, as a walk may show a million. */
export class IdSet {
  #slots = new Uint32Array(1024)
  #size = 0
  /** IDs that are no whole numbers from 1 to 2³² − 1; the interface says integer. */
  readonly #others = new Set<number | string>()

  /** Whether the ID was not there before. */
  add(id: number | string): boolean {
    if (typeof id !== 'number' || id < 1 || id > 0xffffffff || !Number.isInteger(id)) {
      const { size } = this.#others
      return this.#others.add(id).size > size
    }
    if (this.#size * 2 >= this.#slots.length) this.#grow()
    const slot = this.#slotOf(id)
    if (this.#slots[slot] === id) return false
    this.#slots[slot] = id
    this.#size++
    return true
  }

  #slotOf(id: number): number {
    const mask = this.#slots.length - 1
    let slot = Math.imul(id, 0x9e3779b1) & mask
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== id) slot = (slot + 1) & mask
    return slot
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Uint32Array(before.length * 2)
    for (const id of before) if (id !== 0) this.#slots[this.#slotOf(id)] = id
  }
}
