import { Refusal } from './envelope.ts'
import { keyTypes, listingFieldNames, listingFields } from './fields.ts'
import type { ListingField, ListingFieldName, Operation } from './fields.ts'
import type { StandInProfile } from './profile.ts'
import { settingNames, settingProblem } from './setting-fields.ts'
import type { ChatbotSettings } from './setting-fields.ts'

/** A checked request body. Values of listings and settings are as sent, including `""` and `[]`. */
export type CheckedRequest = ReturnType<(typeof checks)[Operation]>
export type Asked<Name extends Operation> = Extract<CheckedRequest, { operation: Name }>

/** Values by field name, of the documented types. */
export type SentListing = Map<ListingFieldName, unknown>

/** The members of a request's JSON object. */
type Body = Map<string, unknown>

const allowed: Record<Operation, readonly string[]> = {
  Create: ['SerialNumber', ...listingFieldNames],
  Update: ['SerialNumber', 'Key', 'KeyType', ...listingFieldNames],
  List: ['SerialNumber', 'CityName', 'SaleType', 'MLSNumber', 'PageNumber', 'PageSize'],
  Delete: ['SerialNumber', 'Keys', 'KeyType'],
  Edit: ['serialNumber', ...settingNames],
  ClientAsk: ['sessionID', 'content', 'chatAskType', 'stream', 'fileIds'],
}

/** Checks a body strictly; throws a `Refusal` with every problem. */
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

/*
 * Each adds to `problems` and still returns values of the right types, so that all problems of a body are reported at once.
 */
const checks = {
  Create: (body: Body, profile: StandInProfile, problems: string[]) => ({
    operation: 'Create' as const,
    serialNumber: text(body, 'SerialNumber', problems),
    sent: sentListing(body, true, profile, problems),
  }),
  Update: (body: Body, profile: StandInProfile, problems: string[]) => ({
    operation: 'Update' as const,
    serialNumber: text(body, 'SerialNumber', problems),
    sent: sentListing(body, profile.requiredOnUpdate === 'sent', profile, problems),
    key: text(body, 'Key', problems),
    keyType: choice(body, 'KeyType', keyTypes, problems),
  }),
  List: (body: Body, _profile: StandInProfile, problems: string[]) => ({
    operation: 'List' as const,
    serialNumber: text(body, 'SerialNumber', problems),
    ...(body.has('CityName') && { city: anyText(body, 'CityName', problems) }),
    ...(body.has('SaleType') && { saleType: choice(body, 'SaleType', listingFields.SaleType.values, problems) }),
    ...(body.has('MLSNumber') && { mlsNumber: anyText(body, 'MLSNumber', problems) }),
    page: count(body, 'PageNumber', 1, problems),
    size: count(body, 'PageSize', 20, problems),
  }),
  Delete: (body: Body, _profile: StandInProfile, problems: string[]) => {
    const keys = body.get('Keys')
    const right = isTexts(keys) && keys.length > 0 && keys.every((key) => key !== '')
    if (!right) problems.push('Keys must be an array of strings, none of them empty, and at least one')
    return {
      operation: 'Delete' as const,
      serialNumber: text(body, 'SerialNumber', problems),
      keys: right ? keys : [],
      keyType: choice(body, 'KeyType', keyTypes, problems),
    }
  },
  Edit: checkEdit,
  ClientAsk: checkAsk,
}

/** Checks an Edit. Only here is `serialNumber` written with a small s. */
function checkEdit(body: Body, profile: StandInProfile, problems: string[]) {
  const settings: ChatbotSettings = {}
  for (const name of settingNames) {
    if (!body.has(name)) continue
    const value = body.get(name)
    const refused = value === '' && profile.emptySetting === 'refused'
    const problem = refused ? 'must not be empty' : settingProblem(name, value)
    if (problem) problems.push(`${name} ${problem}`)
    else Object.assign(settings, { [name]: value })
  }
  return { operation: 'Edit' as const, serialNumber: text(body, 'serialNumber', problems), settings }
}

/** Checks a ClientAsk, and its file rules as far as the body shows. */
function checkAsk(body: Body, profile: StandInProfile, problems: string[]) {
  const sessionId = body.get('sessionID')
  if (!isInteger(sessionId)) {
    problems.push(body.has('sessionID') ? 'sessionID must be an integer' : 'sessionID is required')
  }
  const content = anyText(body, 'content', problems)
  const untyped = (body.get('chatAskType') ?? null) === null
  const kind = untyped ? 'Text' : choice(body, 'chatAskType', askKinds, problems)
  if (content === '' && body.get('content') === '' && kind === 'Text') {
    problems.push('content must not be empty unless chatAskType is Image, Audio or Video')
  }
  const stream = body.has('stream') ? body.get('stream') : false
  if (typeof stream !== 'boolean') problems.push('stream must be a boolean')
  return {
    operation: 'ClientAsk' as const,
    sessionId: isInteger(sessionId) ? sessionId : 0,
    content,
    kind,
    stream: stream === true,
    fileIds: checkFileIds(body, kind, profile, problems),
  }
}

function checkFileIds(body: Body, kind: AskKind, profile: StandInProfile, problems: string[]): number[] {
  const value = body.has('fileIds') ? body.get('fileIds') : []
  if (!Array.isArray(value) || !value.every(isInteger)) {
    problems.push('fileIds must be an array of integers')
    return []
  }
  if (kind === 'Text') {
    if (body.has('fileIds')) problems.push('fileIds is valid only when chatAskType is Image, Video or Audio')
  } else if (kind === 'Image') {
    const needed = value.length === 0 && profile.imageWithoutFile === 'refused'
    if (needed) problems.push('fileIds must name at least one file when chatAskType is Image')
  } else if (value.length !== 1) {
    problems.push(`fileIds must name exactly one file when chatAskType is ${kind}`)
  }
  return value
}

const askKinds = ['Text', 'Audio', 'Image', 'Video'] as const
export type AskKind = (typeof askKinds)[number]

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

/** A required text that is not empty. */
function text(body: Body, name: string, problems: string[]): string {
  const value = anyText(body, name, problems)
  if (value === '' && body.get(name) === '') problems.push(`${name} must not be empty`)
  return value
}

/** A required text that may be empty. */
function anyText(body: Body, name: string, problems: string[]): string {
  const value = body.get(name)
  if (typeof value === 'string') return value
  problems.push(body.has(name) ? `${name} must be a string` : `${name} is required`)
  return ''
}

function choice<Value extends string>(body: Body, name: string, values: readonly Value[], problems: string[]): Value {
  const found = values.find((value) => value === body.get(name))
  if (!found) problems.push(`${name} must be one of ${values.join(', ')}`)
  return found ?? values[0]
}

/** An integer of at least 1; `usual` by default. */
function count(body: Body, name: string, usual: number, problems: string[]): number {
  const value = body.has(name) ? body.get(name) : usual
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value
  problems.push(`${name} must be an integer of at least 1`)
  return usual
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}
