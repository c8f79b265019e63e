import { z } from 'zod'
import { operations } from './fields.ts'
import type { Operation } from './fields.ts'
import { seededRandom } from './random.ts'

const milliseconds = z.int().min(0)

/** A fault of a call; `carriedOut`: whether it takes effect. F numbers are those of docs/faults.md. */
const faultSchema = z.discriminatedUnion('kind', [
  /** An HTTP status with a page as a gateway sends it, an envelope, or nothing; Retry-After in seconds or as a date. */
  z.strictObject({
    kind: z.literal('status'),
    status: z.int().min(400).max(599),
    body: z.enum(['html', 'envelope', 'empty']).default('html'),
    message: z.string().default('Not now'),
    retryAfter: z.union([z.int().min(0), z.string()]).optional(),
    carriedOut: z.boolean().default(false),
  }),
  /** Success false under HTTP 200. */
  z.strictObject({ kind: z.literal('refuse'), code: z.int().default(400), message: z.string().default('Refused') }),
  /** The keys are no longer valid. */
  z.strictObject({
    kind: z.literal('credentials'),
    code: z.union([z.literal(401), z.literal(403)]).default(401),
    via: z.enum(['http', 'envelope']).default('http'),
  }),
  /** The connection is cut: before the body is read, before or after the call takes effect, or within the answer. */
  z.strictObject({
    kind: z.literal('reset'),
    when: z.enum(['before-reading', 'after-reading', 'after-carrying-out', 'in-the-answer']),
  }),
  /** No answer, ever. */
  z.strictObject({ kind: z.literal('hang'), carriedOut: z.boolean().default(false) }),
  /** Carried out only once so many further requests have come, the answer lost (F105). */
  z.strictObject({
    kind: z.literal('late'),
    requests: z.int().min(0),
    answer: z.enum(['reset', 'hang', 'gateway-timeout']).default('reset'),
  }),
  /** HTTP 200 with an invalid answer. */
  z.strictObject({
    kind: z.literal('body'),
    form: z.enum(['html', 'cut-json', 'empty', 'success-false', 'null-data']),
    carriedOut: z.boolean().default(true),
  }),
  /** Reports success without doing anything (F110). */
  z.strictObject({ kind: z.literal('pretend') }),
  /** Delete does the first keys only. */
  z.strictObject({ kind: z.literal('partly'), keys: z.int().min(1) }),
  /** List shows only the first items, and says that this is all (F85, F87). */
  z.strictObject({ kind: z.literal('hide'), shown: z.int().min(0).default(0) }),
  /** The answer of ClientAsk, whatever was asked, to contradict the listings. */
  z.strictObject({ kind: z.literal('say'), content: z.string(), noAnswer: z.boolean().default(false) }),
  /**
   * A streamed answer breaks off after so many pieces: it ends without the final object, the connection is cut, nothing more
   * comes, or an envelope with Success false comes.
   */
  z.strictObject({
    kind: z.literal('cut-stream'),
    pieces: z.int().min(0).default(1),
    by: z.enum(['end', 'cut', 'hang', 'envelope']).default('end'),
  }),
  z.strictObject({
    kind: z.literal('redirect'),
    location: z.string(),
    status: z.union([z.literal(301), z.literal(302), z.literal(307), z.literal(308)]).default(307),
  }),
  /** The answer comes in pieces of so many bytes, with a pause (milliseconds) before each. */
  z.strictObject({ kind: z.literal('drip'), bytes: z.int().min(1).default(16), pause: milliseconds.default(100) }),
  /** The answer comes after so many milliseconds. */
  z.strictObject({ kind: z.literal('slow'), wait: milliseconds }),
])

/** A fault and when it strikes: at all matching calls, or those picked by `nth`, `every` and `probability`. */
export const faultRuleSchema = z
  .strictObject({
    /** Shown in the journal; default: the kind of the fault. */
    name: z.string().optional(),
    operations: z.array(z.enum(operations)).min(1).optional(),
    /** The call's SerialNumber. */
    chatbot: z.string().optional(),
    /** The call's MLSNumber, Key, or one of its Keys. */
    mlsNumber: z.string().optional(),
    /** PageNumber of List. */
    page: z.int().min(1).optional(),
    /** Only the nth matching call since the rule was added, counted from 1. */
    nth: z.int().min(1).optional(),
    every: z.int().min(1).optional(),
    probability: z.number().min(0).max(1).optional(),
    seed: z.int().default(1),
    /** The rule ends after so many times. */
    times: z.int().min(1).optional(),
    fault: faultSchema,
  })
  .refine(
    ({ fault, chatbot, mlsNumber, page }) => !isBeforeReading(fault) || (chatbot ?? mlsNumber ?? page) === undefined,
    { message: 'a reset before reading cannot look at chatbot, mlsNumber or page', path: ['fault', 'when'] },
  )

export type Fault = z.output<typeof faultSchema>
export type FaultRule = z.output<typeof faultRuleSchema>
export type FaultRuleInput = z.input<typeof faultRuleSchema>

interface KeptRule {
  rule: FaultRule
  random: () => number
  matched: number
  used: number
}

/** The active rules. The first one that applies decides; a call counts for every rule that it matches. */
export class Faults {
  #rules: KeptRule[] = []

  /** Throws a ZodError for an invalid rule. */
  add(input: FaultRuleInput): void {
    const rule = faultRuleSchema.parse(input)
    this.#rules.push({ rule, random: seededRandom(rule.seed), matched: 0, used: 0 })
  }

  clear(): number {
    return this.#rules.splice(0).length
  }

  /** The rule that strikes before the body is read, if one does. */
  beforeReading(operation: Operation): FaultRule | null {
    return this.#pick((rule) => isBeforeReading(rule.fault) && concerns(rule, operation))
  }

  /** The rule that strikes once the body is known, if one does. */
  afterReading(operation: Operation, json: unknown): FaultRule | null {
    const body = new Map(typeof json === 'object' && json !== null ? Object.entries(json) : [])
    return this.#pick((rule) => !isBeforeReading(rule.fault) && concerns(rule, operation) && names(rule, body))
  }

  #pick(matches: (rule: FaultRule) => boolean): FaultRule | null {
    let picked: FaultRule | null = null
    for (const kept of this.#rules) {
      if (!matches(kept.rule)) continue
      kept.matched++
      if (!trips(kept) || picked) continue
      kept.used++
      picked = kept.rule
    }
    return picked
  }
}

function isBeforeReading(fault: Fault): boolean {
  return fault.kind === 'reset' && fault.when === 'before-reading'
}

function concerns({ operations: wanted, fault }: FaultRule, operation: Operation): boolean {
  if (fault.kind === 'partly' && operation !== 'Delete') return false
  if (fault.kind === 'hide' && operation !== 'List') return false
  if ((fault.kind === 'say' || fault.kind === 'cut-stream') && operation !== 'ClientAsk') return false
  return !wanted || wanted.includes(operation)
}

function names({ chatbot, mlsNumber, page, fault }: FaultRule, body: Map<string, unknown>): boolean {
  if (chatbot !== undefined && (body.get('SerialNumber') ?? body.get('serialNumber')) !== chatbot) return false
  if (fault.kind === 'cut-stream' && body.get('stream') !== true) return false
  if (page !== undefined && (body.get('PageNumber') ?? 1) !== page) return false
  const keys = body.get('Keys')
  const named = [body.get('MLSNumber'), body.get('Key'), ...(Array.isArray(keys) ? (keys as unknown[]) : [])]
  return mlsNumber === undefined || named.includes(mlsNumber)
}

function trips({ rule, random, matched, used }: KeptRule): boolean {
  if (rule.times !== undefined && used >= rule.times) return false
  if (rule.nth !== undefined && matched !== rule.nth) return false
  if (rule.every !== undefined && matched % rule.every !== 0) return false
  return rule.probability === undefined || random() < rule.probability
}
