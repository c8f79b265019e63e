import { anyText, choice, count, isTexts, text } from './body.ts'
import type { Body } from './body.ts'
import { checkAsk, checkEdit } from './check-chat.ts'
import type { AskRequest, EditRequest } from './check-chat.ts'
import { Refusal } from './envelope.ts'
import { keyTypes, listingFieldNames, listingFields } from './fields.ts'
import type { KeyType, ListingField, ListingFieldName, Operation } from './fields.ts'
import type { StandInProfile } from './profile.ts'
import { settingNames } from './setting-fields.ts'

/** A request body that has passed the checks. Listing values are as sent; `""` and `[]` are still in there. */
export type CheckedRequest =
  | { operation: 'Create'; serialNumber: string; sent: SentListing }
  | { operation: 'Update'; serialNumber: string; sent: SentListing; key: string; keyType: KeyType }
  | {
      operation: 'List'
      serialNumber: string
      city?: string
      saleType?: string
      mlsNumber?: string
      page: number
      size: number
    }
  | { operation: 'Delete'; serialNumber: string; keys: string[]; keyType: KeyType }
  | EditRequest
  | AskRequest

/** Field names to values, own keys only, in the types of the interface's table. */
export type SentListing = Map<ListingFieldName, unknown>

const allowed: Record<Operation, readonly string[]> = {
  Create: ['SerialNumber', ...listingFieldNames],
  Update: ['SerialNumber', 'Key', 'KeyType', ...listingFieldNames],
  List: ['SerialNumber', 'CityName', 'SaleType', 'MLSNumber', 'PageNumber', 'PageSize'],
  Delete: ['SerialNumber', 'Keys', 'KeyType'],
  Edit: ['serialNumber', ...settingNames],
  ClientAsk: ['sessionID', 'content', 'chatAskType', 'stream', 'fileIds'],
}

/** Holds a body against the operation's table, strictly; throws a `Refusal` that names everything wrong with it. */
export function checkRequest(operation: Operation, json: unknown, profile: StandInProfile): CheckedRequest {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new Refusal('json', 'The body must be a JSON object')
  }
  const body: Body = new Map(Object.entries(json))
  const problems: string[] = []
  for (const name of body.keys())
    if (!allowed[operation].includes(name)) problems.push(`${name} is not a field of ${operation}`)
  const request = checks[operation](body, profile, problems)
  if (problems.length > 0) throw new Refusal('invalid', problems.join('; '))
  if ('serialNumber' in request && profile.chatbots && !profile.chatbots.includes(request.serialNumber)) {
    throw new Refusal('chatbot', `There is no chatbot ${request.serialNumber}`)
  }
  if ('sent' in request) checkLengths(request.sent, profile)
  return request
}

type Check = (body: Body, profile: StandInProfile, problems: string[]) => CheckedRequest

const checks: Record<Operation, Check> = {
  Create: (body, profile, problems) => ({
    operation: 'Create',
    serialNumber: text(body, 'SerialNumber', problems),
    sent: sentListing(body, true, profile, problems),
  }),
  Update: (body, profile, problems) => ({
    operation: 'Update',
    serialNumber: text(body, 'SerialNumber', problems),
    sent: sentListing(body, profile.requiredOnUpdate === 'sent', profile, problems),
    key: text(body, 'Key', problems),
    keyType: choice(body, 'KeyType', keyTypes, problems),
  }),
  List: (body, _profile, problems) => ({
    operation: 'List',
    serialNumber: text(body, 'SerialNumber', problems),
    ...(body.has('CityName') && { city: anyText(body, 'CityName', problems) }),
    ...(body.has('SaleType') && { saleType: choice(body, 'SaleType', listingFields.SaleType.values, problems) }),
    ...(body.has('MLSNumber') && { mlsNumber: anyText(body, 'MLSNumber', problems) }),
    page: count(body, 'PageNumber', 1, problems),
    size: count(body, 'PageSize', 20, problems),
  }),
  Delete: (body, _profile, problems) => {
    const keys = body.get('Keys')
    const right = isTexts(keys) && keys.length > 0 && keys.every((key) => key !== '')
    if (!right) problems.push('Keys must be an array of strings, none of them empty, and at least one')
    return {
      operation: 'Delete',
      serialNumber: text(body, 'SerialNumber', problems),
      keys: right ? keys : [],
      keyType: choice(body, 'KeyType', keyTypes, problems),
    }
  },
  Edit: checkEdit,
  ClientAsk: checkAsk,
}

function sentListing(body: Body, complete: boolean, profile: StandInProfile, problems: string[]): SentListing {
  const sent: SentListing = new Map()
  for (const name of listingFieldNames) {
    const field: ListingField = listingFields[name]
    if (!body.has(name)) {
      if (field.required && complete) problems.push(`${name} is required`)
      continue
    }
    const value = body.get(name)
    const problem = fieldProblem(value, field, profile)
    if (problem) problems.push(`${name} ${problem}`)
    else sent.set(name, value)
  }
  return sent
}

function fieldProblem(value: unknown, field: ListingField, profile: StandInProfile): string | null {
  if (field.type === 'number') {
    if (typeof value !== 'number') return 'must be a number'
    return value === 0 && field.required && profile.zeroRequired === 'refused' ? 'must not be 0' : null
  }
  if (field.type === 'texts' && !isTexts(value)) return 'must be an array of strings'
  if (field.type === 'pairs' && !isPairs(value))
    return 'must be an array of objects with the strings Key and value only'
  if (field.type !== 'text') {
    return isEmptyArray(value) && profile.emptyArray === 'refused' ? 'must not be an empty array' : null
  }
  if (typeof value !== 'string') return 'must be a string'
  if (value === '') {
    const stance = field.required ? profile.emptyRequired : field.values ? profile.emptyChoice : profile.emptyText
    return stance === 'refused' ? 'must not be empty' : null
  }
  return field.values && !field.values.includes(value) ? `must be one of ${field.values.join(', ')}` : null
}

/** U22. */
function checkLengths(sent: SentListing, profile: StandInProfile): void {
  for (const [name, value] of sent) {
    const most = profile.maxLengths[name] ?? Infinity
    const length = typeof value === 'string' || Array.isArray(value) ? value.length : 0
    if (length > most) throw new Refusal('tooLong', `${name} is longer than ${most}`)
  }
}

function isEmptyArray(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function isPairs(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (entry: unknown) =>
        typeof entry === 'object' &&
        entry !== null &&
        Object.keys(entry).sort().join() === 'Key,value' &&
        Object.values(entry).every((part) => typeof part === 'string'),
    )
  )
}
