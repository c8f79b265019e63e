/** Who is told how feeds are: `notify` and `heartbeat` of the configuration. */
import { z } from 'zod'
import { choice, judgedBy, later, text } from '../core/setting-kinds.ts'
import { eventNames } from './news.ts'

const formNames = ['json', 'slack', 'teams'] as const
export type FormName = (typeof formNames)[number]

/** An address that messages or calls go to. All of it is secret: whoever knows it can write there. */
const webAddress = (description: string) =>
  text(description).superRefine(
    judgedBy((address) => {
      const url = URL.parse(address)
      if (url === null || !/^https?:$/.test(url.protocol)) return 'takes an http:// or https:// address'
      return url.username + url.password === '' ? null : 'may not have a user or password in it'
    }),
  )

export const heartbeatSchema = webAddress(
  'Address that is called (GET) after each good run, and with /fail after each that was not good',
)

export const notifySchema = z
  .array(
    later(() =>
      z.strictObject({
        url: webAddress('Address that gets the messages (POST)'),
        form: choice(
          'json: fields for a program; slack: an incoming webhook; teams: an Adaptive Card',
          formNames,
        ).prefault('json'),
        on: z
          .array(z.enum(eventNames))
          .min(1, 'names no event; leave it out for all')
          .prefault([...eventNames])
          .meta({ description: 'Which events are told; default: all' }),
      }),
    ),
  )
  .meta({ description: 'Who is told, once, when a feed fails, is held, becomes stale, or recovers' })

/** One place that messages go to. */
export type Target = z.output<typeof notifySchema>[number]
