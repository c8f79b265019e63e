/** Who may ask for pages: the token, log-in, names of the host, origins of forms, wrong tokens. Over real HTTP. */
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { homes, zillowFeed } from '../support/homes.ts'
import { until } from '../support/until.ts'
import { Served, token } from './served.ts'

let served: Served
afterEach(async () => {
  await served.end()
})

const closed = [
  '/',
  '/feeds/north',
  '/feeds/north/held',
  '/feeds/north/rejected',
  '/feeds/north/runs/1',
  '/listings',
  '/metrics',
]

/** The cookie of a log-in. */
async function logIn(name = 'Anna'): Promise<string> {
  const answer = await served.ask('/login', {
    form: { name, token, to: '/feeds/north/held' },
    headers: { Origin: served.address },
  })
  expect(answer).toMatchObject({ status: 303, headers: { location: '/feeds/north/held' } })
  const [cookie] = answer.headers['set-cookie']!
  expect(cookie).toMatch(/^listing-sync=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/)
  return cookie.split(';')[0]
}

test('without a token on this machine all may be read', async () => {
  served = await Served.start()
  await until(() => served.runs() === 1)
  for (const path of closed) expect([path, (await served.ask(path)).status]).toEqual([path, 200])
  expect((await served.ask('/login')).headers['location']).toBe('/')
})

test('with one, nothing is told without it but whether it lives', async () => {
  served = await Served.start({ token })
  await until(() => served.runs() === 1)
  for (const path of closed) {
    const refused = await served.ask(path)
    expect([path, refused.status, refused.text]).toEqual([path, 401, 'the token is missing or wrong\n'])
    expect(refused.headers['www-authenticate']).toMatch(/^Bearer/)
    const browser = await served.ask(path, { headers: { Accept: 'text/html,*/*' } })
    expect([browser.status, browser.headers.location]).toEqual([303, `/login?to=${encodeURIComponent(path)}`])
    expect([path, (await served.askAs(path)).status]).toEqual([path, 200])
  }
  expect((await served.ask('/livez')).status).toBe(200)
})

test('a log-in opens a session for twelve hours, until log-out or another token', async () => {
  served = await Served.start({ token })
  const form = await served.ask('/login?to=/feeds/north')
  expect(form.text).toContain('name="to" value="/feeds/north"')
  // To no other site.
  for (const to of ['//evil.example', '/\\evil.example', 'https://evil.example', '/a b'])
    expect((await served.ask(`/login?to=${encodeURIComponent(to)}`)).text).toContain('name="to" value="/"')
  const headers = { Cookie: await logIn('<Anna>') }
  const page = await served.ask('/', { headers })
  expect(page.status).toBe(200)
  expect(page.text).toContain('Log out &lt;Anna&gt;')
  expect((await served.ask('/', { headers: { Cookie: 'listing-sync=' + 'A'.repeat(43) } })).status).toBe(401)

  const other = { Cookie: await logIn('Bert') }
  const origin = { Origin: served.address }
  expect((await served.ask('/logout', { method: 'POST', headers: { ...headers, ...origin } })).status).toBe(303)
  expect((await served.ask('/', { headers })).status).toBe(401)
  expect((await served.ask('/', { headers: other })).status).toBe(200)
  served.clock.jump(12 * 3_600_000 + 1)
  expect((await served.ask('/', { headers: other })).status).toBe(401)
})

test('a log-in needs the token and a name', async () => {
  served = await Served.start({ token })
  const headers = { Origin: served.address }
  const wrong = await served.ask('/login', { form: { name: 'Anna', token: 'wrong', to: '/' }, headers })
  expect([wrong.status, wrong.headers['set-cookie']]).toEqual([401, undefined])
  expect(wrong.text).toContain('This is not the token.')
  const nameless = await served.ask('/login', { form: { name: ' ', token, to: '/' }, headers })
  expect([nameless.status, nameless.headers['set-cookie']]).toEqual([401, undefined])
  expect((await served.ask('/login', { form: { name: 'x'.repeat(20_000), token }, headers })).status).toBe(413)
})

test('a wrong token waits a second, and after ten nothing is looked at for a minute; a session goes on', async () => {
  served = await Served.start({ token })
  const cookie = await logIn()
  const attempt = (given: string) => served.ask('/', { headers: { Authorization: `Bearer ${given}` } })
  const before = served.clock.now()
  for (let times = 0; times < 10; times++) expect((await attempt(`wrong ${times}`.replace(' ', '-'))).status).toBe(401)
  // Each waits on the clock that the daemon was given, which moves with a wait.
  expect(served.clock.now() - before).toBeGreaterThanOrEqual(10_000)
  expect(await attempt('wrong-11')).toMatchObject({ status: 429, headers: { 'retry-after': '60' } })
  // Not even the right one: whoever guesses can't tell.
  expect((await attempt(token)).status).toBe(429)
  expect((await served.ask('/', { headers: { Cookie: cookie } })).status).toBe(200)
  served.clock.jump(60_001)
  expect((await attempt(token)).status).toBe(200)
})

test('only our own names: a name of an attacker that points here gets nothing', async () => {
  served = await Served.start({ hosts: ['Sync.example.com'] })
  const port = served.host.split(':')[1]
  const status = async (Host: string) => (await served.ask('/livez', { headers: { Host } })).status
  for (const host of ['localhost', '127.0.0.1', '[::1]', '10.1.2.3', 'sync.example.com', 'SYNC.example.com'])
    expect([host, await status(host), await status(`${host}:${port}`)]).toEqual([host, 200, 200])
  for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', '127.0.0.1.evil.example', 'x'])
    expect([host, await status(host)]).toEqual([host, 421])
  // Without a name at all.
  const raw = connect(Number(port), '127.0.0.1', () => raw.write('GET /livez HTTP/1.0\r\n\r\n'))
  let answer = ''
  for await (const piece of raw) answer += String(piece)
  expect(answer).toMatch(/^HTTP\/1\.1 4/)
})

const held = {
  deliver: (world: Served['world']) => world.deliver(zillowFeed(homes(1, 6))),
}

test('a form counts only from our own origin, with the token, and where approve is true', async () => {
  served = await Served.start({ token, approve: true }, held)
  await until(() => served.runs() === 1)
  served.world.deliver(zillowFeed(homes(1, 2)))
  await served.runAgain()
  const path = '/feeds/north/held'
  const shown = /name="shown" value="(\w{64})"/.exec((await served.askAs(path)).text)![1]
  const form = { action: 'approve', shown }
  const Cookie = await logIn()
  const tried = async (headers: Record<string, string>) => (await served.ask(path, { form, headers })).status
  expect(await tried({ Cookie })).toBe(403)
  for (const Origin of ['http://evil.example', 'null', 'http://localhost:1', `${served.address}.evil.example`])
    expect([Origin, await tried({ Cookie, Origin })]).toEqual([Origin, 403])
  expect(await tried({ Origin: served.address })).toBe(401)
  expect(await tried({ Authorization: `Bearer ${token}`, Origin: 'http://evil.example' })).toBe(403)
  expect(await tried({ Authorization: 'Bearer wrong' })).toBe(401)
  expect((await served.askAs('/readyz')).text).toContain('4 changes held')
  expect(await tried({ Cookie, Origin: served.address })).toBe(303)
})

test('every answer forbids browsers what no page needs', async () => {
  served = await Served.start()
  for (const path of ['/', '/livez', '/none-such', '/feeds/none-such', '/feeds/north/runs/7']) {
    const { headers } = await served.ask(path)
    expect(headers['content-security-policy'], path).toMatch(/^default-src 'none';.*frame-ancestors 'none'/)
    expect(headers, path).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    })
  }
  expect((await served.ask('/none-such')).status).toBe(404)
  expect((await served.ask('/feeds/none-such')).status).toBe(404)
})
