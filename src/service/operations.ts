/** The operations except ClientAsk: paths, rules for bodies, and how `Data` is read. */
import { UserError } from '../core/errors.ts'
import { fieldRules } from '../core/listing.ts'
import type { FieldRule } from '../core/listing.ts'
import { nearestName } from '../core/text.ts'
import { itemNames } from './list-item.ts'
import {
  isMembers,
  member,
  Misread,
  readCount,
  readIdentifier,
  readInteger,
  readMembers,
  withNames,
} from './members.ts'
import type { Page } from './observe.ts'
import type { Repetition } from './retry.ts'

export interface Operation<T> extends Repetition {
  /** As docs/service.md calls it. */
  name: string
  path: string
  /** The value in `Data` (undefined: none). Throws `Misread`. */
  read(this: void, data: unknown): T
  /** Added to the message if the call may have been carried out. */
  lost?: string
}

/** An operation on listings. */
export interface ListingOperation<T> extends Operation<T> {
  rules: readonly MemberRule[]
}

/** The rule for one member of a body. */
type MemberRule = Pick<FieldRule, 'required' | 'choices'> & {
  name: string
  type: FieldRule['type'] | 'integer' | 'texts'
  /** Means nothing if it is empty. */
  filled?: true
}

/** An invalid request, which was not sent. Each problem begins with the name of its field. */
export class RequestError extends UserError {
  override name = 'RequestError'
  readonly operation: string
  readonly problems: string[]
  readonly code = null
  readonly retryable = false
  constructor(operation: string, problems: string[]) {
    super(`${operation}: ${problems.join('; ')}`)
    this.operation = operation
    this.problems = problems
  }
}

/** The meaning of `Key` and `Keys` in Update and Delete. */
export type KeyType = 'NativeId' | 'MLSNumber' | 'URL'

const serialNumber: MemberRule = { name: 'SerialNumber', type: 'text', required: true, filled: true }
const keyTypes: readonly string[] = ['NativeId', 'MLSNumber', 'URL'] satisfies KeyType[]
const keyType: MemberRule = { name: 'KeyType', type: 'text', required: true, choices: keyTypes }
const createRules: readonly MemberRule[] = [
  serialNumber,
  ...fieldRules.map((rule): MemberRule => {
    if (rule.name === 'MLSNumber' || rule.name === 'Url') return { ...rule, filled: true }
    // An empty text clears an optional one, as an empty list clears images.
    return rule.choices && !rule.required ? { ...rule, choices: [...rule.choices, ''] } : rule
  }),
]

/** Data is the identifier of the new listing. */
export const createOperation: ListingOperation<string> = {
  name: 'Create',
  path: '/chat/Chatbot/RealEstateCreate',
  kind: 'create',
  repeatable: false,
  rules: createRules,
  read: (data) => readIdentifier(data, 'Data'),
  lost: 'the listing may have been created, so it was not sent again; look it up first',
}

/** Data is the number of records updated. */
export const updateOperation: ListingOperation<number> = {
  name: 'Update',
  path: '/chat/Chatbot/RealEstateUpdate',
  kind: 'update',
  repeatable: true,
  rules: [...createRules, { name: 'Key', type: 'text', required: true, filled: true }, keyType],
  read: (data) => readCount(data, 'Data'),
}

export const listOperation: ListingOperation<Page> = {
  name: 'List',
  path: '/chat/Chatbot/RealEstateList',
  kind: 'list',
  repeatable: true,
  rules: [
    serialNumber,
    { name: 'CityName', type: 'text', required: false },
    { name: 'SaleType', type: 'text', required: false, choices: ['for_sale', 'for_rent'] },
    { name: 'MLSNumber', type: 'text', required: false, filled: true },
    { name: 'PageNumber', type: 'integer', required: false },
    { name: 'PageSize', type: 'integer', required: false },
  ],
  read(data) {
    const page = readMembers(data, 'Data')
    const List = member(page, 'List')
    const VirtualCount = readVirtualCount(member(page, 'VirtualCount'))
    if (List === undefined && VirtualCount !== null) return { List: null, VirtualCount }
    if (!Array.isArray(List)) throw new Misread('Data.List', 'a list of listings', List)
    const other = List.findIndex((item) => !isMembers(item))
    if (other >= 0) throw new Misread(`Data.List[${other}]`, 'a listing', List[other])
    return { List: withNames(List, itemNames), VirtualCount }
  },
}

/** SuccessCount is the number of listings deleted. */
export const deleteOperation: ListingOperation<number> = {
  name: 'Delete',
  path: '/chat/Chatbot/RealEstateDelete',
  kind: 'delete',
  repeatable: true,
  rules: [serialNumber, { name: 'Keys', type: 'texts', required: true, filled: true }, keyType],
  read: (data) => readCount(member(readMembers(data, 'Data'), 'SuccessCount'), 'Data.SuccessCount'),
}

/** Data is an integer, 1 means success. Repeatable: the same settings twice change nothing more. */
export const editOperation: Operation<number> = {
  name: 'Edit',
  path: '/chat/Chatbot/Edit',
  kind: 'edit',
  repeatable: true,
  read: (data) => readInteger(data, 'Data'),
}

/** Its meaning is not documented and no walk needs it, so a missing or invalid one is accepted. */
function readVirtualCount(value: unknown): number | null {
  try {
    return readCount(value, 'Data.VirtualCount')
  } catch {
    return null
  }
}

/** Throws `RequestError` with every problem of a body. Undefined members count as left out. */
export function checkBody({ name: operation, rules }: ListingOperation<unknown>, body: object): void {
  const members = new Map<string, unknown>(Object.entries(body).filter(([, value]) => value !== undefined))
  const names = rules.map(({ name }) => name)
  const unknown = [...members.keys()].filter((name) => !names.includes(name))
  const problems = unknown.map((name) => {
    const nearest = nearestName(name, names)
    return `${name}: unknown field; ${nearest === null ? `use one of ${names.join(', ')}` : `did you mean ${nearest}?`}`
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

function problemOf({ type, choices, filled }: MemberRule, value: unknown): string | null {
  if (choices !== undefined) {
    const words = choices.map((choice) => choice || '""').join(' or ')
    return choices.includes(value as string) ? null : `takes ${words}, not ${inWords(value)}`
  }
  if (filled && isEmpty(value)) return 'must not be empty'
  if (filled && Array.isArray(value) && value.some(isEmpty))
    return `has an empty entry, number ${value.findIndex(isEmpty) + 1}`
  return kinds[type].holds(value) ? null : `takes ${kinds[type].words}, not ${inWords(value)}`
}

/** JSON has no words for NaN, and none at all for a bigint. */
function inWords(value: unknown): string {
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

const kinds: Record<MemberRule['type'], { words: string; holds(value: unknown): boolean }> = {
  text: { words: 'text', holds: isText },
  number: { words: 'a number', holds: (value) => Number.isFinite(value) },
  integer: { words: 'a whole number', holds: (value) => Number.isSafeInteger(value) },
  texts: { words: 'a list of texts', holds: areTexts },
  images: { words: 'a list of addresses', holds: areTexts },
  extension: { words: 'a list of { Key, value }', holds: (value) => Array.isArray(value) && value.every(isEntry) },
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'string' ? value.trim() === '' : Array.isArray(value) && value.length === 0
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

function isEntry(value: unknown): boolean {
  return isMembers(value) && isText(value.Key) && isText(value.value)
}
