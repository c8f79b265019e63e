import { ask } from './chat.ts'
import { checkRequest } from './check.ts'
import type { Asked, SentListing } from './check.ts'
import { Refusal, failure, refused, success } from './envelope.ts'
import type { Reply } from './envelope.ts'
import { isListingField, listingFields } from './fields.ts'
import type { ListingFieldName, StandInListing } from './fields.ts'
import { page } from './pages.ts'
import type { Call, ServiceParts } from './call.ts'
import type { StandInProfile } from './profile.ts'
import type { Row } from './rows.ts'
import { isDocumented, spelled } from './spelling.ts'

/** Checks and carries out a call; returns the answer of a healthy service. */
export function carryOut(call: Call, service: ServiceParts): Reply {
  const { answers } = service.profile
  const reply = answered(call, service)
  return isDocumented(answers) ? reply : { ...reply, spell: (body) => spelled(body, answers) }
}

function answered(call: Call, service: ServiceParts): Reply {
  const { profile } = service
  try {
    checkHeaders(call, service)
    if (call.json === undefined) throw new Refusal('json', 'The body must be JSON')
    const request = checkRequest(call.operation, call.json, profile)
    const done = (data: unknown): Reply => success(data, profile.version)
    switch (request.operation) {
      case 'Create':
        return done(create(request, service))
      case 'Update':
        return done(update(request, service))
      case 'Delete':
        return done({ SuccessCount: deleteRows(request, service) })
      case 'List':
        return done(list(request, call.request, service))
      case 'Edit':
        return done(edit(request, service))
    }
    return ask(request, call, service)
  } catch (error) {
    if (error instanceof Refusal) return refused(error, profile)
    return failure(500, error instanceof Error ? error.message : String(error), profile.version, 500)
  }
}

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

function create({ serialNumber, sent }: Asked<'Create'>, service: ServiceParts): string {
  const { rows, profile } = service
  const listing = withSent({}, sent, profile)
  refuseDuplicate(serialNumber, listing.MLSNumber, [], service)
  const there = rows.find(serialNumber, 'MLSNumber', listing.MLSNumber, profile.caseInsensitiveKeys)
  if (profile.duplicates === 'replaced' && there.length > 0) {
    rows.replace(serialNumber, there[0], listing)
    return there[0].identifier
  }
  return rows.insert(serialNumber, listing, profile.createdIdentifier).identifier
}

/** Returns the number of records updated. */
function update(request: Asked<'Update'>, service: ServiceParts): number {
  const { rows, profile } = service
  const { serialNumber, sent } = request
  const matched = match(request, request.key, service)
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
    refuseDuplicate(serialNumber, listing.MLSNumber, matched, service)
    const same = JSON.stringify(sorted(listing)) === JSON.stringify(sorted(row.listing))
    if (!same) rows.replace(serialNumber, row, listing)
    if (!same || profile.unchangedUpdate === 'counted') updated++
  }
  return updated
}

function list(request: Asked<'List'>, number: number, { rows, lag, profile }: ServiceParts) {
  const { serialNumber } = request
  const shown = lag.rowsAsShown(rows.all(serialNumber), serialNumber, number, profile.listLag)
  return page(shown, request, profile, number, rows.countBefore(serialNumber))
}

/** Returns 1, which means success. */
function edit({ serialNumber, settings }: Asked<'Edit'>, { chatbots, profile }: ServiceParts): number {
  const before = profile.omittedSettings === 'kept' ? chatbots.settings(serialNumber) : {}
  chatbots.replace(serialNumber, { ...before, ...settings })
  return 1
}

/** Returns SuccessCount. */
function deleteRows(request: Asked<'Delete'>, service: ServiceParts): number {
  const { rows, profile } = service
  const { serialNumber, keys } = request
  if (profile.maxKeys !== null && keys.length > profile.maxKeys) {
    throw new Refusal('tooManyKeys', `Keys must not be more than ${profile.maxKeys}`)
  }
  const matches = keys.map((key) => match(request, key, service))
  const missed = keys.find((_, index) => matches[index].length === 0)
  const refusal = new Refusal('notFound', `There is no listing with ${request.keyType} ${missed}`)
  if (missed !== undefined && profile.deleteWithoutMatch === 'refuse-all') throw refusal
  const gone = new Map(matches.flat().map((row) => [row.id, row]))
  for (const row of gone.values()) rows.remove(serialNumber, row)
  if (missed !== undefined && profile.deleteWithoutMatch === 'refuse-after') throw refusal
  const matchedKeys = new Set(keys.filter((_, index) => matches[index].length > 0))
  return { rows: gone.size, keys: matchedKeys.size, sent: keys.length }[profile.deleteCounts]
}

function match(request: Asked<'Update' | 'Delete'>, key: string, { rows, profile }: ServiceParts): Row[] {
  const found = rows.find(request.serialNumber, request.keyType, key, profile.caseInsensitiveKeys)
  return profile.doubles === 'first' ? found.slice(0, 1) : found
}

/** `own`: the rows that may already have the number. */
function refuseDuplicate(serialNumber: string, mlsNumber: string, own: Row[], { rows, profile }: ServiceParts): void {
  if (profile.duplicates !== 'refused') return
  const others = rows.find(serialNumber, 'MLSNumber', mlsNumber, profile.caseInsensitiveKeys)
  if (others.some((row) => !own.some(({ id }) => id === row.id))) {
    throw new Refusal('duplicate', `There is a listing with MLSNumber ${mlsNumber} already`)
  }
}

/** `base` with the sent values; the profile decides about emptied fields. */
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

function clearingOf(name: ListingFieldName, value: unknown, profile: StandInProfile) {
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
