/** One chatbot for one run: adds SerialNumber, the feed's mark and the profile to each call, walks pages, looks up. */
import { ServiceError } from '../core/errors.ts'
import { fieldRules, ownerKey } from '../core/listing.ts'
import type { ExtensionEntry, FieldName, FieldValue, Glimpse, Listing, Shown } from '../core/listing.ts'
import type { Clock } from '../core/machine.ts'
import { markOf } from '../core/mark.ts'
import type { Stamp } from '../core/mark.ts'
import { createItemReader } from './canonical.ts'
import type { ListItem } from './canonical.ts'
import { walkPages } from './observe.ts'
import type { WalkOptions } from './observe.ts'
import { createOperation, deleteOperation, listOperation, updateOperation } from './operations.ts'
import type { Operation } from './operations.ts'
import type { Answer, BeforeSend, Calls, Chatbot } from './service.ts'
import type { ServiceProfile } from './settings.ts'

export interface Binding {
  profile: ServiceProfile
  /** Left out of the hash of what is shown. */
  volatile: ReadonlySet<FieldName>
  /** The feed to mark listings with; null: no mark. */
  mark: string | null
  /** Names that this feed had before: their marks are its own. */
  formerly?: ReadonlySet<string>
}

interface Carrier {
  call<T>(this: void, operation: Operation<T>, body: object, beforeSend?: BeforeSend): Promise<Answer<T>>
  calls: Calls
  /** The PageSize that the service accepted after refusing a larger one. */
  endpoint: { pageSize: number }
  clock: Clock
}

export function bindChatbot(
  SerialNumber: string,
  { profile, volatile, mark, formerly }: Binding,
  { call, calls, endpoint, clock }: Carrier,
): Chatbot {
  const readItem = createItemReader(volatile, profile.saleTypeShown)
  const known = (item: Glimpse): Glimpse => {
    const { owner } = item
    if (owner === null) return item
    // A mark that the service cut still begins with its feed's name, and no name has a "/".
    const isCut = mark !== null && owner.startsWith(`${mark}/`)
    if (!isCut && !formerly?.has(owner)) return item
    const own = isCut ? { owner: mark } : ({ owner: mark, isFormer: true } as const)
    return { ...item, ...own, whole: () => ({ ...item.whole(), ...own }) }
  }
  const readItems = (items: ListItem[]): Glimpse[] => {
    const read: Glimpse[] = []
    for (const item of items) {
      const found = readItem(item)
      if (found !== null) read.push(known(found))
    }
    return read
  }
  const walk = (filter: { MLSNumber?: string }, rest: Pick<WalkOptions, 'virtualCount' | 'reset' | 'add'>) =>
    walkPages({
      list: async (PageNumber, PageSize) =>
        (await call(listOperation, { SerialNumber, ...filter, PageNumber, PageSize })).value,
      pageSize: Math.min(profile.pageSize, endpoint.pageSize),
      rememberPageSize: (taken) => (endpoint.pageSize = taken),
      now: () => clock.now(),
      ...rest,
    })
  let stamp: Stamp | null = null
  const bodyOf = (listing: Listing, clear: readonly FieldName[]) => ({
    SerialNumber,
    ...listingBody(listing, mark === null ? null : markOf(mark, stamp), clear, profile.clear),
  })

  return {
    calls,
    mark,
    get stamp() {
      return stamp
    },
    sign: (by) => void (stamp = by),

    observe(sink) {
      const { virtualCount } = profile
      return walk({}, { virtualCount, reset: () => sink.reset(), add: (items) => sink.add(readItems(items), items) })
    },

    async lookUp(mlsNumber) {
      let found: Shown[] = []
      const { complete, reasons } = await walk(
        { MLSNumber: mlsNumber },
        {
          // Under a filter VirtualCount may count all listings or the matching ones.
          virtualCount: profile.virtualCount === 'total' ? 'end' : 'unknown',
          reset: () => (found = []),
          // The filter may be ignored, or match part of a number.
          add(items) {
            for (const item of readItems(items)) if (item.mlsNumber === mlsNumber) found.push(item.whole())
          },
        },
      )
      if (complete) return found
      throw new ServiceError('transient', `The look-up of ${mlsNumber} is incomplete: ${reasons.join(' ')}`)
    },

    create: (listing, beforeSend) => call(createOperation, bodyOf(listing, []), beforeSend),

    update: (listing, clear, beforeSend) =>
      call(updateOperation, { ...bodyOf(listing, clear), Key: listing.MLSNumber, KeyType: 'MLSNumber' }, beforeSend),

    delete: (Keys, beforeSend) => call(deleteOperation, { SerialNumber, Keys, KeyType: 'MLSNumber' }, beforeSend),

    deleteByNativeId: (id, beforeSend) =>
      call(deleteOperation, { SerialNumber, Keys: [id], KeyType: 'NativeId' }, beforeSend),
  }
}

/**
 * The body of a Create or Update: all fields of the listing in the order of `fieldRules`, with the feed's mark last in
 * ExtensionColumn. Missing fields in `clear` are sent empty if that clears them on the service; numbers have no empty form
 * and are left out.
 */
export function listingBody(
  listing: Listing,
  mark: string | null,
  clear: readonly FieldName[],
  way: ServiceProfile['clear'],
): Record<string, FieldValue> {
  const body: Record<string, FieldValue> = {}
  for (const { name, type } of fieldRules) {
    const value = name === 'ExtensionColumn' ? withMark(listing.ExtensionColumn, mark) : listing[name]
    if (value !== undefined) body[name] = value
    else if (type !== 'number' && way === 'empty' && clear.includes(name)) body[name] = type === 'text' ? '' : []
  }
  return body
}

function withMark(entries: ExtensionEntry[] | undefined, mark: string | null): ExtensionEntry[] | undefined {
  // A feed must not mark its listings as another feed's.
  const own = entries?.filter(({ Key }) => Key !== ownerKey)
  return mark === null ? own : [...(own ?? []), { Key: ownerKey, value: mark }]
}
