/**
 * The configuration as it is written: every setting, what it takes, what it is when left out (DESIGN, "Configuration").
 * config/schema.json is generated from here by scripts/write-schema.ts.
 */
import { validate as isSchedule } from 'node-cron'
import { z } from 'zod'
import { fieldNames } from '../core/listing.ts'
import type { FieldName } from '../core/listing.ts'
import { unknownName } from '../core/schema-words.ts'
import { choice, duration, number, percent, positiveDuration, text, timezone, whole } from '../core/setting-kinds.ts'
import { mappingOptionsSchema } from '../feed/mapping/preset.ts'
import { transportSettings } from '../feed/transport/settings.ts'
import { schemes, sourceProblem } from '../feed/transport/transports.ts'
import { serviceSchema, writtenSettings } from '../service/settings-file.ts'
import { verifySchema } from './verify.ts'

const year = 365 * 86_400_000
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

/** A cron expression of five fields (or six, with seconds first). */
const schedule = text('When the daemon runs this feed; left out: only by hand').refine((value) => isSchedule(value), {
  error: ({ input }) =>
    `is not a schedule such as "*/30 * * * *" (minute hour day month weekday): ${JSON.stringify(input)}`,
})

const { member, encoding, ...transport } = transportSettings.shape

/** How the mapping is written belongs to the feed stage; what only `createMapping` can know (fields, paths) it checks. */
const { delivery: _delivery, ...mappingOptions } = mappingOptionsSchema.shape

const feedSchema = z.strictObject({
  chatbot: text('SerialNumber of the chatbot'),
  source: text(`Path, glob, or ${schemes()} address of the export; -: standard input`).superRefine((value, context) => {
    const problem = sourceProblem(value)
    if (problem !== null) context.addIssue({ code: 'custom', message: problem })
  }),
  member,
  preset: text('A preset in config/presets by its name, or the path of your own (ends in .yaml)'),
  delivery: choice("full: absence means gone; delta: it means nothing. Default: the preset's", [
    'full',
    'delta',
  ]).optional(),
  schedule: schedule.optional(),
  timezone: timezone('Zone of the schedule and of dates without one').prefault('UTC'),
  encoding,
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
  volatile: volatileFields
    .prefault({})
    .meta({ description: 'Fields that change by themselves, such as the age of a listing' }),
  settle: duration('How long a call without an answer may still land', year).prefault('15m'),
  deadline: positiveDuration(
    'How long a sync begins changes, once its plan is made; what is left is for the next run',
  ).prefault('2h'),
  ...transport,
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
  service: serviceSchema.meta({ description: 'How the listing service is called' }),
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
