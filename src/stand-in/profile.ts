import { z } from 'zod'
import { listingFieldNames, operations } from './fields.ts'

const limits = z.partialRecord(z.enum(listingFieldNames), z.int().min(1))
const required = z.enum(['either', 'secret', 'session', 'both', 'none'])
const via = z.enum(['http', 'envelope'])
const numberForm = z.enum(['plain', 'two-decimals', 'many-decimals'])

/** YAML reads the word null as nothing. */
const written = <Word extends string>(value: Word | null): Word | 'null' => value ?? 'null'

/** The reasons for refusals, with their codes. These are invented: only 200 is documented. */
export const refusalCodes = {
  credentials: 401,
  contentType: 415,
  json: 400,
  invalid: 400,
  tooLong: 400,
  chatbot: 404,
  session: 404,
  file: 400,
  messages: 429,
  duplicate: 409,
  notFound: 404,
  tooManyKeys: 400,
  pageSize: 400,
  page: 404,
  rate: 429,
}
export type RefusalReason = keyof typeof refusalCodes
const refusalReasons = Object.keys(refusalCodes) as RefusalReason[]

/**
 * The answers to the open questions of docs/service.md, by its S numbers (F: docs/faults.md). The defaults are the most likely
 * answers of a real service.
 */
export const profileSchema = z.strictObject({
  /** S1: which key header each operation requires. A configured key must also be right. */
  headers: z
    .strictObject({
      Create: required.default('either'),
      Update: required.default('either'),
      List: required.default('either'),
      Delete: required.default('either'),
      Edit: required.default('either'),
      ClientAsk: required.default('either'),
    } satisfies Record<(typeof operations)[number], unknown>)
    .prefault({}),
  /** S1: Content-Type may be missing (the examples send none), but what is given must be JSON; or it must be there. */
  contentType: z.enum(['json-when-given', 'required', 'any']).default('json-when-given'),
  /** The chatbots that exist; null: any SerialNumber does. */
  chatbots: z.array(z.string()).nullable().default(null),
  /** S2: Create returns the ID as text, something unrelated, or what looks like another listing's ID. */
  createdIdentifier: z.enum(['id', 'guid', 'next-id']).default('id'),
  /** S3: Create for an MLSNumber that is there already: a second row, a refusal, or the row that is there is updated. */
  duplicates: z.enum(['allowed', 'refused', 'replaced']).default('allowed'),
  /** S3, F112: which rows Update and Delete touch where a key matches several. */
  doubles: z.enum(['all', 'first']).default('all'),
  /** F49: keys and the MLSNumber filter match without regard to case. */
  caseInsensitiveKeys: z.boolean().default(false),
  /** S4: optional fields missing from an Update. */
  omitted: z.enum(['kept', 'cleared']).default('kept'),
  /** S4: whether an Update must carry all required fields. */
  requiredOnUpdate: z.enum(['sent', 'optional']).default('sent'),
  /** S4: `""` in an optional text, in one with a value set, and `[]`. */
  emptyText: z.enum(['clears', 'ignored', 'refused']).default('clears'),
  emptyChoice: z.enum(['clears', 'ignored', 'refused']).default('clears'),
  emptyArray: z.enum(['clears', 'ignored', 'refused']).default('clears'),
  /** S5: Update whose Key matches nothing: Data 0, Success false, or (by MLSNumber) a new row. */
  updateWithoutMatch: z.enum(['zero', 'refused', 'created']).default('zero'),
  /** S5: an Update that changes no value counts its row, or not (as some databases count). */
  unchangedUpdate: z.enum(['counted', 'zero']).default('counted'),
  /** S6: Delete keys that match nothing: left out of the count, the whole call refused, or the rest done and then refused. */
  deleteWithoutMatch: z.enum(['short-count', 'refuse-all', 'refuse-after']).default('short-count'),
  /** S6, F114: what SuccessCount counts. `sent` counts every key, matched or not. */
  deleteCounts: z.enum(['rows', 'keys', 'sent']).default('rows'),
  /** S7: most Keys in one Delete; null: any number. */
  maxKeys: z.int().min(1).nullable().default(null),
  /** S8: largest PageSize, and what becomes of a larger one. */
  maxPageSize: z.int().min(1).nullable().default(100),
  largerPageSize: z.enum(['clamped', 'refused']).default('clamped'),
  /** S8: pages after the last. */
  pastTheEnd: z.enum(['empty', 'last-page', 'refused']).default('empty'),
  /** S9: order of List. `shuffled` is another order for each request, drawn from `seed`. */
  order: z.enum(['id', 'id-descending', 'changed-first', 'shuffled', 'MLSNumber']).default('id-descending'),
  seed: z.int().default(1),
  /** S9: VirtualCount. `lagging` is the total before the last Create or Delete. */
  virtualCount: z.enum(['total', 'pages', 'zero', 'items', 'lagging']).default('total'),
  /** S13: what is kept of an MLSNumber; `cut` are its first 20 characters. */
  mlsNumberKept: z.enum(['as-sent', 'upper-case', 'cut']).default('as-sent'),
  /** What the MLSNumber filter of List compares. */
  mlsNumberFilter: z.enum(['exact', 'contains', 'ignored']).default('exact'),
  /** F86: a write is shown by List only after so many further requests. */
  listLag: z.int().min(0).default(0),
  /** S10: how list items spell the two sale types. */
  saleTypeShown: z
    .strictObject({ for_sale: z.string().default('For Sale'), for_rent: z.string().default('For Rent') })
    .prefault({}),
  /** S11: how Images becomes one string. */
  imagesShown: z.enum(['json', 'comma', 'semicolon', 'bar', 'blank']).default('json'),
  /** S12: money, the other numbers, and coordinates (decimals kept; null: all). */
  moneyShown: numberForm.default('two-decimals'),
  numbersShown: numberForm.default('plain'),
  coordinateDecimals: z.int().min(0).max(15).nullable().default(null),
  absentCoordinates: z
    .preprocess(written<'zero' | 'empty' | 'null'>, z.enum(['zero', 'empty', 'null']))
    .default('zero'),
  /** S13: what happens to free text on its way back. `cut` is characters per text field, entries for Images. */
  trim: z.boolean().default(false),
  htmlEscape: z.boolean().default(false),
  cut: limits.default({}),
  /** S14: whether refusals come with their code as HTTP status too, or under HTTP 200; and code, text, way of single ones. */
  refusalsVia: via.default('envelope'),
  refusals: z
    .partialRecord(
      z.enum(refusalReasons),
      z.strictObject({ code: z.int().optional(), message: z.string().optional(), via: via.optional() }),
    )
    .default({}),
  /** S15: calls let through in each window of one second; null: no limit. */
  rateLimit: z
    .strictObject({
      callsPerSecond: z.int().min(1),
      retryAfter: z.enum(['seconds', 'date', 'none']).default('seconds'),
      via: via.default('http'),
    })
    .nullable()
    .default(null),
  /** S19 */
  version: z.string().default('1.0.0'),
  /** S21: 0 and `""` in required fields. */
  zeroRequired: z.enum(['accepted', 'refused']).default('accepted'),
  emptyRequired: z.enum(['accepted', 'refused']).default('refused'),
  /** S22: longest value per field that is not refused: characters of a text, entries of an array. */
  maxLengths: limits.default({}),
  /** What becomes of the settings that an Edit leaves out, and whether `""` is let in as a setting. */
  omittedSettings: z.enum(['kept', 'cleared']).default('kept'),
  emptySetting: z.enum(['accepted', 'refused']).default('accepted'),
  /** chatAskType Image without a file: only Video and Audio are documented to need one. */
  imageWithoutFile: z.enum(['accepted', 'refused']).default('refused'),
  /**
   * How a message beyond RateLimitCount or MessageLimit is rejected: as a failure, or by an answer with noAnswer true and no
   * tokens.
   */
  tooManyMessages: z.enum(['refused', 'answered']).default('refused'),
  /** An answer reflects a write only after so many further requests; null: like List (`listLag`). */
  answerLag: z.int().min(0).nullable().default(null),
  /** Whose messages RateLimitCount counts: those of one session, or of all sessions of the chatbot. */
  messagesCountedPer: z.enum(['session', 'chatbot']).default('session'),
  /** Answers that are off by a type or a letter case. */
  answers: z
    .strictObject({
      /** Names of members, in the envelope, `Data`, list items and streams. */
      names: z.enum(['documented', 'camelCase', 'lower-case', 'upper-case']).default('documented'),
      /** Whole numbers (Code, counts, IDs, tokens), or their digits as text. */
      integers: z.enum(['number', 'text']).default('number'),
      /** The identifier that Create returns: text, or a number where it has digits only. */
      createdAs: z.enum(['text', 'number']).default('text'),
      /** `List` of a page without listings. */
      noListings: z
        .preprocess(written<'list' | 'null' | 'missing'>, z.enum(['list', 'null', 'missing']))
        .default('list'),
      /** Tokens of a chat answer. */
      tokens: z
        .preprocess(written<'number' | 'null' | 'missing'>, z.enum(['number', 'null', 'missing']))
        .default('number'),
      /** Members that the interface does not name. */
      moreMembers: z.boolean().default(false),
    })
    .prefault({}),
  /** S17: the framing of a stream. */
  stream: z
    .strictObject({
      /** JSON objects with nothing between, one a line, `data:` lines, or events (`data:` lines with a blank one after). */
      framing: z.enum(['bare', 'lines', 'data-lines', 'events']).default('events'),
      lineEnd: z.enum(['lf', 'crlf']).default('lf'),
      /** `data: {` or `data:{`. */
      blankAfterColon: z.boolean().default(true),
      /** A comment line (`: …`) before each piece; in data-lines and events only. */
      comments: z.boolean().default(false),
      /** `[DONE]` after the final object; not in bare. */
      done: z.boolean().default(false),
      /** Characters of the answer in one piece; 0: no pieces, the final object only. */
      pieceLength: z.int().min(0).default(12),
      /** Bytes in one write to the connection, wherever that cuts; null: one piece a write. */
      bytesPerWrite: z.int().min(1).nullable().default(null),
      /** Milliseconds before each write but the first. */
      pause: z.int().min(0).default(0),
    })
    .prefault({}),
})

/** A profile with every answer given. */
export type StandInProfile = z.output<typeof profileSchema>
/** A profile as written: what is left out takes its default. */
export type StandInProfileInput = z.input<typeof profileSchema>
