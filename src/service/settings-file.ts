/**
 * What of the configuration is the service's: how it is reached and what was learnt of it (`service:`), and the settings
 * of a chatbot (`settings:`, or a file of its own). For zod's `error` give `issueSentence`.
 */
import { z } from 'zod'
import { figureNames, namesIn } from '../core/figures.ts'
import { issueSentence, located } from '../core/schema-words.ts'
import { choice, duration, headerValue, number, positiveDuration, text, whole } from '../core/setting-kinds.ts'
import { nearestName } from '../core/text.ts'
import { baseUrlProblem } from './base-url.ts'

const saleTypeShown = z
  .strictObject({
    for_sale: text('What for_sale is listed as'),
    for_rent: text('What for_rent is listed as'),
  })
  .refine((shown) => shown.for_sale.trim() !== shown.for_rent.trim(), 'says the same for both: leave it out')

const profileSchema = z.strictObject({
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

const keySchema = (description: string) =>
  headerValue
    .optional()
    .transform((key) => key || null)
    .meta({ description })

/** Settings of the listing service, whole: the top `service`, or it with a feed's own put over it. */
export const serviceSchema = z.strictObject({
  baseUrl: text('Address of the service, http or https')
    .superRefine((value, context) => {
      const problem = baseUrlProblem(value)
      if (problem !== null) context.addIssue({ code: 'custom', message: problem })
    })
    .transform((value) => value.replace(/\/+$/, '')),
  secretKey: keySchema('Sent as Authorization, as it is (U1)'),
  sessionKey: keySchema('Sent as chatrobot-sessionkey (U1)'),
  rate: number('Calls a second, shared by every feed of this service (U15)', { min: 0.01, max: 1000 }).prefault(5),
  concurrency: whole('Calls under way at one time', { min: 1, max: 256 }).prefault(4),
  timeout: positiveDuration('Longest wait for the answer to one call').prefault('30s'),
  patience: duration('Longest Retry-After that a run waits for; beyond it the run stops').prefault('5m'),
  attempts: whole('Times a call is sent at most', { min: 1, max: 20 }).prefault(5),
  backoff: backoff.prefault({}),
  profile: profileSchema.prefault({}).meta({ description: 'Answers to what the interface leaves open' }),
})

/** How the service is called: times in milliseconds, `baseUrl` without a slash at its end, an absent key null. */
export type ServiceSettings = z.output<typeof serviceSchema>

/** What the interface leaves open, as this service answers it. */
export type ServiceProfile = z.output<typeof profileSchema>

const colour = z.string().superRefine((value, context) => {
  const problem = colourProblem(value)
  if (problem !== null) context.addIssue({ code: 'custom', message: problem })
})

const language = z
  .string()
  .regex(/^(?![A-Za-z]{2}(?:[-_][A-Za-z]{2,4})?$)/, 'takes the full name of a language, such as English')

const freeText = z.string()
const integer = z.int()
const flag = z.boolean()

/** What Edit can change, by the names and in the order of the interface's table. */
const settingFields = {
  /** New chatbot name. */
  Name: freeText,
  /** AI model ID, from the service's Get Model List operation, whose path is not documented. */
  Model: freeText,
  /** System prompt. */
  SystemMessage: freeText,
  /** Temperature for responses; its range is not documented. */
  Temperature: integer,
  /** Time zone name. */
  TimeZone: freeText,
  /** Text appended to answers. */
  AnswerSuffix: freeText,
  /** File ID of the profile picture. */
  ChatProfilePicture: freeText,
  /** File ID of the bubble icon. */
  ChatIcon: freeText,
  /** Alignment of the chat bubble; its values are not documented. */
  ChatBubbleAlign: integer,
  /** Bubble colour, `rgb(r,g,b)` with 0 to 255. */
  ChatBubbleColor: colour,
  /** Show the popup only once. */
  ChatbotPopupOnce: flag,
  ChatbotPrivacyPolicyDescription: freeText,
  ChatbotPrivacyPolicyName: freeText,
  ChatbotPrivacyPolicyUrl: freeText,
  EnablePushToTalk: flag,
  EnableUploadImage: flag,
  /** Social page URL. */
  FacebookUrl: freeText,
  /** Social profile URL. */
  InstagramUrl: freeText,
  /** Clear chat history when the browser closes. */
  RemoveChatLogOnBrowserClose: flag,
  /** Suggested messages. */
  SuggestedMessage: freeText,
  /** E-mail address for human handoff. */
  TalkToHumanEmail: freeText,
  /** Message shown when transferring to a human. */
  TalkToHumanResponseMessage: freeText,
  /** Placeholder text of the input field. */
  UserInputPlaceholder: freeText,
  /** Colour of user messages, `rgb(r,g,b)` with 0 to 255. */
  UserMessageColor: colour,
  /** Initial greeting. */
  WelcomeMessage: freeText,
  /** Messaging contact URL. */
  WhatsappUrl: freeText,
  /** Enable domain verification. */
  VerifyDomain: flag,
  /** Allowed domains for embedding. */
  Domains: freeText,
  /** Maximum messages allowed within the rate-limit window. */
  RateLimitCount: integer,
  /** Message shown when the rate limit is exceeded. */
  RateLimitMessage: freeText,
  /** Rate-limit duration in seconds. */
  RateLimitTime: integer,
  /** Custom domain for embedding. */
  CustomDomain: freeText,
  /** E-mail address receiving daily chat logs. */
  EmailForDailyChatLogs: freeText,
  /** E-mail address receiving daily leads. */
  EmailForDailyLeads: freeText,
  /** Language of AI responses, given as the full language name. */
  AIResponseLanguage: language,
  /** Maximum messages per month; -1 means unlimited. */
  MessageLimit: integer,
}

/** What Edit can change. A field that is left out stays as it is. */
export type ChatbotSettings = { [Name in keyof typeof settingFields]?: z.output<(typeof settingFields)[Name]> }

const textWithFigures = freeText.superRefine((value, context) => {
  const unknown = namesIn(value).filter((name) => !figureNames.includes(name))
  for (const name of new Set(unknown)) context.addIssue({ code: 'custom', message: unknownFigure(name) })
})

/** The settings as a configuration has them, before the figures of the feed in their texts are filled in. */
export const writtenSettings: z.ZodType<ChatbotSettings, ChatbotSettings> = z.strictObject(
  Object.fromEntries(
    Object.entries(settingFields).map(([name, field]) => [
      name,
      (field === freeText ? textWithFigures : field).optional(),
    ]),
  ),
)

function unknownFigure(name: string): string {
  const nearest = nearestName(name, figureNames)
  const known =
    nearest === null ? `known are ${figureNames.map((one) => `{${one}}`).join(', ')}.` : `did you mean {${nearest}}?`
  return `{${name}} is no figure of the feed; ${known} For the text itself write {{${name}}}`
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
  return value === written ? null : `takes rgb(r,g,b), spelled just so: ${example(parts)}`
}

/** Everything that the interface forbids about settings, each beginning with the setting's name. */
export function settingsProblems(settings: object): string[] {
  const { error } = z
    .strictObject(settingFields)
    .partial()
    .safeParse(settings, { error: issueSentence, reportInput: true })
  return (error?.issues ?? []).flatMap((issue) =>
    located(issue).map(({ path, problem }) => `${path.join('.')}: ${problem}`),
  )
}
