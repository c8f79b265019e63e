import { ask } from './chat.ts'
import { checkRequest } from './check.ts'
import type { CheckedRequest, SentListing } from './check.ts'
import { Refusal, failure, refused, success } from './envelope.ts'
import type { Reply } from './envelope.ts'
import { isListingField, listingFields } from './fields.ts'
import type { ListingFieldName, Operation, StandInListing } from './fields.ts'
import { page } from './pages.ts'
import type { Page } from './pages.ts'
import type { Call, ServiceParts } from './parts.ts'
import type { StandInProfile } from './profile.ts'
import type { Row, Rows } from './rows.ts'

/** Checks a call and carries it out, giving the answer a healthy service would send. */
export function carryOut(call: Call, parts: ServiceParts): Reply {
  const { profile } = parts
  try {
    checkHeaders(call, parts)
    if (call.json === undefined) throw new Refusal('json', 'The body must be JSON')
    const request = checkRequest(call.operation, call.json, profile)
    if (request.operation === 'ClientAsk') return ask(request, call, parts)
    return success(data(request, call.request, parts), profile.version)
  } catch (error) {
    if (error instanceof Refusal) return refused(error, profile)
    return failure(500, error instanceof Error ? error.message : String(error), profile.version, 500)
  }
}

/** U1. */
function checkHeaders(call: Call, { keys, profile }: ServiceParts): void {
  const type = call.contentType?.split(';')[0].trim().toLowerCase()
  const asked = profile.contentType === 'required' || (profile.contentType === 'json-when-given' && type !== undefined)
  if (asked && type !== 'application/json') throw new Refusal('contentType', 'Content-Type must be application/json')
  const right = (sent: string | undefined, key: string | undefined) =>
    Boolean(sent) && (key === undefined || sent === key)
  const secret = right(call.authorization, keys.secret)
  const session = right(call.sessionKey, keys.session)
  const enough = { secret, session, either: secret || session, both: secret && session, none: true }
  if (!enough[profile.headers[call.operation]]) throw new Refusal('credentials', 'The key is missing or wrong')
}

function data(
  request: Exclude<CheckedRequest, { operation: 'ClientAsk' }>,
  number: number,
  parts: ServiceParts,
): unknown {
  const { rows, profile } = parts
  switch (request.operation) {
    case 'Create':
      return create(request, rows, profile)
    case 'Update':
      return update(request, rows, profile)
    case 'Delete':
      return { SuccessCount: deleteRows(request, rows, profile) }
    case 'List':
      return list(request, number, parts)
    case 'Edit':
      return edit(request, parts)
  }
  return request satisfies never
}

type Asked<Name extends Operation> = Extract<CheckedRequest, { operation: Name }>

function create({ serialNumber, sent }: Asked<'Create'>, rows: Rows, profile: StandInProfile): string {
  const listing = withSent({}, sent, profile)
  refuseDuplicate(serialNumber, listing.MLSNumber, [], rows, profile)
  const there = rows.find(serialNumber, 'MLSNumber', listing.MLSNumber, profile.caseInsensitiveKeys)
  if (profile.duplicates === 'replaced' && there.length > 0) {
    rows.replace(serialNumber, there[0], listing)
    return there[0].identifier
  }
  return rows.insert(serialNumber, listing, profile.createdIdentifier).identifier
}

/** U4, U5. Gives the number of records updated. */
function update(request: Asked<'Update'>, rows: Rows, profile: StandInProfile): number {
  const { serialNumber, sent } = request
  const matched = match(request, request.key, rows, profile)
  if (matched.length === 0 && profile.updateWithoutMatch === 'refused') {
    throw new Refusal('notFound', `There is no listing with ${request.keyType} ${request.key}`)
  }
  if (matched.length === 0 && profile.updateWithoutMatch === 'created' && request.keyType === 'MLSNumber') {
    rows.insert(serialNumber, withSent({}, sent, profile), profile.createdIdentifier)
    return 1
  }
  let updated = 0
  for (const row of matched) {
    const listing = withSent(profile.omitted === 'kept' ? row.listing : requiredOf(row.listing), sent, profile)
    refuseDuplicate(serialNumber, listing.MLSNumber, matched, rows, profile)
    const same = JSON.stringify(sorted(listing)) === JSON.stringify(sorted(row.listing))
    if (!same) rows.replace(serialNumber, row, listing)
    if (!same || profile.unchangedUpdate === 'counted') updated++
  }
  return updated
}

function list(request: Asked<'List'>, number: number, { rows, lag, profile }: ServiceParts): Page {
  const { serialNumber } = request
  const shown = lag.rowsAsShown(rows.all(serialNumber), serialNumber, number, profile.listLag)
  return page(shown, request, profile, number, rows.countBefore(serialNumber))
}

/** Gives 1: "1 indicates success". */
function edit({ serialNumber, settings }: Asked<'Edit'>, { chatbots, profile }: ServiceParts): number {
  const before = profile.omittedSettings === 'kept' ? chatbots.settings(serialNumber) : {}
  chatbots.replace(serialNumber, { ...before, ...settings })
  return 1
}

/** U6. Gives SuccessCount. */
function deleteRows(request: Asked<'Delete'>, rows: Rows, profile: StandInProfile): number {
  const { serialNumber, keys } = request
  if (profile.maxKeys !== null && keys.length > profile.maxKeys) {
    throw new Refusal('tooManyKeys', `Keys must not be more than ${profile.maxKeys}`)
  }
  const matches = keys.map((key) => match(request, key, rows, profile))
  const missed = keys.find((_, index) => matches[index].length === 0)
  const refusal = new Refusal('notFound', `There is no listing with ${request.keyType} ${missed}`)
  if (missed !== undefined && profile.deleteWithoutMatch === 'refuse-all') throw refusal
  const gone = new Map(matches.flat().map((row) => [row.id, row]))
  for (const row of gone.values()) rows.remove(serialNumber, row)
  if (missed !== undefined && profile.deleteWithoutMatch === 'refuse-after') throw refusal
  const matchedKeys = new Set(keys.filter((_, index) => matches[index].length > 0))
  return { rows: gone.size, keys: matchedKeys.size, sent: keys.length }[profile.deleteCounts]
}

function match(request: Asked<'Update' | 'Delete'>, key: string, rows: Rows, profile: StandInProfile): Row[] {
  const found = rows.find(request.serialNumber, request.keyType, key, profile.caseInsensitiveKeys)
  return profile.doubles === 'first' ? found.slice(0, 1) : found
}

/** U3. `own` are the rows that may have the number already. */
function refuseDuplicate(
  serialNumber: string,
  mlsNumber: string,
  own: Row[],
  rows: Rows,
  profile: StandInProfile,
): void {
  if (profile.duplicates !== 'refused') return
  const others = rows.find(serialNumber, 'MLSNumber', mlsNumber, profile.caseInsensitiveKeys)
  if (others.some((row) => !own.some(({ id }) => id === row.id))) {
    throw new Refusal('duplicate', `There is a listing with MLSNumber ${mlsNumber} already`)
  }
}

/** `base` with what was sent put over it; emptied fields go or stay as the profile has it (U4). */
function withSent(base: Partial<StandInListing>, sent: SentListing, profile: StandInProfile): StandInListing {
  const listing: StandInListing = { MLSNumber: '', ...base }
  for (const [name, value] of sent) {
    const clearing = clearingOf(name, value, profile)
    if (clearing === 'clears') Reflect.deleteProperty(listing, name)
    else if (clearing !== 'ignored') Object.assign(listing, { [name]: value })
  }
  if (profile.mlsNumberKept === 'upper-case') listing.MLSNumber = listing.MLSNumber.toUpperCase()
  if (profile.mlsNumberKept === 'cut') listing.MLSNumber = listing.MLSNumber.slice(0, 20)
  return listing
}

function clearingOf(
  name: ListingFieldName,
  value: unknown,
  profile: StandInProfile,
): 'clears' | 'ignored' | 'refused' | null {
  const field = listingFields[name]
  if (field.required) return null
  if (Array.isArray(value) && value.length === 0) return profile.emptyArray
  if (value !== '') return null
  return 'values' in field ? profile.emptyChoice : profile.emptyText
}

function requiredOf(listing: StandInListing): Partial<StandInListing> {
  const required = Object.entries(listing).filter(([name]) => isListingField(name) && listingFields[name].required)
  return Object.fromEntries(required)
}

function sorted(listing: StandInListing): [string, unknown][] {
  return Object.entries(listing).sort(([a], [b]) => (a < b ? -1 : 1))
}
