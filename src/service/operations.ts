/** The operations of the interface but ClientAsk: paths, bodies in a stable field order, and what `Data` must hold. */
import { fieldRules, ownerKey } from '../core/listing.ts'
import type { ExtensionEntry, FieldName, FieldValue, Listing } from '../core/listing.ts'
import type { ListItem } from './canonical.ts'
import type { Page } from './observe.ts'
import type { Operation } from './retry.ts'
import type { ServiceProfile } from './service.ts'

/** Interface, "3. Create": Data is the identifier of the new listing. */
export const createOperation: Operation<string> = {
  path: '/chat/Chatbot/RealEstateCreate',
  kind: 'create',
  repeatable: false,
  read: (data) => (typeof data === 'string' ? data : undefined),
}

/** Interface, "4. Update": Data is the number of records updated. */
export const updateOperation: Operation<number> = {
  path: '/chat/Chatbot/RealEstateUpdate',
  kind: 'update',
  repeatable: true,
  read: readCount,
}

/** Interface, "5. List". */
export const listOperation: Operation<Page> = {
  path: '/chat/Chatbot/RealEstateList',
  kind: 'list',
  repeatable: true,
  read(data) {
    if (!isObject(data) || !Array.isArray(data.List) || !data.List.every(isObject)) return undefined
    return { items: data.List, virtualCount: readVirtualCount(data.VirtualCount) }
  },
}

/** Interface, "6. Delete": SuccessCount is the number of listings deleted. */
export const deleteOperation: Operation<number> = {
  path: '/chat/Chatbot/RealEstateDelete',
  kind: 'delete',
  repeatable: true,
  read: (data) => (isObject(data) ? readCount(data.SuccessCount) : undefined),
}

/** Interface, "1. Edit": Data is an integer, 1 indicates success. The same settings twice are the same settings. */
export const editOperation: Operation<number> = {
  path: '/chat/Chatbot/Edit',
  kind: 'edit',
  repeatable: true,
  read: (data) => (Number.isInteger(data) ? (data as number) : undefined),
}

/**
 * The body of a Create, and of an Update but for its key: every field that the listing has, in the interface's order,
 * with the ownership entry last in ExtensionColumn. Fields in `clear` that the listing lacks are sent empty where the profile
 * wants that (U4); numbers have no empty form and are left out.
 */
export function listingBody(
  serialNumber: string,
  listing: Listing,
  owner: string | null,
  clear: readonly FieldName[],
  profile: Pick<ServiceProfile, 'clear'>,
): Record<string, FieldValue> {
  const body: Record<string, FieldValue> = { SerialNumber: serialNumber }
  for (const { name, type } of fieldRules) {
    const value = name === 'ExtensionColumn' ? withOwner(listing.ExtensionColumn, owner) : listing[name]
    if (value !== undefined) body[name] = value
    else if (type !== 'number' && profile.clear === 'empty' && clear.includes(name))
      body[name] = type === 'text' ? '' : []
  }
  return body
}

function withOwner(entries: ExtensionEntry[] | undefined, owner: string | null): ExtensionEntry[] | undefined {
  // A feed must not be able to mark its listings as another feed's.
  const own = entries?.filter(({ Key }) => Key !== ownerKey)
  return owner === null ? own : [...(own ?? []), { Key: ownerKey, value: owner }]
}

function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}

/** Its meaning is open (U9) and no walk needs it, so that an answer without one, or with another kind of one, is a page too. */
function readVirtualCount(value: unknown): number | null {
  return readCount(typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value) ?? null
}

function isObject(value: unknown): value is ListItem {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
