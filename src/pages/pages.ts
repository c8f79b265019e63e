/** What the daemon answers over HTTP: whether it is alive and all is well, its metrics, and pages for people. */
import { Hono } from 'hono'
import type { Context } from 'hono'
import type { App } from '../app/app.ts'
import { StoreError } from '../core/errors.ts'
import { readinessOf } from '../daemon/status.ts'
import { createDoor } from '../http/door.ts'
import type { Entry } from '../http/door.ts'
import { serve } from '../http/serve.ts'
import type { Serving } from '../http/serve.ts'
import type { HttpSettings } from '../http/settings.ts'
import { createTurnstile } from '../http/turnstile.ts'
import { heartbeatFile, isFresh } from '../../bin/heartbeat.mjs'
import { createMeter } from './meter.ts'

/** Serves pages until closed. Throws `UserError` where it can't listen. */
export async function servePages(app: App, settings: HttpSettings): Promise<Serving> {
  const meter = createMeter()
  app.measure(meter)
  // The token may change while it runs; a reload can't take the section away.
  const serving = await serve(
    pagesOf(app, meter, () => app.config.http ?? settings),
    settings.listen,
  )
  app.runtime.log.info({ address: serving.address }, 'pages are served')
  return serving
}

function pagesOf(app: App, meter: ReturnType<typeof createMeter>, settings: () => HttpSettings): Hono<Entry> {
  const { clock, log } = app.runtime
  const door = createDoor(settings, clock)
  const turn = createTurnstile(clock)
  const pages = new Hono<Entry>()

  pages.use(async (context, next) => {
    await next()
    for (const [header, value] of Object.entries(headers))
      if (!context.res.headers.has(header)) context.res.headers.set(header, value)
  })
  pages.use(door.hosts)
  pages.onError((error, context) => {
    if (error instanceof StoreError) return context.text(`${app.doors.answer(error.message, String)}\n`, 503)
    log.error({ path: context.req.path, problem: String(error) }, 'a page failed')
    return context.text('this page failed; the log says why\n', 500)
  })
  pages.notFound((context) => context.text('there is no such page\n', 404))

  // A restart mends neither feeds nor the service: this asks for the process alone.
  pages.get('/livez', (context) =>
    isFresh(heartbeatFile(app.config.file), clock.now())
      ? context.text('alive\n')
      : context.text('the daemon has given no sign of life for a minute\n', 503),
  )

  const inTurn = async (context: Context, work: () => Promise<Response>): Promise<Response> =>
    (await turn(work)) ?? context.text('too many ask at once; come again\n', 503, { 'Retry-After': '2' })

  pages.get('/readyz', async (context) => {
    // Whoever may not read pages is told no feed's name.
    const isTrusted = await door.isTrusted(context)
    return inTurn(context, async () => {
      const reasons = await readinessOf(app, app.store(), app.config.feeds)
      const ready = reasons.length === 0
      const told = isTrusted ? { ready, reasons } : { ready }
      return context.body(app.doors.answer(told, JSON.stringify), ready ? 200 : 503, {
        'Content-Type': 'application/json',
      })
    })
  })
  pages.get('/metrics', door.guard, (context) =>
    inTurn(context, async () =>
      context.body((await app.metrics()) + (await meter.text()), 200, {
        'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
      }),
    ),
  )
  return pages
}

const headers = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // The origin of a form has to be told, to us alone.
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}
