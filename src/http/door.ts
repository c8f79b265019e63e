/**
 * Decides who may ask. Other sites must not lead a browser here. Against that, `Host` is checked (an attacker's name may point here),
 * `Origin` is checked (a form of another site), and the cookie is not sent with other sites' requests.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { getConnInfo } from '@hono/node-server/conninfo'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { Clock } from '../core/machine.ts'
import type { HttpSettings } from './settings.ts'

/** Who sent a request; `name` null: nobody has to say who they are. */
export interface Visitor {
  name: string | null
  /** Logged in by the form. */
  hasSession: boolean
}

export type Entry = { Variables: { visitor: Visitor } }

const cookieName = 'listing-sync'
/** Milliseconds that a log-in lasts. */
const sessionLasts = 12 * 3_600_000
const mostSessions = 1000

/** Milliseconds that the answer to a wrong token is delayed. */
const slowness = 1000
/** After so many wrong tokens from one address within `window` milliseconds, no more are checked until that is over. */
const mostWrong = 10
const window = 60_000
const mostAddresses = 10_000

interface Session {
  name: string
  until: number
  /** Of the token that opened the session: another token ends it. */
  token: string
}

export type Door = ReturnType<typeof createDoor>

/** `settings`: gives them as they are now, since the token may change. */
export function createDoor(settings: () => HttpSettings, clock: Clock) {
  const sessions = new Map<string, Session>()
  const wrong = new Map<string, { times: number; until: number }>()

  /** Whether it is the token, in a time that tells nothing about it; 'slow down': it was not checked. */
  async function isToken(given: string, context: Context): Promise<boolean | 'slow down'> {
    const { token } = settings()
    const from = getConnInfo(context).remote.address ?? ''
    const before = wrong.get(from)
    const now = clock.now()
    const counts = before !== undefined && now < before.until && before.until - now <= window
    if (counts && before.times >= mostWrong) return 'slow down'
    if (token !== undefined && timingSafeEqual(digest(given), digest(token))) return true
    if (wrong.size >= mostAddresses) wrong.clear()
    wrong.set(from, counts ? { ...before, times: before.times + 1 } : { times: 1, until: now + window })
    await clock.sleep(slowness)
    return false
  }

  function sessionOf(context: Context): Session | null {
    const { token } = settings()
    const id = getCookie(context, cookieName)
    const session = id === undefined ? undefined : sessions.get(hashOf(id))
    if (session === undefined || token === undefined) return null
    return clock.now() < session.until && session.token === hashOf(token) ? session : null
  }

  const denied = (context: Context): Response =>
    context.text('the token is missing or wrong\n', 401, { 'WWW-Authenticate': 'Bearer realm="listing-sync"' })
  const tooMany = (context: Context): Response =>
    context.text('too many wrong tokens; try again in a minute\n', 429, { 'Retry-After': String(window / 1000) })

  /** Who asks; a response: they may not; null: a token is needed, and they brought none. */
  async function visitorOf(context: Context): Promise<Visitor | Response | null> {
    const [, given] = /^Bearer +(\S+)$/i.exec(context.req.header('Authorization') ?? '') ?? []
    if (given !== undefined && settings().token !== undefined) {
      const answer = await isToken(given, context)
      if (answer === 'slow down') return tooMany(context)
      return answer ? { name: 'the holder of the token', hasSession: false } : denied(context)
    }
    const session = sessionOf(context)
    if (session !== null) return { name: session.name, hasSession: true }
    return settings().token === undefined ? { name: null, hasSession: false } : null
  }

  return {
    /** Answers only to this program's own host names: another one may be an attacker's that points here. */
    hosts: (async (context, next) => {
      const name = (context.req.header('Host') ?? '').replace(/:\d+$/, '').toLowerCase()
      const isAddress = /^(?:\d+\.){3}\d+$|^\[[0-9a-f:.]+\]$/.test(name)
      const names = ['localhost', ...settings().hosts.map((host) => host.toLowerCase())]
      if (!isAddress && !names.includes(name))
        return context.text('no pages under this name; add it to http.hosts in the configuration\n', 421)
      return next()
    }) satisfies MiddlewareHandler<Entry>,

    /** Lets in whoever has the token, or everybody if there is none. */
    guard: (async (context, next) => {
      const visitor = await visitorOf(context)
      if (visitor instanceof Response) return visitor
      if (visitor !== null) {
        context.set('visitor', visitor)
        return next()
      }
      const wantsPage = context.req.method === 'GET' && /\btext\/html\b/.test(context.req.header('Accept') ?? '')
      if (!wantsPage) return denied(context)
      const { pathname, search } = new URL(context.req.url)
      return context.redirect(`/login?to=${encodeURIComponent(pathname + search)}`, 303)
    }) satisfies MiddlewareHandler<Entry>,

    /** Refuses forms of other sites, which are no decision of the logged-in visitor. Programs with the token send no origin. */
    sameOrigin: (async (context, next) => {
      const origin = context.req.header('Origin')
      const host = context.req.header('Host') ?? ''
      const isOurs = origin === `http://${host}` || origin === `https://${host}`
      const isProgram = origin === undefined && context.req.header('Authorization') !== undefined
      if (!isOurs && !isProgram) return context.text('this form is of another site\n', 403)
      return next()
    }) satisfies MiddlewareHandler<Entry>,

    /** Whether the visitor may be told more than whether all is well. */
    isTrusted: async (context: Context): Promise<boolean> => {
      const visitor = await visitorOf(context)
      return visitor !== null && !(visitor instanceof Response)
    },

    /** Opens a session for whoever brings the token. A response: the token is wrong; null: the session is open. */
    async logIn(
      context: Context,
      { token, name }: { token: string; name: string },
    ): Promise<'wrong' | Response | null> {
      const answer = await isToken(token, context)
      if (answer === 'slow down') return tooMany(context)
      if (!answer) return 'wrong'
      const id = randomBytes(32).toString('base64url')
      const now = clock.now()
      for (const [id, { until }] of sessions) if (until <= now || sessions.size >= mostSessions) sessions.delete(id)
      sessions.set(hashOf(id), { name, until: now + sessionLasts, token: hashOf(token) })
      setCookie(context, cookieName, id, {
        httpOnly: true,
        sameSite: 'Strict',
        path: '/',
        maxAge: sessionLasts / 1000,
      })
      return null
    },

    logOut(context: Context): void {
      const id = getCookie(context, cookieName)
      if (id !== undefined) sessions.delete(hashOf(id))
      setCookie(context, cookieName, '', { httpOnly: true, sameSite: 'Strict', path: '/', maxAge: 0 })
    },
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
const hashOf = (text: string): string => digest(text).toString('hex')
