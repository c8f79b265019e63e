/**
 * The configuration as it is written: every setting with its type and default.
 * config/schema.json is generated from here by scripts/write-schema.ts.
 */
import { validate as isSchedule } from 'node-cron'
import { z } from 'zod'
import { databaseAddressProblem } from '../core/database-address.ts'
import {
  choice,
  judgedBy,
  later,
  locale,
  positiveDuration,
  text,
  timezone,
  wordOrDuration,
} from '../core/setting-kinds.ts'
import { mappingOptionsSchema } from '../feed/mapping/preset.ts'
import { resoSchema } from '../feed/api/settings.ts'
import { transportSettings } from '../feed/transport/settings.ts'
import { schemes, sourceProblem } from '../feed/transport/transports.ts'
import { httpSchema } from '../http/settings.ts'
import { heartbeatSchema, notifySchema } from '../notify/settings.ts'
import { planSettings } from '../plan/settings.ts'
import { serviceSchema, writtenSettings } from '../service/settings-file.ts'
import { verifySchema } from '../verify/settings.ts'

/** A cron expression of five fields (or six, with seconds first). */
const schedule = text(
  'When the daemon runs this feed (minute hour day month weekday). Without it, the feed runs by hand only',
  // node-cron writes a range out before it looks at its ends, which for a long one takes minutes.
).refine((value) => !/\d{5}/.test(value) && isSchedule(value), {
  error: ({ input }) =>
    `is not a schedule such as "*/30 * * * *" (minute hour day month weekday)${scheduleHint(String(input))}: ${JSON.stringify(input)}`,
})

/** Where a schedule is wrong, as a clause after a semicolon; '': that can't be told. */
function scheduleHint(written: string): string {
  const fields = written.trim().split(/\s+/)
  if (!/^[\d*]/.test(written.trim())) return ''
  if (fields.length < 5 || fields.length > 6) return `; it has ${fields.length} of the five fields`
  const names = [
    ['minute', 59],
    ['hour', 23],
    ['day', 31],
    ['month', 12],
    ['weekday', 7],
  ] as const
  const five = fields.slice(-5)
  for (const [place, [name, most]] of names.entries()) {
    const numbers = five[place].match(/\d+/g) ?? []
    const found = numbers.find((number) => Number(number) > most)
    if (found !== undefined) return `; ${name} ${found} is more than ${most}`
  }
  return ''
}

const { member, encoding, ...transport } = transportSettings.shape

/** The mapping keys are defined in `feed/mapping`; `createMapping` checks fields and paths. */
const { delivery: _delivery, ...mappingOptions } = mappingOptionsSchema.shape

const feedName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]+$/, 'a feed name takes letters, digits, ".", "_" and "-" only')
  .refine((name) => name !== '__proto__', 'is not a feed name')

export const feedSchema = z.strictObject({
  chatbot: text('SerialNumber of the chatbot'),
  source: z
    .union([
      text(`Path, glob, or ${schemes()} address of the export; -: standard input`).superRefine(judgedBy(sourceProblem)),
      resoSchema,
    ])
    .meta({
      description: `Path, glob, or ${schemes()} address of the export; -: standard input; or a live source (docs/reso-web-api.md)`,
    }),
  member,
  preset: text('A preset in config/presets by its name, or the path of your own (ends in .yaml)'),
  delivery: choice("full: absence means gone; delta: it means nothing. Default: the preset's", [
    'full',
    'delta',
  ]).optional(),
  schedule: schedule.optional(),
  timezone: timezone('Time zone of the schedule, and of dates in the feed that name none').default('UTC'),
  encoding,
  ...mappingOptions,
  join: mappingOptions.join.superRefine((joins, context) => {
    for (const [name, { source }] of Object.entries(joins ?? {})) {
      const message = sourceProblem(source)
      if (message !== null) context.addIssue({ code: 'custom', path: [name, 'source'], message })
    }
  }),
  ...planSettings.shape,
  formerly: z.array(feedName).prefault([]).meta({
    description: 'Names that the feed had before. It takes over all that the store and the chatbot have under them',
  }),
  observe: wordOrDuration(
    "How often the daemon reads the service's whole list. The runs between only look up what they would change, and read the list if anything is unclear. Default: every run, or 6h if reading the list takes over a minute",
    'every run',
    7 * 86_400_000,
  ).optional(),
  deadline: positiveDuration(
    'How long a sync may start changes, from when its plan is made. The next run does the rest',
  ).prefault('2h'),
  ...transport,
  settings: z
    .union([text('A file with the settings'), writtenSettings])
    .optional()
    .meta({
      description:
        'Settings of the chatbot, or a file with them, applied after a sync if they changed; texts may use {listings}, {cities} and {minPrice}',
    }),
  heartbeat: heartbeatSchema
    .optional()
    .meta({ description: 'Heartbeat address of this feed, in place of the common one' }),
  verify: later(() => verifySchema.partial())
    .optional()
    .meta({ description: 'Keys of verify that are different for this feed' }),
  service: later(() => serviceSchema.partial())
    .optional()
    .meta({ description: 'Keys of service that are different for this feed' }),
})

/** The whole file, after its references are filled in. */
export const configSchema = z.strictObject({
  service: serviceSchema.meta({ description: 'How the listing service is called' }),
  store: text('The store: a file or, for several machines, postgres://USER:PASSWORD@HOST/DATABASE (docs/scale-out.md)')
    .superRefine(judgedBy(databaseAddressProblem))
    .prefault('./data/listing-sync.db'),
  allowNetworkStore: z.boolean().prefault(false).meta({
    description:
      'true: the store may be on a network file system. Its locks do not keep out a second run, so no other process may ever open the store',
  }),
  locale: locale('Language and region by which reports write numbers, money and dates, such as "de-DE"').default(
    'en-US',
  ),
  metrics: text('File for the metrics of every feed in Prometheus text form, rewritten after each run').optional(),
  http: httpSchema.optional(),
  notify: notifySchema.prefault([]),
  heartbeat: heartbeatSchema.optional(),
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
