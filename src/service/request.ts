/** What a request body may hold (interface, "Resources and their fields"), checked before anything is sent. */
import { UserError } from '../core/errors.ts'
import { fieldRules } from '../core/listing.ts'
import type { FieldRule } from '../core/listing.ts'
import { nearestName } from '../core/text.ts'

/** A request that the interface's document forbids: nothing was sent. Each problem begins with the name of its field. */
export class RequestError extends UserError {
  override name = 'RequestError'
  readonly problems: string[]
  constructor(operation: string, problems: string[]) {
    super(`${operation}: ${problems.join('; ')}`)
    this.problems = problems
  }
}

/** What `Key` and `Keys` of Update and Delete hold (interface, "Listing key types"). */
export type KeyType = 'NativeId' | 'MLSNumber' | 'URL'

const keyTypes: readonly string[] = ['NativeId', 'MLSNumber', 'URL'] satisfies KeyType[]

/** What one member of a body takes, beside those of a listing. */
export type MemberRule = Pick<FieldRule, 'required' | 'choices'> & {
  name: string
  type: FieldRule['type'] | 'integer' | 'texts'
}

export const serialNumberRule: MemberRule = { name: 'SerialNumber', type: 'text', required: true }
export const keyTypeRule: MemberRule = { name: 'KeyType', type: 'text', required: true, choices: keyTypes }

/** Create. */
export const createRules: readonly MemberRule[] = [serialNumberRule, ...fieldRules]
/** Update: what Create takes, and which listing is meant. */
export const updateRules: readonly MemberRule[] = [
  ...createRules,
  { name: 'Key', type: 'text', required: true },
  keyTypeRule,
]
/** List. */
export const listRules: readonly MemberRule[] = [
  serialNumberRule,
  { name: 'CityName', type: 'text', required: false },
  { name: 'SaleType', type: 'text', required: false, choices: ['for_sale', 'for_rent'] },
  { name: 'MLSNumber', type: 'text', required: false },
  { name: 'PageNumber', type: 'integer', required: false },
  { name: 'PageSize', type: 'integer', required: false },
]
/** Delete. */
export const deleteRules: readonly MemberRule[] = [
  serialNumberRule,
  { name: 'Keys', type: 'texts', required: true },
  keyTypeRule,
]

/** Throws `RequestError` with everything that is wrong with a body. Members that are undefined count as left out. */
export function checkBody(operation: string, body: object, rules: readonly MemberRule[]): void {
  const members = new Map<string, unknown>(Object.entries(body).filter(([, value]) => value !== undefined))
  const names = rules.map(({ name }) => name)
  const unknown = [...members.keys()].filter((name) => !names.includes(name))
  const problems = unknown.map((name) => {
    const nearest = nearestName(name, names)
    return `${name}: unknown field; ${nearest === null ? `known are ${names.join(', ')}` : `did you mean ${nearest}?`}`
  })
  for (const rule of rules) {
    const problem = members.has(rule.name)
      ? problemOf(rule, members.get(rule.name))
      : rule.required
        ? 'is missing'
        : null
    if (problem !== null) problems.push(`${rule.name}: ${problem}`)
  }
  if (problems.length > 0) throw new RequestError(operation, problems)
}

function problemOf({ type, choices }: MemberRule, value: unknown): string | null {
  if (choices !== undefined)
    return choices.includes(value as string) ? null : `takes ${choices.join(' or ')}, not ${JSON.stringify(value)}`
  return kinds[type].holds(value) ? null : `takes ${kinds[type].words}, not ${JSON.stringify(value)}`
}

const kinds: Record<MemberRule['type'], { words: string; holds(value: unknown): boolean }> = {
  text: { words: 'text', holds: isText },
  number: { words: 'a number', holds: (value) => Number.isFinite(value) },
  integer: { words: 'a whole number', holds: (value) => Number.isSafeInteger(value) },
  texts: { words: 'a list of texts', holds: (value) => Array.isArray(value) && value.every(isText) },
  images: { words: 'a list of addresses', holds: (value) => Array.isArray(value) && value.every(isText) },
  extension: {
    words: 'a list of { Key, value }',
    holds: (value) => Array.isArray(value) && value.every(isEntry),
  },
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isEntry(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { Key, value: text } = value as Record<string, unknown>
  return isText(Key) && isText(text)
}
