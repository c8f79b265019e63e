import { anyText, choice, isInteger, text } from './body.ts'
import type { Body } from './body.ts'
import type { StandInProfile } from './profile.ts'
import { settingNames, settingProblem } from './setting-fields.ts'
import type { ChatbotSettings } from './setting-fields.ts'

/** A checked Edit; `settings` holds what was sent, `""` too. */
export interface EditRequest {
  operation: 'Edit'
  serialNumber: string
  settings: ChatbotSettings
}

/** A checked ClientAsk. */
export interface AskRequest {
  operation: 'ClientAsk'
  sessionId: number
  content: string
  kind: AskKind
  stream: boolean
  fileIds: number[]
}

/** The values of chatAskType. */
export const askKinds = ['Text', 'Audio', 'Image', 'Video'] as const
export type AskKind = (typeof askKinds)[number]

/** Holds Edit against the settings table. Only here does the interface write `serialNumber` with a small s. */
export function checkEdit(body: Body, profile: StandInProfile, problems: string[]): EditRequest {
  const settings: Record<string, unknown> = {}
  for (const name of settingNames) {
    if (!body.has(name)) continue
    const value = body.get(name)
    const refused = value === '' && profile.emptySetting === 'refused'
    const problem = refused ? 'must not be empty' : settingProblem(name, value)
    if (problem) problems.push(`${name} ${problem}`)
    else settings[name] = value
  }
  return { operation: 'Edit', serialNumber: text(body, 'serialNumber', problems), settings }
}

/** Holds ClientAsk against its table and its file rules, as far as they can be told from the body alone. */
export function checkAsk(body: Body, profile: StandInProfile, problems: string[]): AskRequest {
  const sessionId = body.get('sessionID')
  if (!isInteger(sessionId)) {
    problems.push(body.has('sessionID') ? 'sessionID must be an integer' : 'sessionID is required')
  }
  const content = anyText(body, 'content', problems)
  const untyped = (body.get('chatAskType') ?? null) === null
  const kind = untyped ? 'Text' : choice(body, 'chatAskType', askKinds, problems)
  if (content === '' && body.get('content') === '' && kind === 'Text') {
    problems.push('content must not be empty unless chatAskType is Image, Audio or Video')
  }
  const stream = body.has('stream') ? body.get('stream') : false
  if (typeof stream !== 'boolean') problems.push('stream must be a boolean')
  return {
    operation: 'ClientAsk',
    sessionId: isInteger(sessionId) ? sessionId : 0,
    content,
    kind,
    stream: stream === true,
    fileIds: checkFileIds(body, kind, profile, problems),
  }
}

function checkFileIds(body: Body, kind: AskKind, profile: StandInProfile, problems: string[]): number[] {
  const value = body.has('fileIds') ? body.get('fileIds') : []
  if (!Array.isArray(value) || !value.every(isInteger)) {
    problems.push('fileIds must be an array of integers')
    return []
  }
  if (kind === 'Text') {
    if (body.has('fileIds')) problems.push('fileIds is valid only when chatAskType is Image, Video or Audio')
  } else if (kind === 'Image') {
    const needed = value.length === 0 && profile.imageWithoutFile === 'refused'
    if (needed) problems.push('fileIds must name at least one file when chatAskType is Image')
  } else if (value.length !== 1) {
    problems.push(`fileIds must name exactly one file when chatAskType is ${kind}`)
  }
  return value
}
