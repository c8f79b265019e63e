/** The operations of one run over one chatbot, as the rest of the program sees them. */
import { ServiceError } from '../errors.ts'
import type { Shown } from '../listing.ts'
import type { Calls } from '../run.ts'
import type { Clock } from '../runtime.ts'
import type { ListItem } from './canonical.ts'
import { walkPages } from './observe.ts'
import type { WalkOptions } from './observe.ts'
import { createOperation, deleteOperation, listingBody, listOperation, updateOperation } from './operations.ts'
import type { Call } from './retry.ts'
import type { ServiceProfile, ServiceWriter } from './service.ts'

interface WriterParts {
  serialNumber: string
  profile: ServiceProfile
  /** PageSize in use, shared by all writers of the service: smaller than the profile's once that was refused (U8). */
  pageSize: { current: number }
  readItems(this: void, items: ListItem[]): Shown[]
  clock: Clock
  calls: Calls
  call: Call
}

/** A million listings fit even where a service gives no more than ten a page. */
const maxPages = 100_000

export function createWriter(parts: WriterParts): ServiceWriter {
  const { serialNumber, profile, pageSize, readItems, call } = parts
  const walk = (filter: { MLSNumber?: string }, rest: Pick<WalkOptions, 'virtualCount' | 'reset' | 'add'>) =>
    walkPages({
      async list(PageNumber, PageSize) {
        const body = { SerialNumber: serialNumber, ...filter, PageNumber, PageSize }
        return (await call(listOperation, body)).value
      },
      pageSize: pageSize.current,
      rememberPageSize(accepted) {
        pageSize.current = accepted
      },
      maxPages,
      now: () => parts.clock.now(),
      ...rest,
    })

  return {
    calls: parts.calls,

    observe: (sink) => {
      const { virtualCount } = profile
      return walk({}, { virtualCount, reset: () => sink.reset(), add: (items) => sink.add(readItems(items)) })
    },

    async lookUp(mlsNumber) {
      let found: Shown[] = []
      const { complete, reasons } = await walk(
        { MLSNumber: mlsNumber },
        {
          // Under a filter VirtualCount may count all listings or the matching ones.
          virtualCount: profile.virtualCount === 'total' ? 'end' : 'unknown',
          reset: () => (found = []),
          // The filter may be ignored, or match a part of the number.
          add: (items) => found.push(...readItems(items).filter((shown) => shown.mlsNumber === mlsNumber)),
        },
      )
      if (complete) return found
      throw new ServiceError('transient', `The look-up of ${mlsNumber} is incomplete: ${reasons.join(' ')}`)
    },

    create: (listing, owner, beforeSend) =>
      call(createOperation, listingBody(serialNumber, listing, owner, [], profile), beforeSend),

    update(listing, owner, clear, beforeSend) {
      const body = listingBody(serialNumber, listing, owner, clear, profile)
      body.Key = listing.MLSNumber
      body.KeyType = 'MLSNumber'
      return call(updateOperation, body, beforeSend)
    },

    delete: (mlsNumbers, beforeSend) =>
      call(deleteOperation, { SerialNumber: serialNumber, Keys: mlsNumbers, KeyType: 'MLSNumber' }, beforeSend),

    deleteById: (id, beforeSend) =>
      call(deleteOperation, { SerialNumber: serialNumber, Keys: [String(id)], KeyType: 'NativeId' }, beforeSend),
  }
}
