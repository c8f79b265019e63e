/**
 * The configuration of the service (`service:`) and of a chatbot's settings (`settings:`, or a file). Pass `issueSentence` as
 * zod's `error`.
 */
import { z } from 'zod'
import { figureNames, namesIn } from '../core/figures.ts'
import { issueSentence, located } from '../core/schema-words.ts'
import {
  certificates,
  choice,
  duration,
  headerValue,
  judgedBy,
  number,
  positiveDuration,
  size,
  text,
  whole,
} from '../core/setting-kinds.ts'
import { nearestName } from '../core/text.ts'
import { baseUrlProblem } from './base-url.ts'

const saleTypeShown = z
  .strictObject({ for_sale: text('How for_sale is listed'), for_rent: text('How for_rent is listed') })
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
    description: 'How list items spell the sale types, if without "sale", "rent" or "lease"',
  }),
})

const backoff = z.strictObject({
  base: duration('First wait before a call is repeated; doubled each time, with jitter').prefault('500ms'),
  max: duration('Longest of these waits').prefault('30s'),
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
  rate: number('Calls per second, shared by all feeds of this service; if they name several, the lowest', {
    min: 0.01,
    max: 1000,
  }).prefault(5),
  concurrency: whole('Most calls in flight at a time for one chatbot', { min: 1, max: 256 }).prefault(4),
  timeout: positiveDuration('Longest wait for the answer to one call').prefault('30s'),
  patience: duration('Longest Retry-After to wait for; if the service asks for more, the run stops').prefault('5m'),
  attempts: whole('Most attempts of one call', { min: 1, max: 20 }).prefault(5),
  backoff: backoff.prefault({}).meta({ description: 'How long to wait before a call is sent again' }),
  maxAnswerBytes: size('Most bytes of one answer').prefault('32MB'),
  profile: profileSchema
    .prefault({})
    .meta({ description: 'How this service behaves where its documentation does not say' }),
})

/** Times in milliseconds, `baseUrl` without a final slash, a missing key null. */
export type ServiceSettings = z.output<typeof serviceSchema>

/** The known answers to the open questions of docs/service.md. */
export type ServiceProfile = z.output<typeof profileSchema>

const colour = z.string().superRefine(judgedBy(colourProblem))

const language = z
  .string()
  .regex(/^(?![A-Za-z]{2}(?:[-_][A-Za-z]{2,4})?$)/, 'takes the full name of a language, such as English')

const freeText = z.string()
const integer = z.int()
const flag = z.boolean()

/** The settings of Edit, in the documented order. */
const settingFields = {
  Name: freeText.describe('Name of the chatbot'),
  Model: freeText.describe("AI model ID, from the service's Get Model List operation, whose path is not documented"),
  SystemMessage: freeText.describe('System prompt'),
  Temperature: integer.describe('Temperature for responses; its range is not documented'),
  TimeZone: freeText.describe('Time zone name'),
  AnswerSuffix: freeText.describe('Text appended to answers'),
  ChatProfilePicture: freeText.describe('File ID of the profile picture'),
  ChatIcon: freeText.describe('File ID of the bubble icon'),
  ChatBubbleAlign: integer.describe('Alignment of the chat bubble; its values are not documented'),
  ChatBubbleColor: colour.describe('Bubble colour, rgb(r,g,b) with 0 to 255'),
  ChatbotPopupOnce: flag.describe('Show the popup only once'),
  ChatbotPrivacyPolicyDescription: freeText.describe('Text about the privacy policy'),
  ChatbotPrivacyPolicyName: freeText.describe('Name of the privacy policy'),
  ChatbotPrivacyPolicyUrl: freeText.describe('Address of the privacy policy'),
  EnablePushToTalk: flag.describe('Let visitors speak their messages'),
  EnableUploadImage: flag.describe('Let visitors send images'),
  FacebookUrl: freeText.describe('Social page URL'),
  InstagramUrl: freeText.describe('Social profile URL'),
  RemoveChatLogOnBrowserClose: flag.describe('Clear chat history when the browser closes'),
  SuggestedMessage: freeText.describe('Suggested messages'),
  TalkToHumanEmail: freeText.describe('E-mail address for human handoff'),
  TalkToHumanResponseMessage: freeText.describe('Message shown when transferring to a human'),
  UserInputPlaceholder: freeText.describe('Placeholder text of the input field'),
  UserMessageColor: colour.describe('Colour of user messages, rgb(r,g,b) with 0 to 255'),
  WelcomeMessage: freeText.describe('Initial greeting'),
  WhatsappUrl: freeText.describe('Messaging contact URL'),
  VerifyDomain: flag.describe('Enable domain verification'),
  Domains: freeText.describe('Allowed domains for embedding'),
  RateLimitCount: integer.describe('Maximum messages allowed within the rate-limit window'),
  RateLimitMessage: freeText.describe('Message shown when the rate limit is exceeded'),
  RateLimitTime: integer.describe('Rate-limit duration in seconds'),
  CustomDomain: freeText.describe('Custom domain for embedding'),
  EmailForDailyChatLogs: freeText.describe('E-mail address receiving daily chat logs'),
  EmailForDailyLeads: freeText.describe('E-mail address receiving daily leads'),
  AIResponseLanguage: language.describe('Language of AI responses, given as the full language name'),
  MessageLimit: integer.describe('Maximum messages per month; -1 means unlimited'),
}

/** A field that is left out stays as it is. */
export type ChatbotSettings = { [Name in keyof typeof settingFields]?: z.output<(typeof settingFields)[Name]> }

function checkFigures(value: string, context: z.core.$RefinementCtx<string>): void {
  const unknown = namesIn(value).filter((name) => !figureNames.includes(name))
  for (const name of new Set(unknown)) context.addIssue({ code: 'custom', message: unknownFigure(name) })
}

/** The settings as written, with figures of the feed not yet filled in. */
export const writtenSettings: z.ZodType<ChatbotSettings, ChatbotSettings> = z.strictObject(
  Object.fromEntries(
    Object.entries(settingFields).map(([name, field]) => [
      name,
      (field instanceof z.ZodString ? field.superRefine(checkFigures) : field).optional(),
    ]),
  ),
)

function unknownFigure(name: string): string {
  const nearest = nearestName(name, figureNames)
  const known =
    nearest === null
      ? `use one of ${figureNames.map((figure) => `{${figure}}`).join(', ')}.`
      : `did you mean {${nearest}}?`
  return `{${name}} is not a figure of the feed; ${known} For the text itself write {{${name}}}`
}

function colourProblem(value: string): string | null {
  const example = (parts: number[]) => `write rgb(${parts.join(',')})`
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(value)
  if (hex !== null) return `takes rgb(r,g,b): ${example(hex.slice(1).map((pair) => Number.parseInt(pair, 16)))}`
  const spaced = /^\s*rgb\s*\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)\s*$/i.exec(value)
  if (spaced === null) return 'takes a colour as rgb(r,g,b), such as rgb(0,120,212)'
  const parts = spaced.slice(1).map(Number)
  if (parts.some((part) => part > 255)) return `takes 0 to 255 for each part, not ${JSON.stringify(value)}`
  const written = `rgb(${parts.join(',')})`
  return value === written ? null : `takes rgb(r,g,b), spelled exactly so: ${example(parts)}`
}

/** Problems of settings, each beginning with the setting's name. */
export function settingsProblems(settings: object): string[] {
  const { error } = z
    .strictObject(settingFields)
    .partial()
    .safeParse(settings, { error: issueSentence, reportInput: true })
  return (error?.issues ?? []).flatMap((issue) =>
    located(issue).map(({ path, problem }) => `${path.join('.')}: ${problem}`),
  )
}
