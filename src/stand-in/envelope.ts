import type { RefusalReason, StandInProfile } from './profile.ts'
import type { Stream } from './stream.ts'

/** The body of every answer (interface, "Errors"). */
export interface Envelope {
  Data: unknown
  Version: string
  Success: boolean
  Code: number
  Message: string
}

/** An answer before it goes over the wire. */
export interface Reply {
  status: number
  headers: Record<string, string>
  body: Envelope
  /** What comes instead of the body where a stream was asked for. */
  stream?: Stream
}

/** Thrown by an operation that says no; becomes an envelope with Success false. */
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

/** The codes are invented: the interface shows none but 200 (U14). */
const codes: Record<RefusalReason, number> = {
  credentials: 401,
  contentType: 415,
  json: 400,
  invalid: 400,
  tooLong: 400,
  chatbot: 404,
  session: 404,
  file: 400,
  messages: 429,
  duplicate: 409,
  notFound: 404,
  tooManyKeys: 400,
  pageSize: 400,
  page: 404,
  rate: 429,
}

export function success(data: unknown, version: string): Reply {
  return { status: 200, headers: {}, body: { Data: data, Version: version, Success: true, Code: 200, Message: '' } }
}

export function failure(code: number, message: string, version: string, status = 200): Reply {
  return { status, headers: {}, body: { Data: null, Version: version, Success: false, Code: code, Message: message } }
}

/** The refusal as the profile wants it spelled (U14, U15). */
export function refused(refusal: Refusal, profile: StandInProfile): Reply {
  const wanted = profile.refusals[refusal.reason]
  const code = wanted?.code ?? codes[refusal.reason]
  const usual = refusal.reason === 'rate' && profile.rateLimit ? profile.rateLimit.via : profile.refusalsVia
  const overHttp = (wanted?.via ?? usual) === 'http'
  const reply = failure(code, wanted?.message ?? refusal.message, profile.version, overHttp ? code : 200)
  return { ...reply, headers: refusal.headers }
}
