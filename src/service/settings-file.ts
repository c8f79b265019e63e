/**
 * The configuration of the service (`service:`) and of a chatbot's settings (`settings:`, or a file). Pass `issueSentence` as
 * zod's `error`.
 */
import { z } from 'zod'
import { figureNames, namesIn } from '../core/figures.ts'
import {
  certificates,
  choice,
  duration,
  headerValue,
  judgedBy,
  later,
  number,
  positiveDuration,
  size,
  text,
  whole,
} from '../core/setting-kinds.ts'
import { nearestName } from '../core/text.ts'
import { baseUrlProblem } from './base-url.ts'
import { colourProblem, languageName, languageSentence, settingRules } from './settings.ts'
import type { ChatbotSettings, SettingRule } from './settings.ts'

const saleTypeShown = z
  .strictObject({ for_sale: text('Word that means for_sale'), for_rent: text('Word that means for_rent') })
  .refine((shown) => shown.for_sale.trim() !== shown.for_rent.trim(), 'is the same for both: leave it out')

const profileSchema = z.strictObject({
  pageSize: whole('PageSize to request', { min: 1, max: 10_000 }).prefault(100),
  deleteBatch: whole('Most Keys in one Delete', { min: 1, max: 10_000 }).prefault(50),
  virtualCount: choice('Whether VirtualCount is the number of all listings', ['unknown', 'total']).prefault('unknown'),
  clear: choice('How a field is cleared: sent empty, or left out', ['empty', 'omit']).prefault('empty'),
  nativeId: choice('Whether Delete takes the ID of a list item as NativeId', ['unknown', 'list-id']).prefault(
    'unknown',
  ),
  saleTypeShown: saleTypeShown.optional().meta({
    description: 'Words of list items for the sale types, if they do not contain "sale", "rent" or "lease"',
  }),
})

const backoff = z.strictObject({
  base: duration('First wait before a call is repeated; doubled each time, with jitter').prefault('500ms'),
  max: duration('Longest of these waits').prefault('30s'),
})

const chat = z.strictObject({
  first: positiveDuration('Longest wait for an answer or, streamed, for its first piece').prefault('60s'),
  idle: positiveDuration('Longest silence between the pieces of a streamed answer').prefault('30s'),
})

const keySchema = (description: string) =>
  headerValue
    .optional()
    .transform((key) => key || null)
    .meta({ description })

/** Settings of the service: `service`, overridden by those of a feed. */
export const serviceSchema = z.strictObject({
  baseUrl: text('Address of the service, http or https')
    .superRefine(judgedBy(baseUrlProblem))
    .transform((value) => value.replace(/\/+$/, '')),
  secretKey: keySchema('Sent as the Authorization header, unchanged'),
  sessionKey: keySchema('Sent as the chatrobot-sessionkey header'),
  ca: certificates('An authority of your own that vouches for the service'),
  rate: number(
    'Calls per second, shared by all feeds of this service. If feeds name different rates, the lowest counts',
    {
      min: 0.01,
      max: 1000,
    },
  ).prefault(5),
  concurrency: whole('Most calls in flight at a time for one chatbot', { min: 1, max: 256 }).prefault(4),
  timeout: positiveDuration('Longest wait for the answer to one call').prefault('30s'),
  chat: chat.prefault({}).meta({ description: 'How long to wait for answers of the chatbot' }),
  patience: duration('Longest Retry-After to wait for; if the service asks for more, the run stops').prefault('5m'),
  attempts: whole('Most attempts of one call', { min: 1, max: 20 }).prefault(5),
  backoff: backoff.prefault({}).meta({ description: 'How long to wait before a call is sent again' }),
  maxAnswerBytes: size('Most bytes of one answer').prefault('32MB'),
  profile: profileSchema
    .prefault({})
    .meta({ description: 'How this service behaves where its documentation does not say' }),
})

const kinds: Record<SettingRule['kind'], () => z.ZodType> = {
  text: () => z.string().superRefine(checkFigures),
  whole: () => z.int(),
  flag: () => z.boolean(),
  colour: () => z.string().superRefine(judgedBy(colourProblem)).superRefine(checkFigures),
  language: () => z.string().regex(languageName, languageSentence).superRefine(checkFigures),
}

function checkFigures(value: string, context: z.core.$RefinementCtx<string>): void {
  const unknown = namesIn(value).filter((name) => !figureNames.includes(name))
  for (const name of new Set(unknown)) context.addIssue({ code: 'custom', message: unknownFigure(name) })
}

/** The settings as written, with figures of the feed not yet filled in. */
export const writtenSettings = later(() =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(settingRules).map(([name, { kind, description }]) => [
        name,
        kinds[kind]().describe(description).optional(),
      ]),
    ),
  ),
) as unknown as z.ZodType<ChatbotSettings, ChatbotSettings>

function unknownFigure(name: string): string {
  const nearest = nearestName(name, figureNames)
  const known =
    nearest === null
      ? `use one of ${figureNames.map((figure) => `{${figure}}`).join(', ')}.`
      : `did you mean {${nearest}}?`
  return `{${name}} is not a figure of the feed; ${known} For the text itself write {{${name}}}`
}
