/** What an API does to its readers, one trap a test; histories.test.ts has them all at once. */
import { expect, test } from 'vitest'
import { Gone, WholeWalk } from '../../../src/feed/api/proof.ts'
import { compareStamps, nextStamp } from '../../../src/feed/api/query.ts'
import { kept, unpacked } from '../../../src/feed/api/record.ts'
import { resoProblems, resoSchema } from '../../../src/feed/api/settings.ts'
import { vendorOf } from '../../../src/feed/api/vendors.ts'
import { profileNames } from '../../../src/stand-in/reso/profiles.ts'
import type { ProfileName } from '../../../src/stand-in/reso/profiles.ts'
import type { ResoFault } from '../../../src/stand-in/reso/world.ts'
import { Allowance, Gate } from '../../../src/feed/api/gate.ts'
import { Bench, emptyMirror, exchangeOf, secret, settingsFor } from './world.ts'

function filled(bench: Bench, count: number, same: boolean): Bench {
  for (let n = 0; n < count; n++) {
    if (!same) bench.time.pass(1000)
    bench.world.put(`ACT${100 + n}`, { ListingId: `ACT${n}`, ListPrice: n }, { same: same && n > 0 })
  }
  bench.time.pass(1000)
  return bench
}

/** Has the API answer a question for records otherwise. */
function answering(bench: Bench, change: (body: string, url: URL) => string): void {
  const { vendor } = bench.settings
  const exchange = exchangeOf(bench.world, bench.time)
  bench.gate = new Gate(bench.settings, {
    exchange: async (asked, signal) => {
      const answer = await exchange(asked, signal)
      if (asked.method === 'POST') return answer
      const body = change(answer.body, asked.url)
      return body === answer.body ? answer : { ...answer, status: 200, body }
    },
    clock: bench.time,
    allowance: new Allowance(vendorOf(vendor).limits, bench.time),
    learn: () => undefined,
  })
}

test.each(profileNames)('%s: records of one timestamp are all read, whatever the size of a page', async (vendor) => {
  for (const top of [1, 2, 3, 7, 12, 13]) {
    const bench = filled(new Bench(vendor), 12, true)
    bench.top = top
    expect((await bench.run()).reasons).toEqual([])
    expect((await bench.kept()).size, `pages of ${top}`).toBe(12)
  }
})

test.each(['bridge', 'trestle'] as const)(
  '%s: 2,000 records of one timestamp, in pages as large as it gives',
  async (vendor) => {
    const bench = filled(new Bench(vendor), 2000, true)
    expect((await bench.run()).reasons).toEqual([])
    expect((await bench.kept()).size).toBe(2000)
    expect(bench.world.refused).toBe(0)
  },
)

test('a second change within one timestamp, and one that shows late, are in the next reading', async () => {
  let isBetween = false
  const bench: Bench = filled(
    new Bench('generic', {
      after: () => {
        if (!isBetween) return
        isBetween = false
        bench.world.records.set('ACT103', { ...bench.world.records.get('ACT103')!, ListPrice: 33 })
        bench.world.put('ACT101', { ListPrice: 11 }, { ago: 10_000 })
      },
    }),
    6,
    false,
  )
  // No walk is due after the second one, which would find what shows late.
  await bench.run()
  await bench.run()
  bench.time.pass(300_000)
  bench.world.put('ACT103', { ListPrice: 3 })
  bench.time.pass(50)
  bench.world.put('ACT104', { ListPrice: 4 })
  isBetween = true
  await bench.run()
  expect((await bench.kept()).get('ACT103')).toMatchObject({ ListPrice: 3 })
  expect((await bench.run()).result?.walk).toBeNull()
  expect((await bench.kept()).get('ACT103')).toMatchObject({ ListPrice: 33 })
  expect((await bench.kept()).get('ACT101')).toMatchObject({ ListPrice: 11 })
})

test.each(['crea', 'trestle'] as const)(
  '%s: a timestamp is asked for as it came, with all its digits',
  async (vendor) => {
    const bench = filled(new Bench(vendor), 5, false)
    bench.top = 2
    await bench.run()
    const { ModificationTimestamp: stamp } = bench.world.records.get('ACT101')!
    expect(stamp).toMatch(vendor === 'crea' ? /\.\d{2}Z$/ : /\.\d{7}Z$/)
    expect(bench.world.asked.some((url) => url.includes(`ModificationTimestamp ge ${String(stamp)}`))).toBe(true)
  },
)

test('Trestle: a link behind a last page that is full leads to an empty one, which is the end', async () => {
  const bench = filled(new Bench('trestle'), 6, false)
  bench.top = 3
  expect((await bench.run()).reasons).toEqual([])
  const { result } = await bench.run({ isWaiting: true })
  expect(result?.walk).not.toBeNull()
  expect((await bench.kept()).size).toBe(6)
})

test('Trestle: pictures that change alone are read by their own timestamp', async () => {
  const bench = filled(new Bench('trestle', {}, { expand: ['Media'] }), 3, false)
  bench.time.pass(3_600_000)
  bench.world.put('ACT102', { ListPrice: 2 })
  await bench.run()
  bench.time.pass(3_600_000)
  const stamp = bench.world.records.get('ACT101')!.ModificationTimestamp
  bench.world.putMedia('ACT101', [{ Order: '1', MediaURL: 'https://images.example.com/new.jpg' }])
  expect(bench.world.records.get('ACT101')!.ModificationTimestamp).toBe(stamp)
  await bench.run()
  expect((await bench.kept()).get('ACT101')!.Media).toMatchObject([{ MediaURL: 'https://images.example.com/new.jpg' }])
})

test('Trestle: pictures that change alone are read though the clock here is ahead of that of the source', async () => {
  const bench = filled(new Bench('trestle', {}, { expand: ['Media'] }), 3, false)
  bench.time.pass(3_600_000)
  const behind = (): string => new Date(bench.time.now() - 3_600_000).toISOString()
  bench.world.put('ACT102', { ListPrice: 2 }, { ago: 3_000_000 })
  await bench.run()
  bench.time.pass(900_000)
  bench.world.putMedia('ACT101', [{ Order: '1', MediaURL: 'https://images.example.com/new.jpg' }])
  bench.world.records.set('ACT101', { ...bench.world.records.get('ACT101')!, PhotosChangeTimestamp: behind() })
  await bench.run()
  expect((await bench.kept()).get('ACT101')!.Media).toMatchObject([{ MediaURL: 'https://images.example.com/new.jpg' }])
})

test('a timestamp without a zone is in UTC, also on a machine that is in another zone', async () => {
  const zone = process.env.TZ
  process.env.TZ = 'America/New_York'
  try {
    const bench = filled(new Bench('generic'), 30, false)
    const bare = (key: string, more: object, ago: number): void => {
      const stamp = new Date(bench.time.now() - ago).toISOString().slice(0, -1)
      bench.world.records.set(key, { ...bench.world.records.get(key)!, ...more, ModificationTimestamp: stamp })
    }
    bench.time.pass(30_000)
    bare('ACT102', {}, 0)
    // Both walk all keys, which would find it.
    for (const _run of [1, 2]) await bench.run()
    bench.time.pass(10_000)
    // It shows late.
    bare('ACT101', { ListPrice: 11 }, 20_000)
    await bench.run()
    expect((await bench.kept()).get('ACT101')!.ListPrice).toBe(11)
  } finally {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  }
})

test('a record is not gone because the page with it was empty and had a link', async () => {
  const isSingle = (url: string): boolean => decodeURIComponent(url).includes("ListingKey eq 'ACT102'")
  let counts = 0
  const bench: Bench = filled(
    new Bench('generic', {
      fault: ({ url }) => (isSingle(url) && !url.includes('skip') ? { kind: 'empty-link' } : null),
      after: () => {
        // It is away while the keys are walked, and back when it is asked for.
        if (bench.world.asked.at(-1)!.includes('$count') && ++counts === 4) bench.world.licence = () => true
      },
    }),
    5,
    false,
  )
  await bench.run()
  bench.time.pass(86_400_000)
  bench.world.licence = ({ ListingKey }) => ListingKey !== 'ACT102'
  expect((await bench.run()).reasons).toEqual([])
  expect(counts).toBe(4)
  expect(bench.world.asked.some(isSingle)).toBe(true)
  expect((await bench.kept()).has('ACT102')).toBe(true)
})

test('what a vendor counts of its limits is heeded: the last request of a minute is followed by a minute of none', async () => {
  const bench = filled(new Bench('trestle'), 5, false)
  await bench.run()
  bench.time.pass(60_000)
  // Somebody else uses the same credentials.
  for (let n = 0; n < 177; n++) bench.world.times.push(bench.time.now())
  expect((await bench.run({ isWaiting: true })).reasons).toEqual([])
  expect(bench.world.refused).toBe(0)
})

test('a record that comes back while it is looked for is not gone', async () => {
  const bench: Bench = filled(new Bench('generic', { fault: () => (onRequest(), null) }), 5, false)
  let isAsked = false
  let home = {}
  const onRequest = (): void => {
    const asked = bench.world.asked.at(-1) ?? ''
    // The question after the one for the record itself.
    if (isAsked && !asked.includes("ListingKey eq 'ACT102'")) {
      isAsked = false
      bench.world.put('ACT102', home)
    }
    if (asked.includes("ListingKey eq 'ACT102'")) isAsked = true
  }
  await bench.run()
  home = { ...bench.world.records.get('ACT102') }
  bench.world.remove('ACT102')
  await bench.run({ isWaiting: true })
  expect(bench.world.records.has('ACT102')).toBe(true)
  expect((await bench.kept()).has('ACT102')).toBe(true)
})

test('timestamps are compared with every digit they came with, in any zone', () => {
  expect(compareStamps('2026-11-01T00:00:00.1234567Z', '2026-11-01T00:00:00.1234568Z')).toBe(-1)
  expect(compareStamps('2026-11-01T00:00:00.12Z', '2026-11-01T00:00:00.120Z')).toBe(0)
  expect(compareStamps('2026-11-01T00:00:00-05:00', '2026-11-01T04:59:59Z')).toBe(1)
})

test.each([
  ['2026-11-01T00:00:00Z', '2026-11-01T00:00:01Z'],
  ['2026-12-31T23:59:59.9990-05:00', '2026-12-31T23:59:59.9991-05:00'],
  ['2026-12-31T23:59:59.99Z', '2027-01-01T00:00:00.00Z'],
  ['2026-11-01T00:00:00.009', '2026-11-01T00:00:00.010Z'],
])('behind %s comes %s', (stamp, next) => expect(nextStamp(stamp)).toBe(next))

test('an empty page with a link is not the end of the changes', async () => {
  let isEmptied = false
  const fault = (): ResoFault | null => {
    const wasEmptied = isEmptied
    isEmptied = false
    return wasEmptied ? { kind: 'empty-link' } : null
  }
  const bench = filled(new Bench('spark', { fault }), 5, false)
  await bench.run()
  await bench.run()
  bench.time.pass(300_000)
  bench.world.put('ACT101', { ListPrice: 11 })
  isEmptied = true
  expect(await bench.run()).toMatchObject({ reasons: [], result: { walk: null } })
  expect((await bench.kept()).get('ACT101')).toMatchObject({ ListPrice: 11 })
})

test.each(['spark', 'crea'] as const)('%s: an empty page with a link is not the end of a walk', async (vendor) => {
  const isFirst = (url: string): boolean => /PropertyReplication|orderby=ListingKey&/.test(url) && !url.includes('skip')
  const fault = ({ url }: { url: string }): ResoFault | null => (isFirst(url) ? { kind: 'empty-link' } : null)
  const bench = filled(new Bench(vendor, { fault }), 5, false)
  await bench.run()
  const { result, reasons } = await bench.run({ isWaiting: true })
  expect(reasons).toEqual([])
  expect([...(result?.walk?.keys.keys() ?? [])]).toHaveLength(5)
})

const wrong: [ResoFault, RegExp][] = [
  [{ kind: 'error' }, /answers HTTP 200 with an error: "The query failed"/],
  [{ kind: 'html' }, /answers with a page of HTML or XML: check the address under reso/],
  [{ kind: 'deep' }, /should answer with JSON, and answers with something that is nested deeper than 100 levels/],
  [
    { kind: 'status', status: 503, headers: { 'retry-after': 'Sun, 01 Nov 2026 09:00:00 GMT' } },
    /answers HTTP 503.*asks to wait 1[78]\d minutes/,
  ],
  [{ kind: 'no-value' }, /answers without a list of records \(value\): check the address/],
  [{ kind: 'status', status: 401 }, /refuses the token \(HTTP 401\): check auth/],
  [{ kind: 'status', status: 403 }, /HTTP 403.*nothing is deleted for it/],
  [{ kind: 'status', status: 404 }, /HTTP 404.*check the address under reso/],
]
test.each(wrong)('%j: one sentence, and nothing goes', async (fault, sentence) => {
  let isWrong = false
  const bench = filled(new Bench('generic', { fault: () => (isWrong ? fault : null) }), 5, false)
  await bench.run()
  isWrong = true
  const { result, reasons } = await bench.run({ isWaiting: true })
  expect(result).toBeNull()
  expect(reasons.join()).toMatch(sentence)
  expect((await bench.kept()).size).toBe(5)
})

const endings: [string, ProfileName, RegExp, number][] = [
  ['a link that died', 'bridge', /skiptoken/, 410],
  ['a token that is refused twice', 'trestle', /ListingKey%20gt/, 401],
]
test.each(endings)('%s ends a walk, and nothing goes', async (_, vendor, page, status) => {
  let isWrong = false
  const fault = ({ url }: { url: string }): ResoFault | null =>
    isWrong && page.test(url) ? { kind: 'status', status } : null
  const bench: Bench = filled(new Bench(vendor, { fault }), 5, false)
  bench.top = 2
  await bench.run()
  bench.world.remove('ACT100')
  isWrong = true
  const { result, reasons } = await bench.run({ isWaiting: true })
  expect(result?.walk).toBeNull()
  expect(reasons.join()).toContain(`HTTP ${status}`)
  expect((await bench.kept()).size).toBe(5)
  isWrong = false
  expect((await bench.run({ isWaiting: true })).result?.walk).not.toBeNull()
  expect((await bench.kept()).size).toBe(4)
})

test('a token endpoint that answers HTML is named with the remedy', async () => {
  const bench = new Bench('trestle', { client: { id: 'other', secret: 'other' } })
  expect((await bench.run()).reasons.join()).toMatch(/should give a token, and answers HTTP 400 with HTML.*check auth/)
  expect(bench.said.join()).not.toContain(secret)
})

test('a token is renewed before its end, and once after an HTTP 401', async () => {
  let asked = 0
  const bench = filled(new Bench('crea', { fault: () => (++asked === 3 ? { kind: 'token-ends' } : null) }), 5, false)
  expect((await bench.run()).reasons).toEqual([])
  expect(bench.learnt).toHaveLength(2)
  bench.time.pass(3_600_000 - 30_000)
  expect((await bench.run()).reasons).toEqual([])
  expect(bench.learnt).toHaveLength(3)
})

test('a link to another host is not followed', async () => {
  const bench = filled(new Bench('mlsgrid'), 5, true)
  bench.world.root = 'http://elsewhere.invalid/odata'
  bench.top = 2
  expect((await bench.run()).reasons.join()).toContain('another host, which is not followed')
})

test('a first load that was cut off goes on where it was', async () => {
  let asked = 0
  let isCut = true
  const fault = (): ResoFault | null => (isCut && ++asked > 3 ? { kind: 'html' } : null)
  const bench = filled(new Bench('generic', { fault }), 12, false)
  bench.top = 3
  expect((await bench.run()).result).toBeNull()
  const before = (await bench.kept()).size
  expect(before).toBeGreaterThan(3)
  isCut = false
  bench.world.asked.length = 0
  expect((await bench.run()).reasons).toEqual([])
  expect(bench.world.asked[0]).toContain('ModificationTimestamp ge 2026')
  expect((await bench.kept()).size).toBe(12)
})

test('changes of which each run gets only some are all read in the end', async () => {
  let left = Infinity
  const bench = new Bench('generic', { fault: () => (left-- > 0 ? null : { kind: 'html' }) })
  const putAll = (price: number): void => {
    for (let n = 0; n < 40; n++) {
      bench.time.pass(120_000)
      bench.world.put(`ACT${100 + n}`, { ListingId: `ACT${n}`, ListPrice: price })
    }
  }
  putAll(1)
  for (let run = 0; run < 2; run++) await bench.run()
  putAll(2)
  bench.top = 3
  const changed: number[] = []
  for (let run = 0; run < 3; run++) {
    left = 6
    expect((await bench.run()).result).toBeNull()
    changed.push([...(await bench.kept()).values()].filter(({ ListPrice }) => ListPrice === 2).length)
  }
  expect(changed[1]).toBeGreaterThan(changed[0])
  expect(changed[2]).toBeGreaterThan(changed[1])
})

test('another scope is loaded anew, and its first walk proves nothing yet', async () => {
  const bench = filled(new Bench('generic'), 4, false)
  await bench.run()
  expect((await bench.run({ isWaiting: true })).result?.walk).not.toBeNull()
  bench.settings = settingsFor('generic', { filter: 'ListPrice ge 2' })
  bench.gate = bench.newGate()
  const { result } = await bench.run({ isWaiting: true })
  expect(result?.walk).toBeNull()
  expect(result?.notes.join()).toContain('loaded anew')
  expect((await bench.run({ isWaiting: true })).result?.walk).not.toBeNull()
})

test('MLS Grid: six days without a reading make a walk due', async () => {
  const bench = filled(new Bench('mlsgrid', {}, { keys: 30 * 86_400_000 }), 4, false)
  await bench.run()
  await bench.run()
  expect((await bench.run()).result?.walk).toBeNull()
  bench.time.pass(6.5 * 86_400_000)
  expect((await bench.run()).result?.walk).not.toBeNull()
})

test('a walk that does not show the latest changes yet has nothing read again for them', async () => {
  const bench = filled(new Bench('mlsgrid'), 60, false)
  bench.top = 5
  await bench.run()
  await bench.run()
  bench.time.pass(86_400_000)
  const before = String(bench.world.records.get('ACT100')!['ModificationTimestamp'])
  bench.world.put('ACT100', { ListPrice: 7 })
  const now = String(bench.world.records.get('ACT100')!['ModificationTimestamp'])
  answering(bench, (body, url) => (url.search.includes('select') ? body.replaceAll(now, before) : body))
  expect((await bench.run({ isWaiting: true })).result?.walk).not.toBeNull()
  expect(bench.world.asked.at(-1)).toContain('select')
  expect((await bench.kept()).get('ACT100')).toMatchObject({ ListPrice: 7 })
})

test('MLS Grid: that walk stays due until one proves what is gone', async () => {
  let isWrong = false
  const fault = ({ url }: { url: string }): ResoFault | null =>
    isWrong && url.includes('select') ? { kind: 'status', status: 404 } : null
  const bench = filled(new Bench('mlsgrid', { fault }, { keys: 30 * 86_400_000 }), 4, false)
  await bench.run()
  await bench.run()
  bench.world.remove('ACT100')
  // Longer than the vendor tells of the removal.
  bench.time.pass(7.5 * 86_400_000)
  isWrong = true
  expect((await bench.run()).reasons.join()).toContain('the walk of all keys proves nothing')
  isWrong = false
  expect((await bench.run()).result?.walk).not.toBeNull()
  expect((await bench.kept()).size).toBe(3)
})

test('counts as text, and the names of OData 4.01', async () => {
  const bench = filled(new Bench('mlsgrid'), 9, true)
  bench.top = 3
  answering(bench, (body) => body.replaceAll('@odata.nextLink', '@nextLink'))
  expect((await bench.run()).reasons).toEqual([])
  expect((await bench.kept()).size).toBe(9)

  const counting = filled(new Bench('generic'), 5, false)
  answering(counting, (body) => body.replace(/"@odata\.count":(\d+)/, '"@count":"$1"'))
  await counting.run()
  counting.time.pass(86_400_000)
  expect((await counting.run()).result?.walk).not.toBeNull()
})

test('a count that is off proves nothing', async () => {
  const bench = filled(new Bench('generic', { countOff: 3 }), 5, false)
  bench.time.pass(86_400_000)
  const { result, reasons } = await bench.run()
  expect(result?.walk).toBeNull()
  expect(reasons.join()).toContain('5 keys came, and the source counts 8 before and 8 after')
})

test('proofs are made of what proves', () => {
  const keys = new Map([['a', '2026-01-01T00:00:00Z']])
  const walk = { keys, doubled: 0 }
  const whole = WholeWalk.of({ walks: [walk, walk], counts: null, changed: null })
  if (!WholeWalk.isOne(whole)) throw new Error(whole.why)
  expect(WholeWalk.of({ walks: [walk], counts: null, changed: null })).toHaveProperty('why')
  expect(
    WholeWalk.of({ walks: [{ keys, doubled: 1 }], counts: { before: 1, after: 1 }, changed: null }),
  ).toHaveProperty('why')
  const of = (found: string[], before: number, after: number, changed: string[]): boolean => {
    const walked = { keys: new Map(found.map((key) => [key, '2026-01-01T00:00:00Z'])), doubled: 0 }
    return WholeWalk.isOne(WholeWalk.of({ walks: [walked], counts: { before, after }, changed: new Set(changed) }))
  }
  expect(of(['a', 'b'], 2, 2, [])).toBe(true)
  // One that came behind the walk explains a count; one that the walk has does not.
  expect(of(['a', 'b'], 2, 3, ['c'])).toBe(true)
  expect(of(['a', 'b'], 3, 3, ['a', 'b'])).toBe(false)
  expect(of(['a', 'b'], 1, 2, ['b'])).toBe(true)
  expect(of(['a', 'b'], 2, 1, [])).toBe(false)
  expect(Gone.of(whole, 'b', { asked: 'not there', changed: new Set(['b']) })).toBeNull()
  const other = WholeWalk.of({
    walks: [{ keys: new Map([['b', '2026-01-01T00:00:00Z']]), doubled: 0 }],
    counts: { before: 1, after: 1 },
    changed: null,
  })
  if (!WholeWalk.isOne(other)) throw new Error(other.why)
  expect(Gone.of(whole, 'b', { second: other, changed: new Set() })).toBeNull()
  expect(Gone.of(whole, 'c', { second: other, changed: new Set() })?.key).toBe('c')
  expect(Gone.of(whole, 'a', { asked: 'not there', changed: new Set() })).toBeNull()
  expect(Gone.of(whole, 'b', { second: whole, changed: new Set() })).toBeNull()
  expect(Gone.of(whole, 'b', { asked: 'not there', changed: new Set() })?.key).toBe('b')
})

test('marks, licences and addresses that end', () => {
  const of = (record: Record<string, unknown>, vendor: 'mlsgrid' | 'bridge') =>
    JSON.parse(unpacked(kept({ key: 'ACT1', stamp: '', record }, vendorOf(vendor))).toString()) as Record<
      string,
      unknown
    >
  expect(of({ ListingId: 'ACT1475089', MlgCanUse: ['BO'], Media: [{}] }, 'mlsgrid')).toEqual({
    ListingId: 'ACT1475089',
    MlgCanUse: ['BO'],
    '@@ListingNumber': '1475089',
    '@@Licensed': false,
  })
  const media = ['https://a.example/1.jpg', 'https://a.example/2.jpg?X-Amz-Expires=3600'].map((MediaURL) => ({
    MediaURL,
  }))
  expect(of({ Media: media, '@odata.id': 'x' }, 'bridge')).toEqual({ Media: [media[0]] })
  const ordered = ['10', '2', null].map((Order) => ({ Order, MediaURL: `https://a.example/${Order}.jpg` }))
  expect(of({ Media: ordered }, 'bridge')).toEqual({ Media: [ordered[1], ordered[0], ordered[2]] })
})

test('a source that can not be right is a problem of the configuration', () => {
  const problems = (changes: object) =>
    resoProblems(
      resoSchema.parse({ reso: 'https://api.mlsgrid.com/v2', vendor: 'mlsgrid', auth: { token: 'x' }, ...changes }),
    )
      .map(({ problem }) => problem)
      .join('\n')
  const right = "OriginatingSystemName eq 'actris'"
  expect(problems({ filter: right })).toBe('')
  expect(problems({})).toContain('answers only about one OriginatingSystemName')
  expect(problems({ filter: `${right} and City eq 'Austin'` })).toContain("MLS Grid can't search City, only")
  expect(problems({ filter: "OriginatingSystemName eq 'ACTRIS'" })).toContain(
    "in lower case: write OriginatingSystemName eq 'actris'",
  )
  expect(problems({ vendor: 'generic' })).toContain('api.mlsgrid.com is MLS Grid: write vendor: mlsgrid')
  expect(problems({ filter: right, expand: ['Media'] })).toContain('leave Media out')
  expect(problems({ filter: right, auth: {} })).toContain('needs a token, or a clientId and a clientSecret')
  expect(resoSchema.safeParse({ reso: 'http://example.com/odata', vendor: 'generic', auth: {} }).success).toBe(false)
})

test('a walk that was cut off is begun anew at its first page', async () => {
  const keysAsked = (bench: Bench): string[] => bench.world.asked.filter((url) => /\$orderby=ListingKey&/.test(url))
  let isCut = false
  const bench: Bench = filled(
    new Bench('generic', { fault: ({ url }) => (isCut && /ListingKey%20gt/.test(url) ? { kind: 'html' } : null) }),
    5,
    false,
  )
  bench.top = 2
  await bench.run()
  bench.world.remove('ACT102')
  isCut = true
  expect((await bench.run({ isWaiting: true })).result?.walk).toBeNull()
  isCut = false
  bench.world.asked.length = 0
  expect((await bench.run({ isWaiting: true })).result?.walk).not.toBeNull()
  expect(keysAsked(bench)[0]).not.toContain('ListingKey gt')
  expect((await bench.kept()).size).toBe(4)
})

test('Trestle counts each picture of a record that has them: the count is asked for without', async () => {
  const bench = filled(new Bench('trestle', {}, { expand: ['Media'] }), 5, false)
  await bench.run()
  expect((await bench.run({ isWaiting: true })).result?.walk).not.toBeNull()
  const counts = bench.world.asked.filter((url) => url.includes('$count'))
  expect(counts.length).toBeGreaterThan(1)
  expect(counts.join()).not.toContain('$expand')
})

test('the watermark moves over records that are not shown', async () => {
  const bench = filled(new Bench('mlsgrid'), 4, false)
  await bench.run()
  bench.time.pass(60_000)
  bench.world.remove('ACT103')
  await bench.run()
  const { watermark } = (await bench.mirror.progress())!
  expect(watermark).toBe(bench.world.records.get('ACT103')?.ModificationTimestamp)
})

/** A request for keys: whole records are asked for without a choice of fields. */
const isOfKeys = (url: string): boolean => /select=/.test(url)
const isWalked = (url: string): boolean => isOfKeys(url) && !/count=true/.test(url)

test('an empty page with a link is not the end of a walk over the keys either', async () => {
  const isFirst = (url: string): boolean => /replication/.test(url) && !/skiptoken/.test(url)
  const bench = filled(
    new Bench('bridge', { fault: ({ url }) => (isFirst(url) ? { kind: 'empty-link' } : null) }),
    5,
    false,
  )
  await bench.run()
  const { result } = await bench.run({ isWaiting: true })
  expect(result?.walk?.keys.size).toBe(5)
})

test('a record that a walk lacks is asked for by itself, and stays if it is there', async () => {
  const bench: Bench = new Bench('generic', {
    fault: ({ url }) => {
      bench.world.licence = ({ ListingKey }) => !(isOfKeys(url) && ListingKey === 'ACT102')
      return null
    },
  })
  filled(bench, 5, false)
  await bench.run()
  const { result } = await bench.run({ isWaiting: true })
  expect(result?.walk).not.toBeNull()
  expect([...(await bench.kept()).keys()]).toContain('ACT102')
})

test('MLS Grid: a record that is taken off while the first load is beyond it goes', async () => {
  let pages = 0
  const bench: Bench = new Bench('mlsgrid', {
    fault: ({ url }) => (isWalked(url) ? { kind: 'html' } : null),
    after: () => {
      if (++pages !== 1) return
      bench.time.pass(1000)
      bench.world.remove('ACT100')
      bench.time.pass(1000)
      bench.world.put('ACT105', { ListPrice: 1 })
    },
  })
  filled(bench, 6, false)
  bench.top = 2
  await bench.run()
  expect([...(await bench.shown()).keys()].toSorted()).toEqual(['ACT101', 'ACT102', 'ACT103', 'ACT104', 'ACT105'])
})

test('Spark: a change that its cache shows late is found all the same', async () => {
  const bench = filled(new Bench('spark', {}, { keys: 30 * 86_400_000 }), 3, false)
  for (let run = 0; run < 2; run++) await bench.run()
  bench.world.put('ACT200', { ListPrice: 1 })
  bench.world.licence = ({ ListingKey }) => ListingKey !== 'ACT200'
  bench.time.pass(60_000)
  bench.world.put('ACT100', { ListPrice: 2 })
  await bench.run()
  expect([...(await bench.kept()).keys()]).not.toContain('ACT200')
  bench.world.licence = () => true
  bench.time.pass(60_000)
  expect((await bench.run()).result?.walk).toBeNull()
  expect([...(await bench.kept()).keys()]).toContain('ACT200')
})

test('a server that answers in another order than it was asked for is named', async () => {
  const bench = filled(new Bench('generic'), 5, false)
  answering(bench, (body) => {
    const page = JSON.parse(body) as { value?: unknown[] }
    return JSON.stringify({ ...page, value: page.value?.toReversed() })
  })
  expect((await bench.run()).reasons.join()).toContain('does not answer in the order of ModificationTimestamp')
})

test('MLS Grid: a record that changes while those of its timestamp are read moves none over the edge of a page', async () => {
  let pages = -1
  const after = (): void => {
    if (pages < 0 || ++pages !== 3) return
    bench.time.pass(1000)
    bench.world.put('ACT100', { ListPrice: 2 })
  }
  const bench: Bench = filled(new Bench('mlsgrid', { after }, { keys: 30 * 86_400_000 }), 9, true)
  bench.top = 2
  for (let run = 0; run < 2; run++) await bench.run()
  bench.time.pass(1000)
  for (let n = 0; n < 9; n++) bench.world.put(`ACT${100 + n}`, { ListPrice: 1 }, { same: n > 0 })
  bench.time.pass(1000)
  pages = 0
  expect((await bench.run()).result?.walk).toBeNull()
  const prices = [...(await bench.kept()).values()].map(({ ListPrice }) => ListPrice)
  expect(prices.filter((price) => price === 1)).toHaveLength(8)
})

test('a picture that is null is none', async () => {
  const bench = filled(new Bench('bridge'), 1, false)
  bench.world.putMedia('ACT100', [null as never, { Order: 1, MediaURL: 'https://images.example.com/a.jpg' }])
  expect((await bench.run()).reasons).toEqual([])
  expect((await bench.kept()).get('ACT100')!.Media).toMatchObject([{ MediaURL: 'https://images.example.com/a.jpg' }])
})

test('pictures that come in pages of their own are told', async () => {
  const bench = filled(new Bench('bridge'), 3, false)
  bench.world.putMedia('ACT101', [{ Order: 1, MediaURL: 'https://images.example.com/a.jpg' }])
  answering(bench, (body) =>
    body.replace('"Media":[{', '"Media@odata.nextLink":"Property(1)/Media?$skip=1","Media":[{'),
  )
  expect((await bench.run()).result!.notes.join()).toContain('Only a part of Media of record ACT101 came')
  bench.time.pass(300_000)
  bench.world.put('ACT100', { ListPrice: 1 })
  // Each run reads the last minute before the last change again.
  for (let run = 0; run < 2; run++) await bench.run()
  expect(bench.said.filter((text) => text.startsWith('Only a part'))).toHaveLength(2)
})

test('an answer that begins with a byte order mark is read', async () => {
  const bench = filled(new Bench('trestle'), 5, false)
  answering(bench, (body) => `\ufeff${body}`)
  expect((await bench.run()).reasons).toEqual([])
  expect((await bench.kept()).size).toBe(5)
})

test('a record that is dated in the future does not hide the changes before it', async () => {
  const bench = filled(new Bench('generic'), 5, false)
  bench.world.records.set('ACT102', {
    ...bench.world.records.get('ACT102')!,
    ModificationTimestamp: '9999-12-31T00:00:00.000Z',
  })
  // The second run walks all keys for the first time that counts; the third one reads changes alone.
  for (let run = 0; run < 2; run++) await bench.run()
  bench.time.pass(300_000)
  bench.world.put('ACT103', { ListPrice: 33 })
  bench.time.pass(1000)
  expect((await bench.run()).result?.walk).toBeNull()
  expect((await bench.kept()).get('ACT103')).toMatchObject({ ListPrice: 33 })
})

test('what an earlier version remembered of a record in the future does not hide the changes after it', async () => {
  const bench = filled(new Bench('generic'), 5, false)
  for (let run = 0; run < 2; run++) await bench.run()
  await bench.mirror.keep([], { ...(await bench.mirror.progress())!, watermark: '9999-12-31T00:00:00.000Z' })
  // The record has its right date by now, so that nothing comes from the future any more.
  for (const price of [33, 44]) {
    bench.time.pass(300_000)
    bench.world.put('ACT103', { ListPrice: price })
    bench.time.pass(1000)
    expect((await bench.run()).result?.walk).toBeNull()
    expect((await bench.kept()).get('ACT103')).toMatchObject({ ListPrice: price })
  }
})

/** Takes a record's timestamp away, as if it had been written by hand. */
function undate(bench: Bench, key: string, field = 'ModificationTimestamp'): void {
  bench.world.records.set(key, { ...bench.world.records.get(key)!, [field]: null })
}

test.each([
  ['generic', 2, null],
  ['generic', 100, null],
  ['generic', 100, '5 May 2026'],
  ['bridge', 100, null],
] as const)('%s: in pages of %i, records with the timestamp %s are read all the same', async (vendor, top, stamp) => {
  const field = vendorOf(vendor).stamp
  const bench = filled(new Bench(vendor), 5, false)
  bench.top = top
  for (const key of ['ACT102', 'ACT103', 'ACT104']) undate(bench, key, field)
  if (stamp !== null) answering(bench, (body) => body.replaceAll(`"${field}":null`, `"${field}":"${stamp}"`))
  const first = await bench.run()
  expect(first.reasons).toEqual([])
  expect([...(await bench.kept()).keys()]).toHaveLength(5)
  expect(first.result!.notes.join()).toContain(`No readable ${field} in 3 records, the first of them ACT102: a change`)
  expect((await bench.run()).result?.walk?.keys.size).toBe(5)

  bench.time.pass(25 * 3_600_000)
  bench.world.records.set('ACT102', { ...bench.world.records.get('ACT102')!, ListPrice: 77 })
  bench.world.put('ACT100', { ListPrice: 78 })
  bench.world.records.delete('ACT104')
  undate(bench, 'ACT101', field)
  bench.world.records.set('ACT101', { ...bench.world.records.get('ACT101')!, ListPrice: 79 })
  expect((await bench.run()).reasons).toEqual([])
  const kept = await bench.kept()
  expect(kept.get('ACT102')).toMatchObject({ ListPrice: 77 })
  expect(kept.get('ACT100')).toMatchObject({ ListPrice: 78 })
  expect(kept.get('ACT101')).toMatchObject({ ListPrice: 79 })
  expect([...kept.keys()].toSorted()).toEqual(['ACT100', 'ACT101', 'ACT102', 'ACT103'])
})

test('while a record without a timestamp is not read, no walk proves that another is gone', async () => {
  const many = filled(new Bench('generic'), 150, false)
  for (let n = 0; n < 101; n++) undate(many, `ACT${100 + n}`)
  const grid = filled(new Bench('mlsgrid'), 5, false)
  undate(grid, 'ACT102')
  for (const [bench, kept, why] of [
    [many, 49, 'in 101 records, the first of them ACT100, not read, as at most 100 are asked for one by one'],
    [grid, 4, 'in record ACT102, not read, as MLS Grid is not asked for one by its key'],
  ] as const) {
    for (let run = 0; run < 2; run++) {
      const { result, reasons } = await bench.run({ isWaiting: true })
      expect(reasons.join()).toContain(`proves nothing: no readable ModificationTimestamp ${why}`)
      expect(result?.walk).toBeNull()
      expect((await bench.kept()).size).toBe(kept)
    }
  }
})

test('a record that lost its timestamp and is known stays as it came last where it can not be asked for', async () => {
  const bench = filled(new Bench('mlsgrid'), 5, false)
  for (let run = 0; run < 2; run++) await bench.run()
  undate(bench, 'ACT102')
  const { result, reasons } = await bench.run({ isWaiting: true })
  expect(reasons).toEqual([])
  expect(result!.walk?.keys.size).toBe(5)
  expect(result!.notes.join()).toContain('in record ACT102: as it was read last')
})

test('single records without a timestamp are left out by a filter', async () => {
  const filtered = filled(new Bench('generic', {}, { filter: 'ModificationTimestamp ne null' }), 5, false)
  undate(filtered, 'ACT102')
  expect((await filtered.run()).result!.notes.join()).not.toContain('ACT102')
  expect((await filtered.kept()).size).toBe(4)
})

test('a source without the timestamp of its vendor is the wrong vendor', async () => {
  const bench = filled(new Bench('generic'), 5, false)
  for (let n = 0; n < 5; n++) undate(bench, `ACT${100 + n}`)
  expect((await bench.run()).reasons.join()).toContain('a record ACT100 of reso.invalid has no readable Modif')
})

/** An API whose pages of keys, or of one timestamp, go round in a circle, and what comes of it. */
const circles: [string, ProfileName, (url: URL) => boolean, RegExp][] = [
  ['keys by their order', 'generic', (url) => /select=/.test(url.search), /came more than once/],
  ['keys by links', 'bridge', (url) => /replication/.test(url.pathname), /came more than once/],
  ['records of one timestamp', 'generic', (url) => /%20eq%20/.test(url.search), /in the order of ListingKey/],
  ['records of one timestamp by links', 'mlsgrid', (url) => /skip/.test(url.search), /change faster than they can/],
]
test.each(circles)('%s that begin anew on each page have an end', async (_, vendor, isCircle, reason) => {
  const bench = filled(new Bench(vendor), 9, true)
  bench.top = 3
  const pages: unknown[] = []
  answering(bench, (body, url) => {
    if (/count=true/.test(url.search) || !isCircle(url)) return body
    const link = new URL(url)
    link.searchParams.set('n', String(bench.world.asked.length))
    if (pages.length < 2) pages.push((JSON.parse(body) as { value: unknown }).value)
    const value = pages[bench.world.asked.length % pages.length]
    return JSON.stringify({ value, '@odata.nextLink': link.href })
  })
  expect((await bench.run()).reasons.join()).toMatch(reason)
})

test('pages without a record that lead to each other have an end', async () => {
  const bench = filled(new Bench('generic'), 5, false)
  answering(bench, () => JSON.stringify({ value: [], '@odata.nextLink': `Property?$skip=${bench.world.asked.length}` }))
  expect((await bench.run()).reasons.join()).toMatch(/1,000 pages in a row without a record/)
})

test.each(['generic', 'trestle'] as const)(
  '%s: a server that keeps finer timestamps than it shows is read to the end',
  async (vendor) => {
    const bench = new Bench(vendor)
    bench.time.pass(123)
    // More than are asked for one by one, where a walk finds that they are lacking.
    filled(bench, 150, true)
    bench.time.pass(60_000)
    bench.world.put('ACT900', { ListingId: 'ACT900' })
    for (const top of [40, 150, 151]) {
      bench.mirror = emptyMirror()
      bench.top = top
      answering(bench, (body) => body.replaceAll(/\.\d+Z"/g, 'Z"'))
      expect((await bench.run()).reasons).toEqual([])
      expect((await bench.kept()).size, `pages of ${top}`).toBe(151)
    }
  },
)
