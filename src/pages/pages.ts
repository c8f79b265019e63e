/** What the daemon answers over HTTP: whether it is alive and all is well, its metrics, and pages for people. */
import { Hono } from 'hono'
import type { Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { App } from '../app/app.ts'
import { storedReport } from '../app/stored-report.ts'
import type { FeedConfig } from '../config/config.ts'
import { StoreError } from '../core/errors.ts'
import { escapeUnseen, printable } from '../core/text.ts'
import { readinessOf } from '../daemon/status.ts'
import { createDoor } from '../http/door.ts'
import type { Door, Entry } from '../http/door.ts'
import { serve } from '../http/serve.ts'
import type { Serving } from '../http/serve.ts'
import type { HttpSettings } from '../http/settings.ts'
import { createTurnstile } from '../http/turnstile.ts'
import { heartbeatFile, isFresh } from '../../bin/heartbeat.mjs'
import { policyOf } from '../report/html.ts'
import { feedPage, feedsPage, runsShown, stateOf } from './feeds.ts'
import { feedPath, page, pagePolicy } from './frame.ts'
import type { Piece } from './frame.ts'
import { decisions, heldOf, heldPage } from './held.ts'
import type { Wish } from './held.ts'
import { listingOf, listingPage } from './listing.ts'
import { loginPage, pathOf } from './login.ts'
import { createMeter } from './meter.ts'
import { rejectedOf, rejectedPage } from './rejected.ts'

/** Serves pages until closed. Throws `UserError` if it can't listen. */
export async function servePages(app: App, settings: HttpSettings): Promise<Serving> {
  const meter = createMeter()
  app.measure(meter)
  // Read each time, as the token may change. A reload can't remove the section.
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

  // Only about the process, as a restart mends neither feeds nor the service.
  pages.get('/livez', (context) =>
    isFresh(heartbeatFile(app.config.file), clock.now())
      ? context.text('alive\n')
      : context.text('the daemon has given no sign of life for a minute\n', 503),
  )

  const takingTurns =
    (line: 'urgent' | 'other'): Ways['inTurn'] =>
    async (context, task) =>
      (await turn(task, line)) ?? context.text('too many ask at once; come again\n', 503, { 'Retry-After': '2' })
  const [inTurn, inFront] = [takingTurns('other'), takingTurns('urgent')]

  pages.get('/readyz', async (context) => {
    // No feed's name is told to those who may not read pages.
    const isTrusted = await door.isTrusted(context)
    return inFront(context, async () => {
      // Opening a store in a file may throw, too.
      const looked = async () => readinessOf(app, app.store(), app.config.feeds)
      const reasons = await looked().catch((error: unknown) => {
        if (!(error instanceof StoreError)) throw error
        return [{ feed: null, what: 'store', text: error.message }]
      })
      const ready = reasons.length === 0
      const answer = isTrusted ? { ready, reasons } : { ready }
      return context.body(
        app.doors.answer(answer, (clean) => escapeUnseen(JSON.stringify(clean))),
        ready ? 200 : 503,
        {
          'Content-Type': 'application/json',
        },
      )
    })
  })
  pages.get('/metrics', door.guard, (context) =>
    inFront(context, async () =>
      context.body((await app.metrics()) + (await meter.text(app.config.feeds)), 200, {
        'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
      }),
    ),
  )
  addForms(app, pages, door, settings, { inTurn, shown })
  addPages(app, pages, door, { inTurn, shown })
  return pages

  /** A page of plain data. */
  function shown<T>(
    context: Context<Entry>,
    title: string,
    data: T,
    form: (data: T) => Piece,
    status: 200 | 401 | 409 = 200,
  ) {
    const visitor = context.get('visitor')
    const frame = { title, name: visitor?.hasSession ? visitor.name : null, sought: context.req.query('q') }
    const text = app.doors.answer(data, (clean) => page(frame, form(clean)))
    return context.html(text, status, { 'Content-Security-Policy': pagePolicy })
  }
}

/** How pages are answered. */
interface Ways {
  inTurn: (context: Context, task: () => Promise<Response>) => Promise<Response>
  shown: <T>(
    context: Context<Entry>,
    title: string,
    data: T,
    form: (data: T) => Piece,
    status?: 200 | 401 | 409,
  ) => Response
}

/** Adds the pages for reading. */
function addPages(app: App, pages: Hono<Entry>, door: Door, { inTurn, shown }: Ways): void {
  /** A page about a feed of the configuration. */
  const ofFeed = (path: string, show: (context: Context<Entry>, feed: FeedConfig) => Promise<Response>) =>
    pages.get(`/feeds/:feed${path}`, door.guard, (context) =>
      inTurn(context, async () => {
        const feed = app.config.feeds.find(({ name }) => name === context.req.param('feed'))
        return feed === undefined ? context.notFound() : show(context, feed)
      }),
    )
  pages.get('/', door.guard, (context) =>
    inTurn(context, async () => {
      const states = []
      for (const feed of app.config.feeds) states.push(await stateOf(app, feed))
      return shown(context, 'Feeds', states, feedsPage)
    }),
  )
  ofFeed('', async (context, feed) => shown(context, feed.name, await stateOf(app, feed, runsShown), feedPage))
  ofFeed('/held', async (context, feed) => {
    const approves = app.config.http?.approve === true
    const notice = notices[context.req.query('done') ?? ''] ?? null
    return shown(context, `${feed.name}: held`, await heldOf(app, feed), (held) =>
      heldPage(held, feed, { notice, approves }),
    )
  })
  ofFeed('/rejected', async (context, feed) =>
    shown(context, `${feed.name}: rejected`, await rejectedOf(app, feed), rejectedPage),
  )
  ofFeed('/runs/:run{[1-9][0-9]{0,11}}', async (context, feed) => {
    const number = Number(context.req.param('run'))
    const run = await app.store().runs.numbered(number)
    if (run === null || run.feed !== feed.name) return context.notFound()
    const report = await storedReport(app.store(), number)
    if (report === null)
      return context.text(`of run ${number} no report is kept: the store has those of the last 30 runs\n`, 404)
    const form = await app.reportForm('html', { colour: false })
    const policy = `${policyOf([])}; frame-ancestors 'none'`
    return context.html(await app.doors.answerReport(form, report), 200, { 'Content-Security-Policy': policy })
  })
  pages.get('/listings', door.guard, (context) =>
    inTurn(context, async () => {
      const sought = (context.req.query('q') ?? '').trim().slice(0, 200)
      return shown(context, 'Home', await listingOf(app, sought), listingPage)
    }),
  )
}

/** What became of a decision, by the word in the address. */
const notices: Readonly<Record<string, string>> = {
  approved: 'Approved. The next run carries it out if the feed still says so.',
  refused: 'Refused. It stays held until the feed says otherwise.',
  revoked: 'Taken back.',
}

/** Adds the forms: log-in, log-out, and decisions about what is held. */
function addForms(
  app: App,
  pages: Hono<Entry>,
  door: Door,
  settings: () => HttpSettings,
  { inTurn, shown }: Ways,
): void {
  const small = bodyLimit({ maxSize: 16_384, onError: (context) => context.text('this form is too large\n', 413) })
  const field = async (context: Context, name: string): Promise<string> => {
    const value = (await context.req.parseBody())[name]
    return typeof value === 'string' ? value : ''
  }
  pages.get('/login', (context) => {
    const to = pathOf(context.req.query('to'))
    return settings().token === undefined ? context.redirect(to, 303) : shown(context, 'Log in', to, askFor(null))
  })
  pages.post('/login', door.sameOrigin, small, async (context) => {
    const to = pathOf(await field(context, 'to'))
    const name = printable(await field(context, 'name')).slice(0, 60)
    if (name === '')
      return shown(context, 'Log in', to, askFor('Say who you are: it is recorded with what you approve.'), 401)
    const answer = await door.logIn(context, { token: await field(context, 'token'), name })
    if (answer === 'wrong') return shown(context, 'Log in', to, askFor('This is not the token.'), 401)
    return answer ?? context.redirect(to, 303)
  })
  pages.post('/logout', door.sameOrigin, (context) => {
    door.logOut(context)
    return context.redirect('/login', 303)
  })
  pages.post('/feeds/:feed/held', door.sameOrigin, door.guard, small, async (context) => {
    const feed = app.config.feeds.find(({ name }) => name === context.req.param('feed'))
    if (feed === undefined) return context.notFound()
    const { name } = context.get('visitor')
    if (!settings().approve || name === null)
      return context.text('nothing is approved here: http.approve of the configuration is not true\n', 403)
    const [action, mark] = [await field(context, 'action'), await field(context, 'shown')]
    if (!isWish(action) || mark === '')
      return context.text(
        'takes action=approve, action=refuse or action=revoke, and shown, the mark of the list that was shown\n',
        400,
      )
    return inTurn(context, async () => {
      const { clock, log } = app.runtime
      const decision = decisions[action]
      const decided = await app.store().holds.decide(feed.name, decision, `${name} (page)`, clock.now(), mark)
      if (decided === null)
        return shown(
          context,
          `${feed.name}: held`,
          await heldOf(app, feed),
          (held) => heldPage(held, feed, { notice: changedMeanwhile, approves: true }),
          409,
        )
      log.info({ feed: feed.name, by: name, decision: decision ?? 'revoked', changes: decided }, 'decided on the page')
      return context.redirect(`${feedPath(feed.name, 'held')}?done=${decision ?? 'revoked'}`, 303)
    })
  })
}

const isWish = (action: string): action is Wish => Object.hasOwn(decisions, action)

const askFor =
  (notice: string | null) =>
  (to: string): Piece =>
    loginPage(to, notice)

const changedMeanwhile =
  'Nothing was decided: a run ended or somebody else decided since this list was shown. This is what is held now.'

const headers = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // A form must tell its origin, but to this site only.
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}
