import { refusalCodes } from './profile.ts'
import type { RefusalReason, StandInProfile } from './profile.ts'
import type { Stream } from './stream.ts'

/** The body of every answer. */
export interface Envelope {
  Data: unknown
  Version: string
  Success: boolean
  Code: number
  Message: string
}

/** An answer before it is sent. */
export interface Reply {
  status: number
  headers: Record<string, string>
  body: Envelope
  /** The body as the profile spells it; without it as documented. */
  spell?: (body: Envelope) => unknown
  /** Sent instead of the body if a stream was requested. */
  stream?: Stream
}

/** Thrown by an operation that refuses; becomes an envelope with Success false. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly reason: RefusalReason
  readonly headers: Record<string, string>
  constructor(reason: RefusalReason, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.reason = reason
    this.headers = headers
  }
}

export function success(data: unknown, version: string): Reply {
  return { status: 200, headers: {}, body: { Data: data, Version: version, Success: true, Code: 200, Message: '' } }
}

export function failure(code: number, message: string, version: string, status = 200): Reply {
  return { status, headers: {}, body: { Data: null, Version: version, Success: false, Code: code, Message: message } }
}

/** The answer to a refusal by the profile. */
export function refused(refusal: Refusal, profile: StandInProfile): Reply {
  const wanted = profile.refusals[refusal.reason]
  const code = wanted?.code ?? refusalCodes[refusal.reason]
  const usual = refusal.reason === 'rate' && profile.rateLimit ? profile.rateLimit.via : profile.refusalsVia
  const overHttp = (wanted?.via ?? usual) === 'http'
  const reply = failure(code, wanted?.message ?? refusal.message, profile.version, overHttp ? code : 200)
  return { ...reply, headers: refusal.headers }
}
