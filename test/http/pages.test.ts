/** The pages for people, over real HTTP, of what real runs leave in the store. */
import { createHash } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Home } from '../../src/core/home.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { home, homes, zillowFeed } from '../support/homes.ts'
import { until } from '../support/until.ts'
import { Served, token } from './served.ts'

let served: Served
afterEach(async () => {
  await served.end()
})

const six = { deliver: (world: Served['world']) => world.deliver(zillowFeed(homes(1, 6))) }
/** A page as its reader sees it. */
const seen = (text: string): string =>
  text
    .replace(/^[^]*<body>/, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
const read = async (path: string): Promise<string> => seen((await served.askAs(path)).text)
const all = { token, approve: true }

test('/ tells the state in words, homes on three sides, the last and the next run', async () => {
  served = await Served.start(all, six)
  await until(() => served.runs() === 1)
  const first = await read('/')
  expect(first).toContain('Up to date.')
  expect(first).toContain('6 in the feed, 6 in the store, 0 on the service at the last run')
  expect(first).toMatch(/Last good run Nov 21, 2026, 12:1\d PM Next run Nov 21, 2026, 1:00 PM \(UTC\)/)
  expect(first).toContain('Held nothing Rejected nothing')

  served.world.deliver(zillowFeed(homes(1, 2)))
  await served.runAgain()
  const { text } = await served.askAs('/')
  expect(seen(text)).toContain('4 listings are held for you to look at.')
  expect(seen(text)).toContain('2 in the feed, 6 in the store, 6 on the service at the last run')
  expect(text).toContain('<a href="/feeds/north/held">')
  expect(seen(text)).toContain('Held 4 changes (4 by leaving)')
  expect(
    [...text.matchAll(/<li class="(\w+)">\s*<a href="\/feeds\/north\/runs\/(\d+)"/g)].map(([, ...of]) => of),
  ).toEqual([
    ['ok', '1'],
    ['held', '2'],
  ])

  served.world.deliver(zillowFeed(homes(1, 1)))
  await served.runAgain()
  const twice = await read('/')
  expect(twice).toContain('5 listings are held for you to look at.')
  expect(twice).toMatch(/Held 5 changes \(5 by \w+, 5 by \w+\)/)

  served.world.standIn.addFault({ operations: ['List'], fault: { kind: 'credentials' } })
  await served.runAgain()
  expect(await read('/')).toMatch(/The last run failed: \S+/)
  expect(await read('/')).toContain('6 in the store, not known on the service at the last run')
})

test('a run that read nothing tells no numbers, and one whose delivery is not whole says so', async () => {
  served = await Served.start(all, six)
  await until(() => served.runs() === 1)
  rmSync(join(served.world.folder, 'north.xml'))
  await served.runAgain()
  expect(await read('/')).toContain('not known in the feed, 6 in the store, not known on the service at the last run')
  served.world.deliver(zillowFeed(homes(1, 6)).slice(0, -100))
  await served.runAgain()
  expect(await read('/')).toMatch(
    /The last delivery was not complete: .+ Homes \d in the feed, 6 in the store, 6 on the/,
  )
})

test('a run that the store takes no record of is told', async () => {
  served = await Served.start(all, six)
  await until(() => served.runs() === 1)
  const [store, moved] = ['store.db', 'moved.db'].map((name) => join(served.world.folder, name))
  renameSync(store, moved)
  await served.runAgain()
  renameSync(moved, store)
  expect(await read('/')).toMatch(/The run of Nov 21, 2026, .+ failed and could not be recorded: .+ the file was moved/)
  await served.runAgain()
  expect(await read('/')).toContain('Up to date.')
})

test('a feed that never ran, and one that is out of date, say so', async () => {
  served = await Served.start(
    {},
    { feeds: { north: { schedule: '0 * * * *' }, south: { schedule: '0 0 1 1 *' } }, ...six },
  )
  await until(() => served.runs() === 2)
  expect(await read('/')).toContain('The last run failed')
  // A run's report is on the page of its own feed.
  const pagesOfRun = ['north', 'south'].map((feed) => served.ask(`/feeds/${feed}/runs/1`))
  expect((await Promise.all(pagesOfRun)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404])
  served.clock.jump(5 * 3_600_000)
  expect(await read('/feeds/north')).toContain('It is out of date: no run has been good since')
})

test("/feeds/N has its runs, each with its report under that report's own policy", async () => {
  served = await Served.start(all, six)
  await until(() => served.runs() === 1)
  await served.runAgain()
  const { text } = await served.askAs('/feeds/north')
  expect([...text.matchAll(/<td><a href="(\/feeds\/north\/runs\/\d+)"/g)].map(([, path]) => path)).toEqual([
    '/feeds/north/runs/2',
    '/feeds/north/runs/1',
  ])
  expect(seen(text)).toMatch(/sync: ok in \d+ s 6 created/)
  const report = await served.askAs('/feeds/north/runs/1')
  expect(report.status).toBe(200)
  expect(report.text).toContain('<title>listing-sync report</title>')
  expect(seen(report.text)).toContain('Create (6)')
  expect(report.headers['content-security-policy']).toMatch(/script-src 'sha256-[^']+'.*frame-ancestors 'none'$/)
  expect((await served.askAs('/feeds/north/runs/3')).status).toBe(404)
  expect((await served.askAs('/feeds/north/runs/1e3')).status).toBe(404)
})

describe('/feeds/N/held', () => {
  const path = '/feeds/north/held'
  const mark = async (): Promise<string> => /name="shown" value="(\w{64})"/.exec((await served.askAs(path)).text)![1]
  const decide = (action: string, shown: string) => served.askAs(path, { form: { action, shown } })

  async function holding(http: object): Promise<void> {
    served = await Served.start(http, six)
    await until(() => served.runs() === 1)
    served.world.deliver(zillowFeed(homes(1, 2)))
    await served.runAgain()
  }

  test('has a listing of which several facts are held once', async () => {
    served = await Served.start(all, six)
    await until(() => served.runs() === 1)
    const larger = homes(1, 2).map((home) => ({ ...home, price: home.price * 100, bedrooms: home.bedrooms + 3 }))
    served.world.deliver(zillowFeed([...larger, ...homes(3, 6)]))
    await served.runAgain()
    expect(await read('/')).toContain('Held 2 changes (2 by facts)')
    const page = await read(path)
    expect(page).toContain('2 changes of north are held.')
    expect(page).toContain('2 changes held by facts since')
    expect(page.match(/update price, size/g)).toHaveLength(2)
    expect(page).not.toContain('are shown. A decision is for all')
  })

  test('shows homes by rule; an approval lets exactly them go, and is recorded with who and when', async () => {
    await holding(all)
    const before = await read(path)
    expect(before).toContain('4 changes of north are held.')
    expect(before).toMatch(
      /4 changes held by leaving since Sat 21 Nov \d\d:\d\d; .+ 4 of 6 listings would leave the site; up to .+ \(limits\.share\)\. MLS number/,
    )
    for (const number of [3, 4, 5, 6]) expect(before).toContain(home(number).mlsNumber ?? '')
    const login = await served.ask('/login', {
      form: { name: 'Anna Broker', token, to: '/' },
      headers: { Origin: served.address },
    })
    const headers = { Cookie: login.headers['set-cookie']![0].split(';')[0], Origin: served.address }
    const approved = await served.ask(path, { form: { action: 'approve', shown: await mark() }, headers })
    expect(approved).toMatchObject({ status: 303, headers: { location: `${path}?done=approved` } })
    const after = await read(`${path}?done=approved`)
    expect(after).toContain('Approved. The next run carries it out')
    expect(after).toMatch(/approved by Anna Broker \(page\), Nov 21, 2026/)
    expect(await read('/')).toContain('What was held and approved is carried out by the next run.')
    expect(served.logged).toContainEqual(
      expect.objectContaining({ msg: 'decided on the page', by: 'Anna Broker', decision: 'approved', changes: 4 }),
    )
    expect(served.world.listings()).toHaveLength(6)
    await served.runAgain()
    expect(served.world.listings()).toHaveLength(2)
    expect(await read(path)).toContain('Nothing of north is held.')
  })

  test('an approval of what has changed since is refused with the new list, and nothing is decided', async () => {
    await holding(all)
    const shown = await mark()
    served.world.deliver(zillowFeed(homes(1, 1)))
    await served.runAgain()
    const late = await decide('approve', shown)
    expect(late.status).toBe(409)
    expect(seen(late.text)).toContain('Nothing was decided: a run ended or somebody else decided')
    expect(seen(late.text)).toContain('5 changes of north are held.')
    expect(late.text).toContain(`name="shown" value="${await mark()}"`)
    await served.runAgain()
    expect(served.world.listings()).toHaveLength(6)

    // Somebody else decides: another mark.
    const now = await mark()
    expect((await decide('approve', now)).status).toBe(303)
    expect((await decide('revoke', now)).status).toBe(409)
    expect((await decide('revoke', await mark())).headers.location).toBe(`${path}?done=revoked`)
    await served.runAgain()
    expect(served.world.listings()).toHaveLength(6)
  })

  test('what is refused stays held without a time, until that is revoked', async () => {
    await holding(all)
    expect((await decide('refuse', await mark())).headers.location).toBe(`${path}?done=refused`)
    const after = await read(`${path}?done=refused`)
    expect(after).toContain('Refused. It stays held until the feed says otherwise.')
    expect(after).toMatch(/refused by the holder of the token \(page\)/)
    expect(after).not.toContain('Refuse: keep')
    expect(after).toContain('Approve: let all of these through')
    served.clock.jump(4 * 86_400_000)
    await served.runAgain()
    expect(served.world.listings()).toHaveLength(6)
    expect((await decide('revoke', await mark())).status).toBe(303)
    expect(await read(path)).toContain('Refuse: keep')
  })

  test('says of a run under way that it goes on by what was decided before', async () => {
    await holding(all)
    expect(await read(path)).not.toContain('This run')
    served.world.standIn.addFault({ operations: ['List'], fault: { kind: 'hang' } })
    const before = served.world.standIn.counts.List
    await served.clock.pass(Date.parse('2026-11-21T14:00:00Z') - served.clock.now())
    await until(() => served.world.standIn.counts.List > before)
    expect(await read(path)).toMatch(
      /This run goes on by what was decided before it: sync under way since Sat 21 Nov 14:\d\d \(run 3\)/,
    )
  })

  test('takes nothing but the three wishes, and of a list that was shown', async () => {
    await holding(all)
    for (const wish of ['delete', 'constructor']) expect((await decide(wish, await mark())).status).toBe(400)
    expect((await decide('approve', '')).status).toBe(400)
    expect((await served.askAs('/feeds/none/held', { form: { action: 'approve', shown: 'x' } })).status).toBe(404)
  })

  test('has no form where approve is not true, and takes none', async () => {
    await holding({ token })
    const { text } = await served.askAs(path)
    expect(text).not.toContain('action="/feeds')
    expect(text).toContain('listing-sync approve north')
    expect((await decide('approve', 'x'.repeat(64))).status).toBe(403)
  })
})

test('/feeds/N/rejected has the records by reason, with what they say and what to do', async () => {
  served = await Served.start(all, {
    deliver: (world) =>
      world.deliver(zillowFeed(homes(1, 4)).replace(/<Bedrooms>[^<]*<\/Bedrooms>/, '<Bedrooms>a few</Bedrooms>')),
  })
  await until(() => served.runs() === 1)
  const text = await read('/feeds/north/rejected')
  expect(text).toMatch(/1 record of north could not become a listing in the run that ended Nov 21, 2026/)
  expect(text).toContain('a few')
  expect(text).toContain('listing-sync inspect north')
  expect(await read('/')).toContain('Rejected 1 record')
})

describe('/listings', () => {
  const number = home(1).mlsNumber ?? ''

  test("has one home's way: created, changed, held, approved, deleted, with values and reasons", async () => {
    served = await Served.start(all, six)
    await until(() => served.runs() === 1)
    const path = `/listings?q=${encodeURIComponent(number)}`
    const created = await read(path)
    expect(created).toContain('Confirmed as Active')
    expect(created).toMatch(/north created .*new in the feed/)

    const cheaper = zillowFeed(homes(1, 6)).replace(/<Price>[\d.]+<\/Price>/, '<Price>320000</Price>')
    served.world.deliver(cheaper)
    await served.runAgain()
    expect(await read(path)).toMatch(/updated Sale price: \$[\d,]+ → \$320,000/)

    served.world.deliver(cheaper.replaceAll('<Price>', '<Price>1'))
    await served.runAgain()
    expect(await read(path)).toMatch(
      /Held: update price \$320,000 → \$1,320,000 \(\+312\.5%\); changed in the feed; held.* held \$320,000 → \$1,320,000 /,
    )

    served.world.deliver(zillowFeed(homes(5, 6)))
    await served.runAgain()
    expect(await read(path)).toMatch(/Held: delete .* held .* updated .* created/)
    const shown = /name="shown" value="(\w{64})"/.exec((await served.askAs('/feeds/north/held')).text)![1]
    await served.askAs('/feeds/north/held', { form: { action: 'approve', shown } })
    await served.runAgain()
    expect(served.world.listings()).toHaveLength(2)
    const gone = await read(path)
    expect(gone).toMatch(/deleted .* approved by the holder of the token \(page\) .* held .* updated .* created/)
    expect(gone).not.toContain('Confirmed as')
  })

  test('finds a home by its street, and says where it finds none', async () => {
    served = await Served.start({}, six)
    await until(() => served.runs() === 1)
    const [item] = served.world.listings()
    const street = String(item['Address'])
    const { text } = await served.ask(`/listings?q=${encodeURIComponent(street.toLowerCase())}`)
    expect(text).toContain(`<a href="/listings?q=${encodeURIComponent(String(item['MLSNumber']))}">`)
    expect(await read('/listings?q=none-such')).toContain('Nothing is known of “none-such”.')
    expect(await read('/listings')).toContain('Find a home')
  })

  test('tells a call that failed with what the service said', async () => {
    served = await Served.start(
      {},
      {
        deliver: (world) => {
          six.deliver(world)
          world.standIn.addFault({ operations: ['Create'], nth: 1, fault: { kind: 'refuse' } as never })
        },
      },
    )
    await until(() => served.runs() === 1)
    const store = await read(`/listings?q=${encodeURIComponent(number)}`)
    expect(store).toContain('could not be created')
  })
})

test('text of a feed is text on every page, however it is written', async () => {
  const evil = `<script>alert(1)</script>"'\`&amp;\u202e<img src=x onerror=alert(1)>`
  const escaped = evil.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  served = await Served.start(all, {
    deliver: (world) => {
      const feed = zillowFeed(homes(1, 6))
        .replaceAll(/<StreetAddress>[^<]*<\/StreetAddress>/g, `<StreetAddress>${escaped}</StreetAddress>`)
        .replace(/<Bedrooms>[^<]*<\/Bedrooms>/, `<Bedrooms>${escaped}</Bedrooms>`)
      world.deliver(feed)
    },
  })
  await until(() => served.runs() === 1)
  served.world.deliver(zillowFeed(homes(1, 2)))
  await served.runAgain()
  // What a mapping would clean, a store of another version may have.
  const store = openStore(join(served.world.folder, 'store.db'))
  const price = { from: 1, to: 2 }
  const odd: Home = { address: evil, city: evil, saleType: 'for_sale', currency: evil, areaUnit: null, price }
  const now = served.clock.now()
  const [field, mlsNumber] = ['Description', evil] as const
  const fields = [{ field, from: evil, to: `${evil}!` }]
  const done = { at: now, what: 'update', result: 'failed', why: evil, error: evil, home: odd, fields } as const
  await store.changes.note('north', [
    { ...done, mlsNumber },
    { ...done, mlsNumber: 'X' },
  ])
  const part = { part: 'delete', content: 'c', rules: [evil as 'leaving'], ends: 'never' } as const
  await store.holds.replace('north', [{ mlsNumber, why: evil, part, home: odd }], {
    now,
    isWhole: false,
    letGo: () => 0,
  })
  await store.close()
  const keys = served.world.listings().map((item) => String(item['MLSNumber']))
  const paths = [
    '/',
    '/feeds/north',
    '/feeds/north/held',
    '/feeds/north/rejected',
    '/feeds/north/runs/1',
    `/listings?q=${encodeURIComponent(keys[0])}`,
    `/listings?q=${encodeURIComponent(evil)}`,
    '/listings?q=alert',
    '/listings?q=X',
    `/login?to=${encodeURIComponent(`/"><script>alert(1)</script>`)}`,
  ]
  let met = 0
  for (const path of paths) {
    const { text } = await served.askAs(path)
    const ours = text.replace(/<script>[^]*?<\/script>\n<\/body>/, '</body>')
    expect(ours, path).not.toMatch(/<script|<img|\u202e/)
    if (/&(?:lt|#60);script/.test(ours)) met++
  }
  expect(met).toBeGreaterThanOrEqual(6)
  // For programs, who read it as JSON and nothing else.
  const ready = await served.askAs('/readyz')
  expect(ready.headers).toMatchObject({ 'content-type': 'application/json', 'x-content-type-options': 'nosniff' })
  expect(ready.text).not.toContain('\u202e')
  expect(ready.text).toContain('alert(1)')
})

test("a page's policy lets its own style through, to the letter, and no script", async () => {
  served = await Served.start({})
  for (const path of ['/', '/feeds/north', '/feeds/north/held', '/feeds/north/rejected', '/listings?q=x']) {
    const { text, headers } = await served.ask(path)
    const styles = [...text.matchAll(/<style>([^]*?)<\/style>/g)].map(([, style]) => style)
    const hashes = styles.map((style) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`)
    expect(hashes).toHaveLength(1)
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src ${hashes[0]}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    )
    expect(text).not.toMatch(/<script|style="|(?:src|href)="(?!\/)/)
  }
})

test('no page or figure has a secret', async () => {
  served = await Served.start(all, six)
  await until(() => served.runs() === 1)
  served.world.standIn.addFault({ operations: ['List'], fault: { kind: 'credentials' } })
  await served.runAgain()
  for (const path of [
    '/',
    '/feeds/north',
    '/feeds/north/runs/2',
    '/readyz',
    '/metrics',
    '/login',
    `/listings?q=${token}`,
  ]) {
    const { text } = await served.askAs(path)
    expect(text, path).not.toContain('test-secret-key')
    if (!path.startsWith('/listings')) expect(text, path).not.toContain(token)
  }
})

test('a token that is written anew is asked for from the next run on', async () => {
  const other = 'another-token-of-the-test-987654'
  let file = ''
  served = await Served.start(
    { token: '${file:./token}' },
    {
      deliver: (world) => {
        file = join(world.folder, 'token')
        writeFileSync(file, `${token}\n`)
      },
    },
  )
  await until(() => served.runs() === 1)
  expect((await served.askAs('/')).status).toBe(200)
  const login = await served.ask('/login', {
    form: { name: 'Anna', token, to: '/' },
    headers: { Origin: served.address },
  })
  const headers = { Cookie: login.headers['set-cookie']![0].split(';')[0] }
  expect((await served.ask('/', { headers })).status).toBe(200)
  writeFileSync(file, `${other}\n`)
  await served.runAgain()
  expect((await served.askAs('/')).status).toBe(401)
  // Who logged in with the old one is out, too.
  expect((await served.ask('/', { headers })).status).toBe(401)
  expect((await served.ask('/', { headers: { Authorization: `Bearer ${other}` } })).status).toBe(200)
})
