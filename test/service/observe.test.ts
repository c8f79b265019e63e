import { afterEach, describe, expect, test } from 'vitest'
import type { Glimpse, RemoteSummary } from '../../src/core/listing.ts'
import { walkPages } from '../../src/service/observe.ts'
import type { ServiceProfile } from '../../src/service/settings.ts'
import { refusal, startWorld, stopWorld, success, testItem } from './server.ts'
import type { Reply, TestWorld } from './server.ts'

interface Query {
  PageNumber: number
  PageSize: number
  MLSNumber: string
}
type Item = Record<string, unknown>

const worlds: TestWorld[] = []
afterEach(async () => {
  for (const world of worlds.splice(0)) await stopWorld(world)
})

function asQuery({ PageNumber, PageSize, MLSNumber }: Record<string, unknown>): Query {
  return { PageNumber: Number(PageNumber), PageSize: Number(PageSize), MLSNumber: String(MLSNumber) }
}

async function begin(list: (query: Query, number: number) => Reply, profile: Partial<ServiceProfile> = {}) {
  const world = await startWorld(({ body }, number) => list(asQuery(body), number), {
    attempts: 2,
    profile: {
      pageSize: 10,
      deleteBatch: 50,
      virtualCount: 'unknown',
      clear: 'empty',
      nativeId: 'unknown',
      ...profile,
    },
  })
  worlds.push(world)
  return world
}

interface Walk {
  summary: RemoteSummary & { startedAt: number }
  shown: string[]
  resets: number
  pages: string[]
}

async function observe(
  list: (query: Query, number: number) => Reply,
  profile?: Partial<ServiceProfile>,
): Promise<Walk> {
  const world = await begin(list, profile)
  let shown: Glimpse[] = []
  let resets = 0
  const summary = await world.chatbot('SN').observe({
    reset() {
      shown = []
      resets++
    },
    add: (items) => void shown.push(...items),
  })
  const pages = world.server.seen.map(({ body }) => `${String(body.PageNumber)}/${String(body.PageSize)}`)
  return { summary, shown: shown.map((item) => item.mlsNumber), resets, pages }
}

const items = (count: number, first = 1): Item[] => Array.from({ length: count }, (_, i) => testItem(first + i))
const numbers = (count: number, first = 1) => items(count, first).map((item) => item.MLSNumber)
const page = (list: Item[], VirtualCount = 0): Reply => ({ body: success({ List: list, VirtualCount }) })
const cut = (all: Item[], { PageNumber, PageSize }: Query) =>
  all.slice((PageNumber - 1) * PageSize, PageNumber * PageSize)
/** A service with regular pages. */
const plain =
  (all: Item[], count = all.length) =>
  (query: Query) =>
    page(cut(all, query), count)

describe('a complete walk', () => {
  test('is confirmed by an empty page', async () => {
    const walk = await observe(plain(items(25)))
    expect(walk.summary).toMatchObject({ complete: true, reasons: [], pages: 4, listings: 25 })
    expect(walk.shown).toEqual(numbers(25))
    expect(walk.pages).toEqual(['1/10', '2/10', '3/10', '4/10'])
  })

  test.for([undefined, null, '25', 'many', 2.5])('does without VirtualCount (%s)', async (VirtualCount) => {
    const list = (query: Query): Reply => ({ body: success({ List: cut(items(25), query), VirtualCount }) })
    expect((await observe(list)).summary).toMatchObject({ complete: true, reasons: [], pages: 4, listings: 25 })
  })

  test('over nothing takes one page', async () => {
    expect((await observe(plain([]))).summary).toMatchObject({ complete: true, pages: 1, listings: 0 })
  })

  test('ends where VirtualCount is reached, if that is a total', async () => {
    const walk = await observe(plain(items(20)), { virtualCount: 'total' })
    expect(walk.summary).toMatchObject({ complete: true, pages: 2, listings: 20 })
  })

  test('takes the page size that the service gives instead of the one asked for', async () => {
    const walk = await observe((query) => page(cut(items(11), { ...query, PageSize: 4 })))
    expect(walk.summary).toMatchObject({ complete: true, pages: 4, listings: 11 })
  })

  test('halves a page size that is refused, and remembers', async () => {
    const world = await begin((query) =>
      query.PageSize > 3 ? { body: refusal(400, 'PageSize') } : plain(items(3))(query),
    )
    const writer = world.chatbot('SN')
    const sink = { reset: () => {}, add: () => {} }
    expect(await writer.observe(sink)).toMatchObject({ complete: true, listings: 3 })
    // Remembered for the service, not for one run.
    expect(await world.chatbot('SN-2').observe(sink)).toMatchObject({ complete: true, listings: 3 })
    expect(world.server.seen.map(({ body }) => body.PageSize)).toEqual([10, 5, 2, 2, 2, 2, 2, 2])
  })

  test.for([1, 7, 10, 20, 25])('of %i listings ends though the last page comes again and again', async (count) => {
    const walk = await observe((query) => {
      const last = Math.ceil(count / query.PageSize)
      return page(cut(items(count), { ...query, PageNumber: Math.min(query.PageNumber, last) }))
    })
    expect(walk.summary).toMatchObject({ complete: true, listings: count })
    expect(walk.shown).toEqual(numbers(count))
  })

  test.for([1, 7, 10, 20, 25])('of %i listings ends though pages past the end are refused', async (count) => {
    const walk = await observe((query) => {
      const list = cut(items(count), query)
      return list.length > 0 ? page(list) : { body: refusal(400, 'no such page') }
    })
    expect(walk.summary).toMatchObject({ complete: true, listings: count })
    expect(walk.shown).toEqual(numbers(count))
  })

  test('asks for a page once the sink has taken the one before', async () => {
    const world = await begin(plain(items(25)))
    const underWay: number[] = []
    const add = async (): Promise<void> => {
      await new Promise(setImmediate)
      underWay.push(world.limiter.running)
    }
    expect(await world.chatbot('SN').observe({ reset: () => {}, add })).toMatchObject({ complete: true, listings: 25 })
    expect(underWay).toEqual([0, 0, 0])
  })

  test('counts items without MLSNumber, but does not show them; doubles of a number are shown', async () => {
    const walk = await observe(plain([testItem(1), testItem(2, { MLSNumber: '' }), testItem(3, { MLSNumber: 'A-1' })]))
    expect(walk.summary).toMatchObject({ complete: true, listings: 3 })
    expect(walk.shown).toEqual(['A-1', 'A-1'])
  })

  test('follows a contradictory one, and starts when it starts', async () => {
    let startOfSecond = 0
    const world = await begin((query, number) => {
      if (number === 3) startOfSecond = world.clock.now()
      world.clock.setBack(-1000)
      // In the first walk a listing moves from page 1 to page 2 while we read.
      return page(cut(number === 2 ? items(12, 0) : items(12), query))
    })
    const added: string[][] = []
    const summary = await world.chatbot('SN').observe({
      reset: () => void added.splice(0),
      add: (shown) => void added.push(shown.map(({ mlsNumber }) => mlsNumber)),
    })
    expect(summary).toMatchObject({ complete: true, pages: 3, listings: 12, startedAt: startOfSecond })
    expect(added.flat()).toEqual(numbers(12))
    expect(world.server.seen).toHaveLength(5)
  })
})

describe('a walk is not complete', () => {
  test.for<[what: string, reason: RegExp, list: (query: Query) => Reply, profile?: Partial<ServiceProfile>]>([
    [
      'where an ID comes twice',
      /a second time/,
      ({ PageNumber }) => page(PageNumber < 3 ? items(10, PageNumber * 9) : []),
    ],
    [
      'where a page in the middle is short',
      /held 8 and 10 listings, page 1 10/,
      ({ PageNumber }) => page(PageNumber > 3 ? [] : items(PageNumber === 2 ? 8 : 10, PageNumber * 10)),
    ],
    [
      'where a later page is longer',
      /held 4 and 6 listings, page 1 4/,
      ({ PageNumber }) => page(PageNumber > 2 ? [] : items(PageNumber === 1 ? 4 : 6, PageNumber * 10)),
    ],
    ['where PageNumber is ignored', /Page 2 repeats page 1/, ({ PageSize }) => page(items(PageSize))],
    [
      'where further pages are refused',
      /Page 3 was refused after a full one: no deeper/,
      ({ PageNumber, PageSize }) =>
        PageNumber < 3 ? page(items(PageSize, PageNumber * 100)) : { body: refusal(400, 'no deeper') },
    ],
    [
      'where the second page is refused',
      /Page 2 was refused after a full one: no deeper/,
      ({ PageNumber, PageSize }) => (PageNumber < 2 ? page(items(PageSize)) : { body: refusal(400, 'no deeper') }),
    ],
    [
      'where the total is larger',
      /held 12 listings, VirtualCount says 13/,
      plain(items(12), 13),
      { virtualCount: 'total' },
    ],
    [
      'where the total is smaller',
      /held 12 listings, VirtualCount says 11/,
      plain(items(12), 11),
      { virtualCount: 'total' },
    ],
    [
      'where the total falls, so that a row may have moved onto a page that was read',
      /On page 2 VirtualCount fell from 12 to 11/,
      ({ PageNumber, PageSize }) =>
        PageNumber === 1 ? page(items(PageSize), 12) : page(items(12).slice(PageSize + 1), 11),
      { virtualCount: 'total' },
    ],
    [
      'where the total falls, and the only row of the next page moved up',
      /On page 2 VirtualCount fell from 11 to 10/,
      ({ PageNumber, PageSize }) => (PageNumber === 1 ? page(items(PageSize), 11) : page([], 10)),
      { virtualCount: 'total' },
    ],
    [
      'where there is no total',
      /held 12 listings, VirtualCount says nothing/,
      (query) => ({ body: success({ List: cut(items(12), query) }) }),
      { virtualCount: 'total' },
    ],
    [
      'where a short list with a refused end is below the total',
      /held 4 listings, VirtualCount says 9/,
      ({ PageNumber }) => (PageNumber === 1 ? page(items(4), 9) : { body: refusal(400, 'no such page') }),
      { virtualCount: 'total' },
    ],
  ])('%s', async ([, reason, list, profile]) => {
    const walk = await observe(list, profile)
    expect(walk.summary.complete).toBe(false)
    expect(walk.summary.reasons.join('\n')).toMatch(reason)
    expect(walk.resets).toBe(2)
    expect(new Set(walk.shown).size).toBe(walk.shown.length)
    expect(walk.summary.listings).toBe(walk.shown.length)
  })

  test('where a later page fails for good', async () => {
    const walk = await observe((query) =>
      query.PageNumber === 2 ? { status: 500, body: '' } : plain(items(25))(query),
    )
    expect(walk.summary).toMatchObject({ complete: false, pages: 2, listings: 10 })
    expect(walk.summary.reasons.join()).toMatch(/Page 2 could not be read: .*HTTP 500/)
    expect(walk.resets).toBe(0)
  })
})

describe('a walk fails', () => {
  test.for<[what: string, page: number, reply: Reply, kind: string]>([
    ['without page 1', 1, { status: 500, body: '' }, 'transient'],
    ['where page 1 is refused at every size', 1, { body: refusal(400, 'no such chatbot') }, 'refused'],
    ['where the keys are refused on a later page', 2, { status: 401, body: '' }, 'credentials'],
    ['where the service redirects', 2, { status: 302, body: '' }, 'stopped'],
  ])('%s', async ([, number, reply, kind]) => {
    const walk = observe((query) => (query.PageNumber === number ? reply : plain(items(25))(query)))
    await expect(walk).rejects.toMatchObject({ kind })
  })
})

describe('a look-up', () => {
  const all = [testItem(1, { MLSNumber: 'A-12' }), ...items(24, 2), testItem(30, { MLSNumber: 'A-2' })]
  const cases: [what: string, list: (query: Query) => Reply][] = [
    ['by a filter that works', (query) => plain(all.filter((item) => item.MLSNumber === query.MLSNumber))(query)],
    ['by a filter that is ignored', plain(all)],
    [
      'by a filter that matches parts',
      (query) => plain(all.filter(({ MLSNumber }) => String(MLSNumber).includes(query.MLSNumber)))(query),
    ],
  ]
  for (const virtualCount of ['unknown', 'total'] as const)
    test.for(cases)(`%s finds every double and nothing else (VirtualCount ${virtualCount})`, async ([, list]) => {
      const { chatbot } = await begin(list, { virtualCount })
      const found = await chatbot('SN').lookUp('A-2')
      expect(found.map(({ id }) => id)).toEqual([2, 30])
    })

  test('finds nothing where there is nothing, also if VirtualCount counts everything', async () => {
    const { chatbot } = await begin(() => page([], 26), { virtualCount: 'total' })
    await expect(chatbot('SN').lookUp('A-99')).resolves.toEqual([])
  })

  test('finds what moved up while it read all pages, as something before it left', async () => {
    const { chatbot } = await begin(
      (query, number) => {
        const there = number === 1 ? all : all.slice(1)
        return page(cut(there, query), there.length)
      },
      { virtualCount: 'total', pageSize: 25 },
    )
    expect((await chatbot('SN').lookUp('A-2')).map(({ id }) => id)).toEqual([2, 30])
  })

  test('that is incomplete says nothing', async () => {
    const { chatbot } = await begin(({ PageSize }) => page(items(PageSize)))
    await expect(chatbot('SN').lookUp('A-2')).rejects.toMatchObject({ kind: 'transient', effect: 'none' })
  })
})

test('the next page is asked for once the last one was taken', async () => {
  const all = items(4)
  const order: string[] = []
  await walkPages({
    async list(pageNumber) {
      order.push(`page ${pageNumber}`)
      return { List: all.slice(pageNumber * 2 - 2, pageNumber * 2), VirtualCount: null }
    },
    pageSize: 2,
    rememberPageSize: () => {},
    virtualCount: 'unknown',
    maxPages: 5,
    now: () => 0,
    reset: () => {},
    async add(some) {
      await new Promise(setImmediate)
      order.push(`${some.length} taken`)
    },
  })
  expect(order).toEqual(['page 1', '2 taken', 'page 2', '2 taken', 'page 3'])
})

test('a walk without an end is given up', async () => {
  const summary = await walkPages({
    list: async (pageNumber) => ({ List: items(2, pageNumber * 2), VirtualCount: 0 }),
    pageSize: 2,
    rememberPageSize: () => {},
    virtualCount: 'unknown',
    maxPages: 5,
    now: () => 0,
    reset: () => {},
    add: () => {},
  })
  expect(summary).toMatchObject({
    complete: false,
    reasons: ['The list did not end after 5 pages.'],
    pages: 5,
    listings: 10,
  })
})
