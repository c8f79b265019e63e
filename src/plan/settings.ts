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
  overlap: 'is no setting any more: a delivery that leaves little of the site as it is asks a person',
  recreate: "is replaced by limits.share, which holds for what is missing from the chatbot's list",
  lostField: 'is replaced by limits.share, which holds for prices, photos and descriptions that disappear',
  onTrip: 'is no setting any more: what a rule is about is held, and the rest goes on',
}

const sayingTheSame = 'How long every delivery has to say the same before what is held goes by itself'
const takesConfirm = 'takes a length of time with its unit, such as 72h, or never'
const limitShape = {
  share: percent('How much of the listings may leave, or change a fact, within 24 hours').prefault(20),
  growth: number('How many listings may be new within 24 hours, of those that are there (percent)').prefault(75),
  confirm: z
    .union([duration(sayingTheSame, undefined, ', or never'), z.literal('never')], takesConfirm)
    .prefault('72h')
    .meta({ description: `${sayingTheSame}; never: a person decides` })
    .transform((value) => (value === 'never' ? null : value)),
  grace: z
    .strictObject({
      runs: whole('Complete deliveries running that a listing must be absent from', { min: 1, max: 1000 }).prefault(1),
      hours: number('Hours that it must be absent over', { min: 0, max: 8760 }).prefault(0),
    })
    .prefault({})
    .meta({ description: 'How long an absent listing is kept; a wish of its own, and no part of the guard' }),
  read: z
    .strictObject({
      stall: positiveDuration('Longest time on one step: on one record, or on a few hundred small ones').prefault('5s'),
      total: positiveDuration('Longest time for a whole delivery, its transfer included').prefault('4h'),
    })
    .prefault({})
    .meta({
      description:
        'How long reading a delivery may take; what is over is not read, and the delivery incomplete. No part of the guard: it holds with guard: off',
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
        'The guard: what may change within 24 hours before the rest is held; and the time for reading. off: short for guard: off',
    })
    .transform((written) => (written === 'off' ? limits.parse({ guard: 'off' }) : written))
    .transform(({ guard, ...rest }) => ({ ...rest, isOff: guard === 'off' })),
  ownership: choice(
    'tag: listings carry a mark of their feed; snapshot: only the store knows; mirror: the chatbot belongs to this feed alone, and what the feed does not hold is deleted, whoever made it',
    ['tag', 'snapshot', 'mirror'],
  ).prefault('tag'),
  drift: choice(
    'Where a listing was edited on the service. overwrite: the feed is right; keep: until the feed changes it; report: held until somebody decides',
    ['overwrite', 'keep', 'report'],
  ).prefault('overwrite'),
  volatile: z
    .strictObject({
      fields: z
        .array(volatileField)
        .prefault(['DaysOnMarket'])
        .meta({ description: 'Fields that move by themselves and make no update of their own' })
        .transform((fields): ReadonlySet<FieldName> => new Set(fields)),
      refresh: duration('By then they are sent at the latest, spread over the days by key', year).prefault('7d'),
    })
    .prefault({})
    .meta({ description: 'Fields that move by themselves' }),
  settle: duration('How long a call without an answer may still land', year).prefault('15m'),
})

export type PlanConfig = z.output<typeof planSettings>
