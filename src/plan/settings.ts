/** What a feed's configuration says of its plan. */
import { z } from 'zod'
import { fieldNames } from '../core/listing.ts'
import type { FieldName } from '../core/listing.ts'
import { unknownName } from '../core/text.ts'
import { choice, duration, number, percent, positiveDuration, whole } from '../core/setting-kinds.ts'

const year = 365 * 86_400_000

/** Settings of the guard before it had three: each is a problem that names what takes its place. */
const retired: Readonly<Record<string, string>> = {
  delete: 'is replaced by limits.share, which holds for everything that leaves',
  update: 'is replaced by limits.share, which holds for each kind of fact that updates change',
  shrink: 'is replaced by limits.share, which holds for everything that leaves',
  overlap:
    'is replaced by the rule unrecognisable, which has no setting: a delivery that leaves little of the site as it is asks a person',
  recreate: "is replaced by limits.share, which holds for what is missing from the chatbot's list",
  lostField: 'is replaced by limits.share, which holds for prices, photos and descriptions that disappear',
  onTrip: 'is replaced by limits.confirm and the command approve: what a rule is about is held, and the rest goes on',
}

const sayingTheSame = 'How long every delivery must say the same before what is held goes by itself'
const takesConfirm = 'takes a length of time with its unit, such as 72h, or never'
const limitShape = {
  share: percent(
    'Share of the listings that may leave (at least 3, at most half), or change a fact beyond belief (at least 1), within 24 hours',
  ).prefault(20),
  growth: number(
    'How many new listings may come within 24 hours (at least 10), compared with those that are there (percent)',
  ).prefault(75),
  confirm: z
    .union([duration(sayingTheSame, undefined, ', or never'), z.literal('never')], takesConfirm)
    .prefault('72h')
    .meta({ description: `${sayingTheSame}; never: a person decides` })
    .transform((value) => (value === 'never' ? null : value)),
  grace: z
    .strictObject({
      runs: whole('In how many complete deliveries in a row it must be absent before it is deleted', {
        min: 1,
        max: 1000,
      }).prefault(1),
      hours: number('Over how many hours it must be absent before it is deleted', { min: 0, max: 8760 }).prefault(0),
    })
    .prefault({})
    .meta({ description: 'How long an absent listing is kept before it is deleted. Not part of the guard' }),
  read: z
    .strictObject({
      stall: positiveDuration('Longest time for one step of reading: one record, or a few hundred small ones').prefault(
        '5s',
      ),
      total: positiveDuration('Longest time for a whole delivery, its transfer included').prefault('4h'),
    })
    .prefault({})
    .meta({
      description:
        'How long reading a delivery may take. After that the rest is not read, and the delivery is incomplete. Not part of the guard: guard: off does not switch it off',
    }),
  guard: choice('off: the guard holds nothing', ['on', 'off']).prefault('on'),
}

const unknownLimit = (key: string): string =>
  Object.hasOwn(retired, key) ? `${retired[key]}; leave it out` : unknownName(key, Object.keys(limitShape), 'key')

const limits = z.strictObject(limitShape, {
  error: (issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map(unknownLimit).join('\n') : undefined),
})

const movable = fieldNames.filter((name) => name !== 'MLSNumber')

const volatileField = z.string().refine((name): name is FieldName => (movable as string[]).includes(name), {
  error: ({ input }) =>
    input === 'MLSNumber'
      ? "is what listings are told apart by; it can't move"
      : unknownName(String(input), movable, 'listing field'),
})

/** The keys of a feed that its plan goes by; times become milliseconds. */
export const planSettings = z.strictObject({
  limits: z
    .union([z.literal('off', { error: 'takes keys such as share, or off; left out, the guard is on' }), limits])
    .prefault({})
    .meta({
      description:
        'The guard: how much may change within 24 hours before it holds changes. Also how long absent listings are kept, and how long reading may take. off: short for guard: off',
    })
    .transform((written) => (written === 'off' ? limits.parse({ guard: 'off' }) : written))
    .transform(({ guard, ...rest }) => ({ ...rest, isOff: guard === 'off' })),
  ownership: choice(
    'How a feed knows its own listings. tag: by a mark that they carry; snapshot: by the store alone; mirror: the chatbot belongs to this feed alone, and every listing that is not in the feed is deleted, whoever made it',
    ['tag', 'snapshot', 'mirror'],
  ).prefault('tag'),
  drift: choice(
    'What happens to a listing that was edited on the service. overwrite: it is sent again as the feed has it; keep: the edit stays until the feed changes the listing; report: the same, and every report lists it',
    ['overwrite', 'keep', 'report'],
  ).prefault('overwrite'),
  volatile: z
    .strictObject({
      fields: z
        .array(volatileField)
        .prefault(['DaysOnMarket'])
        .meta({ description: 'If only these change, no update is sent. Your own list has to name DaysOnMarket, too' })
        .transform((fields): ReadonlySet<FieldName> => new Set(fields)),
      refresh: duration(
        'After this time they are sent even if nothing else changed; the listings are spread over it by MLSNumber',
        year,
      ).prefault('7d'),
    })
    .prefault({})
    .meta({ description: 'Fields that move by themselves' }),
  settle: duration('How long a call without an answer may still take effect', year).prefault('15m'),
})

export type PlanConfig = z.output<typeof planSettings>
