/** `colour`: a text of the form `rgb(r,g,b)`. */
export type SettingType = 'text' | 'integer' | 'flag' | 'colour'

/** The settings of a chatbot without `serialNumber`; all are optional. */
export const settingFields = {
  Name: 'text',
  Model: 'text',
  SystemMessage: 'text',
  Temperature: 'integer',
  TimeZone: 'text',
  AnswerSuffix: 'text',
  ChatProfilePicture: 'text',
  ChatIcon: 'text',
  ChatBubbleAlign: 'integer',
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
  RateLimitCount: 'integer',
  RateLimitMessage: 'text',
  RateLimitTime: 'integer',
  CustomDomain: 'text',
  EmailForDailyChatLogs: 'text',
  EmailForDailyLeads: 'text',
  AIResponseLanguage: 'text',
  MessageLimit: 'integer',
} as const satisfies Record<string, SettingType>

export type SettingName = keyof typeof settingFields

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settingFields, name)
}

export const settingNames = Object.keys(settingFields).filter(isSettingName)

type ValueOf<Type> = Type extends 'integer' ? number : Type extends 'flag' ? boolean : string

/** Settings made by Edit; others are left out. */
export type ChatbotSettings = { [Name in SettingName]?: ValueOf<(typeof settingFields)[Name]> }

/** Why a value is invalid for its setting, or null. */
export function settingProblem(name: SettingName, value: unknown): string | null {
  const { fits, problem } = types[settingFields[name]]
  return fits(value) ? null : problem
}

const types: Record<SettingType, { fits: (value: unknown) => boolean; problem: string }> = {
  text: { fits: (value) => typeof value === 'string', problem: 'must be a string' },
  integer: { fits: (value) => Number.isSafeInteger(value), problem: 'must be an integer' },
  flag: { fits: (value) => typeof value === 'boolean', problem: 'must be a boolean' },
  colour: {
    fits: (value) => value === '' || isColour(value),
    problem: 'must be a colour of the form rgb(r,g,b), each from 0 to 255',
  },
}

function isColour(value: unknown): boolean {
  const channels = typeof value === 'string' ? /^rgb\((\d{1,3}),(\d{1,3}),(\d{1,3})\)$/.exec(value) : null
  return channels !== null && channels.slice(1).every((part) => Number(part) <= 255)
}
