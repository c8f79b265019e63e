/** The settings of a chatbot (interface, "Chatbot settings"). */
import { z } from 'zod'
import { issueSentence, located } from '../core/schema-words.ts'

/** What Edit can change, by the names of the interface's table. A field that is left out stays as it is. */
export interface ChatbotSettings {
  /** New chatbot name. */
  Name?: string
  /** AI model ID, from the service's Get Model List operation, whose path is not documented (U20). */
  Model?: string
  /** System prompt. */
  SystemMessage?: string
  /** Temperature for responses; its range is not documented (U20). */
  Temperature?: number
  /** Time zone name. */
  TimeZone?: string
  /** Text appended to answers. */
  AnswerSuffix?: string
  /** File ID of the profile picture. */
  ChatProfilePicture?: string
  /** File ID of the bubble icon. */
  ChatIcon?: string
  /** Alignment of the chat bubble; its values are not documented (U20). */
  ChatBubbleAlign?: number
  /** Bubble colour, `rgb(r,g,b)` with 0 to 255. */
  ChatBubbleColor?: string
  /** Show the popup only once. */
  ChatbotPopupOnce?: boolean
  ChatbotPrivacyPolicyDescription?: string
  ChatbotPrivacyPolicyName?: string
  ChatbotPrivacyPolicyUrl?: string
  EnablePushToTalk?: boolean
  EnableUploadImage?: boolean
  /** Social page URL. */
  FacebookUrl?: string
  /** Social profile URL. */
  InstagramUrl?: string
  /** Clear chat history when the browser closes. */
  RemoveChatLogOnBrowserClose?: boolean
  /** Suggested messages. */
  SuggestedMessage?: string
  /** E-mail address for human handoff. */
  TalkToHumanEmail?: string
  /** Message shown when transferring to a human. */
  TalkToHumanResponseMessage?: string
  /** Placeholder text of the input field. */
  UserInputPlaceholder?: string
  /** Colour of user messages, `rgb(r,g,b)` with 0 to 255. */
  UserMessageColor?: string
  /** Initial greeting. */
  WelcomeMessage?: string
  /** Messaging contact URL. */
  WhatsappUrl?: string
  /** Enable domain verification. */
  VerifyDomain?: boolean
  /** Allowed domains for embedding. */
  Domains?: string
  /** Maximum messages allowed within the rate-limit window. */
  RateLimitCount?: number
  /** Message shown when the rate limit is exceeded. */
  RateLimitMessage?: string
  /** Rate-limit duration in seconds. */
  RateLimitTime?: number
  /** Custom domain for embedding. */
  CustomDomain?: string
  /** E-mail address receiving daily chat logs. */
  EmailForDailyChatLogs?: string
  /** E-mail address receiving daily leads. */
  EmailForDailyLeads?: string
  /** Language of AI responses, given as the full language name. */
  AIResponseLanguage?: string
  /** Maximum messages per month; -1 means unlimited. */
  MessageLimit?: number
}

const kinds = {
  whole: z.int(),
  flag: z.boolean(),
  colour: z.string().superRefine((value, context) => {
    const problem = colourProblem(value)
    if (problem !== null) context.addIssue({ code: 'custom', message: problem })
  }),
  language: z
    .string()
    .regex(/^(?![A-Za-z]{2}(?:[-_][A-Za-z]{2,4})?$)/, 'takes the full name of a language, such as English'),
}

/** What every setting takes, in the order of the interface's table. */
const settingKinds: Record<keyof ChatbotSettings, keyof typeof kinds | 'text'> = {
  Name: 'text',
  Model: 'text',
  SystemMessage: 'text',
  Temperature: 'whole',
  TimeZone: 'text',
  AnswerSuffix: 'text',
  ChatProfilePicture: 'text',
  ChatIcon: 'text',
  ChatBubbleAlign: 'whole',
  ChatBubbleColor: 'colour',
  ChatbotPopupOnce: 'flag',
  ChatbotPrivacyPolicyDescription: 'text',
  ChatbotPrivacyPolicyName: 'text',
  ChatbotPrivacyPolicyUrl: 'text',
  EnablePushToTalk: 'flag',
  EnableUploadImage: 'flag',
  FacebookUrl: 'text',
  InstagramUrl: 'text',
  RemoveChatLogOnBrowserClose: 'flag',
  SuggestedMessage: 'text',
  TalkToHumanEmail: 'text',
  TalkToHumanResponseMessage: 'text',
  UserInputPlaceholder: 'text',
  UserMessageColor: 'colour',
  WelcomeMessage: 'text',
  WhatsappUrl: 'text',
  VerifyDomain: 'flag',
  Domains: 'text',
  RateLimitCount: 'whole',
  RateLimitMessage: 'text',
  RateLimitTime: 'whole',
  CustomDomain: 'text',
  EmailForDailyChatLogs: 'text',
  EmailForDailyLeads: 'text',
  AIResponseLanguage: 'language',
  MessageLimit: 'whole',
}

/** Checks settings, their free texts by `text`; unknown names are refused. For zod's `error` give `issueSentence`. */
export function settingsSchema(text: z.ZodType<string, string>): z.ZodType<ChatbotSettings, ChatbotSettings> {
  const taken = { ...kinds, text }
  return z.strictObject(
    Object.fromEntries(Object.entries(settingKinds).map(([name, kind]) => [name, taken[kind].optional()])),
  )
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

const editedSettings = settingsSchema(z.string())

/** Everything that the interface forbids about settings, each beginning with the setting's name. */
export function settingsProblems(settings: object): string[] {
  const { error } = editedSettings.safeParse(settings, { error: issueSentence, reportInput: true })
  return (error?.issues ?? []).flatMap((issue) =>
    located(issue).map(({ path, problem }) => `${path.join('.')}: ${problem}`),
  )
}
