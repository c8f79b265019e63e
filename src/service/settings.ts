/**
 * The settings of the client, and the rules for a chatbot's settings (Edit). Free of zod, which the client as a package of its
 * own does without; `settings-file.ts` makes the configuration's schemas of them.
 */
import { unknownName } from '../core/text.ts'

/** How a service behaves where its documentation does not say (docs/service.md). */
export interface ServiceProfile {
  /** PageSize to request. */
  pageSize: number
  /** Most Keys in one Delete. */
  deleteBatch: number
  virtualCount: 'unknown' | 'total'
  /** How a field is cleared: sent empty, or left out. */
  clear: 'empty' | 'omit'
  /** Whether Delete takes the ID of a list item as NativeId. */
  nativeId: 'unknown' | 'list-id'
  /** How list items spell the sale types, if without "sale", "rent" or "lease". */
  saleTypeShown?: { for_sale: string; for_rent: string } | undefined
}

/** How to reach a service, and how patiently. Times in milliseconds; a missing key is null. */
export interface ServiceSettings {
  /** Without a final slash. */
  baseUrl: string
  /** Sent as the Authorization header, unchanged. */
  secretKey: string | null
  /** Sent as the chatrobot-sessionkey header. */
  sessionKey: string | null
  /** Certificates of an authority of one's own, as PEM. */
  ca: string | null
  /** Calls per second. */
  rate: number
  /** Most calls in flight at a time for one chatbot. */
  concurrency: number
  /** Longest wait for the answer to one call. */
  timeout: number
  /** Waits of a message to the chatbot: for an answer or its first piece, and between pieces. Left out: `timeout` for both. */
  chat?: { first: number; idle: number } | undefined
  /** Longest Retry-After to wait for. */
  patience: number
  /** Most attempts of one call. */
  attempts: number
  /** Waits before a call is sent again: the first, doubled each time, and the longest. */
  backoff: { base: number; max: number }
  /** Most bytes of one answer. */
  maxAnswerBytes: number
  profile: ServiceProfile
}

/** What a setting takes, and what it means. */
export interface SettingRule {
  kind: 'text' | 'whole' | 'flag' | 'colour' | 'language'
  description: string
}

const rule =
  <Kind extends SettingRule['kind']>(kind: Kind) =>
  (description: string) => ({ kind, description })
const text = rule('text')
const whole = rule('whole')
const flag = rule('flag')
const colour = rule('colour')
const language = rule('language')

/** The settings of Edit, in the documented order. */
export const settingRules = {
  Name: text('Name of the chatbot'),
  Model: text("AI model ID, from the service's Get Model List operation, whose path is not documented"),
  SystemMessage: text('System prompt'),
  Temperature: whole('Temperature for responses; its range is not documented'),
  TimeZone: text('Time zone name'),
  AnswerSuffix: text('Text appended to answers'),
  ChatProfilePicture: text('File ID of the profile picture'),
  ChatIcon: text('File ID of the bubble icon'),
  ChatBubbleAlign: whole('Alignment of the chat bubble; its values are not documented'),
  ChatBubbleColor: colour('Bubble colour, rgb(r,g,b) with 0 to 255'),
  ChatbotPopupOnce: flag('Show the popup only once'),
  ChatbotPrivacyPolicyDescription: text('Text about the privacy policy'),
  ChatbotPrivacyPolicyName: text('Name of the privacy policy'),
  ChatbotPrivacyPolicyUrl: text('Address of the privacy policy'),
  EnablePushToTalk: flag('Let visitors speak their messages'),
  EnableUploadImage: flag('Let visitors send images'),
  FacebookUrl: text('Social page URL'),
  InstagramUrl: text('Social profile URL'),
  RemoveChatLogOnBrowserClose: flag('Clear chat history when the browser closes'),
  SuggestedMessage: text('Suggested messages'),
  TalkToHumanEmail: text('E-mail address for human handoff'),
  TalkToHumanResponseMessage: text('Message shown when transferring to a human'),
  UserInputPlaceholder: text('Placeholder text of the input field'),
  UserMessageColor: colour('Colour of user messages, rgb(r,g,b) with 0 to 255'),
  WelcomeMessage: text('Initial greeting'),
  WhatsappUrl: text('Messaging contact URL'),
  VerifyDomain: flag('Enable domain verification'),
  Domains: text('Allowed domains for embedding'),
  RateLimitCount: whole('Maximum messages allowed within the rate-limit window'),
  RateLimitMessage: text('Message shown when the rate limit is exceeded'),
  RateLimitTime: whole('Rate-limit duration in seconds'),
  CustomDomain: text('Custom domain for embedding'),
  EmailForDailyChatLogs: text('E-mail address receiving daily chat logs'),
  EmailForDailyLeads: text('E-mail address receiving daily leads'),
  AIResponseLanguage: language('Language of AI responses, given as the full language name'),
  MessageLimit: whole('Maximum messages per month; -1 means unlimited'),
}

type ValueOf<Kind> = Kind extends 'whole' ? number : Kind extends 'flag' ? boolean : string

/** A field that is left out stays as it is. */
export type ChatbotSettings = {
  [Name in keyof typeof settingRules]?: ValueOf<(typeof settingRules)[Name]['kind']> | undefined
}

/** What is wrong with a value, or null. */
const problemOf: Record<SettingRule['kind'], (value: unknown) => string | null> = {
  text: textProblem,
  whole: (value) => (Number.isSafeInteger(value) ? null : 'takes a whole number'),
  flag: (value) => (typeof value === 'boolean' ? null : 'takes true or false'),
  colour: (value) => textProblem(value) ?? colourProblem(value as string),
  language: (value) => textProblem(value) ?? (languageName.test(value as string) ? null : languageSentence),
}

function textProblem(value: unknown): string | null {
  if (typeof value === 'string') return null
  return typeof value === 'object' ? 'takes text' : 'takes text; put it in quotes, exactly as it is spelled'
}

/** Not a language code. */
export const languageName = /^(?![A-Za-z]{2}(?:[-_][A-Za-z]{2,4})?$)/
export const languageSentence = 'takes the full name of a language, such as English'

/** Colours are spelled rgb(r,g,b). */
export function colourProblem(value: string): string | null {
  const example = (channels: number[]) => `write rgb(${channels.join(',')})`
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(value)
  if (hex !== null) return `takes rgb(r,g,b): ${example(hex.slice(1).map((pair) => Number.parseInt(pair, 16)))}`
  const spaced = /^\s*rgb\s*\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)\s*$/i.exec(value)
  if (spaced === null) return 'takes a colour as rgb(r,g,b), such as rgb(0,120,212)'
  const channels = spaced.slice(1).map(Number)
  if (channels.some((part) => part > 255)) return `takes 0 to 255 for each part, not ${JSON.stringify(value)}`
  const written = `rgb(${channels.join(',')})`
  return value === written ? null : `takes rgb(r,g,b), spelled exactly so: ${example(channels)}`
}

/** Problems of settings, each beginning with the setting's name. Settings that are undefined are left out. */
export function settingsProblems(settings: object): string[] {
  const rules: Readonly<Record<string, SettingRule>> = settingRules
  const names = Object.keys(rules)
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  const wrong = given.flatMap(([name, value]: [string, unknown]) => {
    if (!names.includes(name)) return []
    const problem =
      value === null ? 'is empty; give it a value or leave the key out' : problemOf[rules[name].kind](value)
    return problem === null ? [] : [`${name}: ${problem}`]
  })
  const unknown = given.flatMap(([name]) =>
    names.includes(name) ? [] : [`${name}: ${unknownName(name, names, 'key')}`],
  )
  return [...wrong, ...unknown]
}
