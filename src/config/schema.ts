/**
 * The configuration as it is written: every setting, what it takes, what it is when left out (DESIGN, "Configuration").
 * config/schema.json is generated from here by scripts/write-schema.ts.
 */
import { z } from 'zod'
import { fieldNames } from '../core/listing.ts'
import type { FieldName } from '../core/listing.ts'
import { unknownName } from '../core/schema-words.ts'
import { mappingOptionsSchema } from '../feed/mapping/schema.ts'
import { sourceProblem } from '../feed/transport/address.ts'
import { baseUrlProblem } from '../service/line.ts'
import { writtenSettings } from './chatbot-settings.ts'
import { choice, duration, encoding, number, percent, schedule, size, text, timezone, whole } from './values.ts'
import { verifySchema } from './verify.ts'

const year = 365 * 86_400_000
/** To undici a timeout of 0 is none at all. */
const positive = (milliseconds: number) => milliseconds > 0
const tooShort = 'must be longer than 0'

/** Anything else would let a line break in a key or a secret file write headers of its own. */
const headerValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'has characters that a header cannot carry')

const saleTypeShown = z
  .strictObject({
    for_sale: text('What for_sale is listed as'),
    for_rent: text('What for_rent is listed as'),
  })
  .refine((shown) => shown.for_sale.trim() !== shown.for_rent.trim(), 'says the same for both: leave it out')

const profile = z.strictObject({
  pageSize: whole('PageSize to ask for (U8)', { min: 1, max: 10_000 }).prefault(100),
  deleteBatch: whole('Most Keys in one Delete (U7)', { min: 1, max: 10_000 }).prefault(50),
  virtualCount: choice('Whether VirtualCount is the number of all listings (U9)', ['unknown', 'total']).prefault(
    'unknown',
  ),
  clear: choice('How a field is made to disappear: sent empty, or left out (U4)', ['empty', 'omit']).prefault('empty'),
  saleTypeShown: saleTypeShown.optional().meta({
    description: 'How list items spell the sale types, where neither "sale", "rent" nor "lease" is in it (U10)',
  }),
})

const backoff = z.strictObject({
  base: duration('First wait before a call is tried again; doubled each time, with jitter').prefault('500ms'),
  max: duration('Longest of these waits').prefault('30s'),
})

/** Settings of the listing service, whole: the top `service`, or it with a feed's own put over it. */
export const serviceSchema = z.strictObject({
  baseUrl: text('Address of the service, http or https')
    .superRefine((value, context) => {
      const problem = baseUrlProblem(value)
      if (problem !== null) context.addIssue({ code: 'custom', message: problem })
    })
    .transform((value) => value.replace(/\/+$/, '')),
  secretKey: headerValue.optional().meta({ description: 'Sent as Authorization, as it is (U1)' }),
  sessionKey: headerValue.optional().meta({ description: 'Sent as chatrobot-sessionkey (U1)' }),
  rate: number('Calls a second, shared by every feed of this service (U15)', { min: 0.01, max: 1000 }).prefault(5),
  concurrency: whole('Calls under way at one time', { min: 1, max: 256 }).prefault(4),
  timeout: duration('Longest wait for the answer to one call').refine(positive, tooShort).prefault('30s'),
  patience: duration('Longest Retry-After that a run waits for; beyond it the run stops').prefault('5m'),
  attempts: whole('Times a call is sent at most', { min: 1, max: 20 }).prefault(5),
  backoff: backoff.prefault({}),
  profile: profile.prefault({}).meta({ description: 'Answers to what the interface leaves open' }),
})

const share = (what: string, percentage: number, floor: number) =>
  z
    .strictObject({
      percent: percent(what).prefault(percentage),
      floor: whole('Always allowed, however small the feed').prefault(floor),
    })
    .prefault({})

const limits = z.strictObject({
  delete: share('Deletes allowed within 24 hours, of the listings that are ours', 20, 10),
  update: share('Updates allowed in a run, of the listings that are ours', 60, 50),
  recreate: share('Creates allowed in a run for listings of ours that are gone from the service', 20, 2),
  shrink: percent('Smallest delivery, of the median of the last five').prefault(50),
  overlap: percent('Smallest share of MLSNumbers in common with the last delivery').prefault(50),
  lostField: share('A field that more than this share of the listings lost is a renamed column', 50, 10),
  grace: z
    .strictObject({
      runs: whole('Complete deliveries running that a listing must be absent from', { min: 1, max: 1000 }).prefault(1),
      hours: number('Hours that it must be absent over', { min: 0, max: 8760 }).prefault(0),
    })
    .prefault({}),
  onTrip: choice('hold: hold the changes it is about; abort: stop the whole run', ['hold', 'abort']).prefault('hold'),
})

const movable = fieldNames.filter((name) => name !== 'MLSNumber')

const volatileField = z.string().refine((name): name is FieldName => (movable as string[]).includes(name), {
  error: ({ input }) =>
    input === 'MLSNumber'
      ? "is what listings are told apart by; it can't move"
      : unknownName(String(input), movable, 'listing field'),
})

const volatileFields = z.strictObject({
  fields: z
    .array(volatileField)
    .prefault(['DaysOnMarket'])
    .meta({ description: 'Fields that move by themselves and make no update of their own' }),
  refresh: duration('By then they are sent at the latest, spread over the days by key', year).prefault('7d'),
})

const loginText = (description: string) =>
  z
    .string()
    .regex(/^\P{Cc}+$/u, 'is empty or has a line break or another control character')
    .meta({ description })
const fingerprint = z.string().regex(/^SHA256:[A-Za-z0-9+/]{43}=?$/, {
  error: 'is not a fingerprint such as ssh-keygen -lf prints: SHA256: and 43 characters',
})
const login = z.strictObject({
  user: loginText('Name to log in with, where the address does not say it').optional(),
  password: loginText('Password to log in with').optional(),
  privateKey: text('SFTP: text of the private key, normally ${file:…}').optional(),
  passphrase: text('SFTP: what the private key is encrypted with').optional(),
  hostKey: z
    .union([fingerprint, z.array(fingerprint).min(1)])
    .transform((keys) => (typeof keys === 'string' ? [keys] : keys))
    .optional()
    .meta({
      description: "SFTP: fingerprint of the server's key, or a list of them (ssh-keyscan HOST | ssh-keygen -lf -)",
    }),
  ca: text('FTPS: certificates of a private authority as PEM, normally ${file:…}').optional(),
})

const ready = z.strictObject({
  marker: z
    .string()
    .regex(
      /^(?!\{name\}$)[^/\\\p{Cc}]+$/u,
      'takes the name of a file beside the delivery, such as {name}.done or _SUCCESS',
    )
    .optional()
    .meta({
      description:
        "File that has to be beside the delivery; {name} is the delivery's name, {stem} without its extension",
    }),
  unchanged: duration('Neither size nor time may change for so long').refine(positive, tooShort).optional(),
})

/** How the mapping is written belongs to the feed stage; what only `createMapping` can know (fields, paths) it checks. */
const { delivery: _delivery, ...mappingOptions } = mappingOptionsSchema.shape

const feedSchema = z.strictObject({
  chatbot: text('SerialNumber of the chatbot'),
  source: text('Path, glob, or http(s), sftp or ftp(s) address of the export; -: standard input').superRefine(
    (value, context) => {
      const problem = sourceProblem(value)
      if (problem !== null) context.addIssue({ code: 'custom', message: problem })
    },
  ),
  member: text('Which member of a ZIP archive is the feed: a glob over its path or name').optional(),
  preset: text('A preset in config/presets by its name, or the path of your own (ends in .yaml)'),
  delivery: choice("full: absence means gone; delta: it means nothing. Default: the preset's", [
    'full',
    'delta',
  ]).optional(),
  schedule: schedule('When the daemon runs this feed; left out: only by hand').optional(),
  timezone: timezone('Zone of the schedule and of dates without one').prefault('UTC'),
  encoding: encoding('Encoding to assume where the feed does not say').optional(),
  ...mappingOptions,
  limits: limits.prefault({}).meta({ description: 'The guard: what a run may change before it holds the rest' }),
  ownership: choice(
    'tag: listings carry a mark of their feed; snapshot: only the store knows; mirror: the chatbot belongs to this feed alone, and what the feed does not hold is deleted, whoever made it',
    ['tag', 'snapshot', 'mirror'],
  ).prefault('tag'),
  drift: choice(
    'Where a listing was edited on the service. overwrite: the feed is right; keep: until the feed changes it; report: held until somebody decides',
    ['overwrite', 'keep', 'report'],
  ).prefault('overwrite'),
  volatile: volatileFields.prefault({}),
  settle: duration('How long a call without an answer may still land', year).prefault('15m'),
  deadline: duration('How long a sync begins changes, once its plan is made; what is left is for the next run')
    .refine(positive, tooShort)
    .prefault('2h'),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'is not a header name'), headerValue)
    .prefault({})
    .meta({ description: 'Request headers for an http(s) source' }),
  allowPrivateRedirects: z.boolean().prefault(false).meta({
    description: 'true: an http(s) source on the internet may redirect to an address of this machine or its network',
  }),
  login: login.prefault({}).meta({ description: 'Who fetches from an sftp or ftp(s) source' }),
  ready: ready.prefault({}).meta({ description: 'When a dropped file is taken for whole' }),
  endsWithLineBreak: z.boolean().prefault(true).meta({
    description: 'false: a CSV whose last row has no line break is taken for whole, though it may have been cut',
  }),
  maxBytes: size('Most bytes accepted of one delivery, as sent').prefault('16GB'),
  maxRecordBytes: size('Most bytes of one record').prefault('4MB'),
  transferTimeout: duration('Longest time for the whole transfer').refine(positive, tooShort).prefault('30m'),
  settings: z
    .union([text('A file with the settings'), writtenSettings])
    .optional()
    .meta({
      description:
        'Settings of the chatbot, or a file with them, applied after each sync that changed them; texts may use {listings}, {cities} and {minPrice}',
    }),
  verify: verifySchema.partial().optional().meta({ description: 'What differs from the verify above' }),
  service: serviceSchema.partial().optional().meta({ description: 'What differs from the service above' }),
})

const feedName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]+$/, 'a feed name takes letters, digits, ".", "_" and "-" only')
  .refine((name) => name !== '__proto__', 'is not a feed name')

/** The whole file, after its references are filled in. */
export const configSchema = z.strictObject({
  service: serviceSchema,
  store: text('File of the durable store').prefault('./data/listing-sync.db'),
  allowNetworkStore: z.boolean().prefault(false).meta({
    description: 'The store may lie on a network file system, where the locks that keep a second run out do not hold',
  }),
  metrics: text('File that gets the metrics of every feed after each run, in Prometheus text form').optional(),
  verify: verifySchema
    .optional()
    .meta({ description: 'Asks the chatbot after each sync about a few listings that it changed' }),
  feeds: z
    .record(feedName, feedSchema)
    .refine((feeds) => Object.keys(feeds).length > 0, 'names no feed; at least one is needed')
    .meta({ description: 'The feeds, by name' }),
})

/** The configuration as the user wrote it. */
export type WrittenConfig = z.input<typeof configSchema>

/** JSON Schema (2020-12) of `WrittenConfig`, for editors. */
export function configJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(configSchema, { io: 'input' })
}
