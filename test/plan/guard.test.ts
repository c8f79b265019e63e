/** The guard's rules at their edges, what of a change they hold, and what lets it go. */
import { describe, expect, test } from 'vitest'
import type { Listing } from '../../src/core/listing.ts'
import type { Action } from '../../src/plan/change.ts'
import { cosmetic, factKinds, factsBroken } from '../../src/plan/guard/facts.ts'
import type { FactKind } from '../../src/plan/guard/facts.ts'
import { judge } from '../../src/plan/guard/guard.ts'
import { contentHash, shortHash } from '../../src/core/hash.ts'
import { contentOf, contentsBefore, noTally } from '../../src/plan/guard/hold.ts'
import type { HoldRecord, Pair, Tally } from '../../src/plan/guard/hold.ts'
import { homeHashOf } from '../../src/core/home-hash.ts'
import { allowed, allowedNew, rules, tripsOf } from '../../src/plan/guard/rules.ts'
import type { Rule, Seen, Trip } from '../../src/plan/guard/rules.ts'
import { Scales } from '../../src/plan/guard/scales.ts'
import { sentenceOf } from '../../src/run/hold-sentences.ts'
import { rulesHold } from '../contract/guard-rule.ts'
import { createOf, deleteAbsentOf, deleteOf, forgetOf, nothing, takenOf, updateOf } from '../support/changes.ts'
import { hour, listing, now, policy, quiet, volatile } from '../support/plan-world.ts'

const limits = { share: 20, growth: 75 }
const before = noTally()

/** What the rules see, in a few words: how many leave, or come, within 24 hours. */
type What = Omit<Partial<Seen>, 'counts'> & {
  leaving?: number
  renumbered?: number
  arriving?: number
  counts?: Partial<Tally>
}

/** What the rules see of an office of so many listings. */
function seen(ours: number, { leaving = 0, renumbered = 0, arriving = 0, counts, ...changes }: What = {}): Seen {
  const all = { ...before, delete: leaving, renumber: renumbered, create: arriving, ...counts }
  return { ...quiet, ours, counts: all, ...changes }
}
const tripped = (what: Seen, within = limits): string[] =>
  tripsOf(what, within).flatMap(({ name, isToldOn }) => (isToldOn === true ? [] : name))
const changing = (kind: FactKind, listings: number): What => ({ counts: { [kind]: listings } })
/** What would become of the site. */
const outlook = (leaving: number, changed = 0, arriving = 0) => {
  const tally = { ...before, delete: leaving, gone: leaving, changed, create: arriving }
  return { outlook: tally, own: tally }
}

describe('what is allowed', () => {
  test.each([
    [2, 2, 2, 10],
    [3, 1, 1, 10],
    [4, 2, 1, 10],
    [8, 3, 1, 10],
    [15, 3, 3, 11],
    [40, 8, 8, 30],
    [100, 20, 20, 75],
    [600, 120, 120, 450],
    [60_000, 12_000, 12_000, 45_000],
  ])('of %i: %i may leave, %i change a fact that seldom changes, %i be new', (ours, leave, change, come) => {
    expect(allowed({ ours, isRare: false }, limits)).toBe(leave)
    expect(allowed({ ours, isRare: false }, limits, true)).toBe(change)
    expect(allowedNew({ ours, isRare: false }, limits)).toBe(come)
  })

  test('twice as much where no complete delivery came for long, and never more than half', () => {
    expect(allowed({ ours: 100, isRare: true }, limits)).toBe(40)
    expect(allowed({ ours: 8, isRare: true }, limits)).toBe(4)
    expect(allowed({ ours: 34, isRare: true }, limits)).toBe(13)
    expect(allowed({ ours: 9, isRare: true }, limits, true)).toBe(3)
    expect(allowedNew({ ours: 15, isRare: true }, limits)).toBe(22)
    expect(allowed({ ours: 100, isRare: true }, { ...limits, share: 100 })).toBe(50)
    expect(allowedNew({ ours: 4, isRare: true }, limits)).toBe(20)
  })
})

describe('each rule trips above its number, and not at it', () => {
  test.each<[string, Seen, Seen]>([
    ['leaving', seen(40, { leaving: 8 }), seen(40, { leaving: 9 })],
    ['leaving', seen(40, { renumbered: 8 }), seen(40, { renumbered: 9 })],
    ['arriving', seen(40, { arriving: 30 }), seen(40, { arriving: 31 })],
    ...factKinds.map((kind): [string, Seen, Seen] => [
      'facts',
      seen(40, changing(kind, 8)),
      seen(40, changing(kind, 9)),
    ]),
    [
      'older',
      seen(40, { wasOlder: true, creates: 9, back: 3, backBefore: 2, deletes: 9, young: 3, youngBefore: 3 }),
      seen(40, { wasOlder: true, creates: 9, back: 3, backBefore: 3, deletes: 9, young: 3, youngBefore: 3 }),
    ],
    [
      'older',
      seen(40, { creates: 4, back: 2, deletes: 3, young: 3 }),
      seen(40, { creates: 4, back: 4, deletes: 3, young: 3 }),
    ],
    [
      'older',
      seen(40, { creates: 5, back: 3, deletes: 3, young: 3 }),
      seen(40, { older: { written: 'Mon 1 Dec 01:00', last: 'Tue 2 Dec 01:00' } }),
    ],
    ['unrecognisable', seen(40, outlook(20, 10, 0)), seen(40, outlook(20, 11, 0))],
    ['chatbot', seen(32, { missing: 8 }), seen(31, { missing: 9 })],
    ['chatbot', seen(40, { editedAgain: 8 }), seen(40, { editedAgain: 9 })],
    ['chatbot', seen(40, { strange: 3 }), seen(40, { strange: 1, missing: 1 })],
    ['chatbot', seen(32, { missing: 12, isRare: true }), seen(32, { missing: 12, isRare: true, otherKeys: true })],
  ])('%s', (rule, at, above) => {
    expect(tripped(at)).toEqual([])
    expect(tripped(above)).toEqual([rule])
  })

  test('in a small office half is too much, with one or two listings nothing can be told', () => {
    expect(tripped(seen(3, { leaving: 2 }))).toEqual(['leaving'])
    expect(tripped(seen(8, { leaving: 4 }))).toEqual(['leaving'])
    expect(tripped(seen(2, { leaving: 2, ...outlook(2, 0, 0) }))).toEqual([])
  })

  test('where too many leave, no more may come than stay', () => {
    expect(tripped(seen(40, { leaving: 30, arriving: 10 }))).toEqual(['leaving'])
    expect(tripped(seen(40, { leaving: 30, arriving: 11 }))).toEqual(['leaving', 'arriving'])
  })

  test('during the first load all sleep but what nobody would recognise and the chatbot; of a chatbot of its own what leaves counts from then on', () => {
    const all = { leaving: 30, renumbered: 30, arriving: 1000, creates: 9, back: 9, deletes: 9, young: 9 }
    const first = seen(40, { ...all, ...changing('price', 40), isFirstLoad: true })
    expect(tripped(first)).toEqual([])
    expect(tripped({ ...first, isMirror: true })).toEqual(['leaving'])
    expect(tripped({ ...first, ...outlook(40, 0, 0) })).toEqual(['unrecognisable'])
  })

  test('new listings drown an office only where more come than may', () => {
    const drowned = (arriving: number): string[] => tripped(seen(3, outlook(0, 0, arriving)))
    expect([drowned(10), drowned(11)]).toEqual([[], ['unrecognisable']])
  })

  test('the last one or two listings wait to be said again, from three on it asks', () => {
    const emptied = (ours: number): string[] =>
      tripped(seen(ours, { isEmpty: true, leaving: ours, ...outlook(ours, 0, 0) }))
    expect(emptied(1)).toEqual(['leaving'])
    expect(emptied(2)).toEqual(['leaving'])
    expect(emptied(3)).toEqual(['unrecognisable', 'leaving'])
    // Also where not all of them can go, and before a whole delivery was carried over.
    const single = seen(2, { isEmpty: true, leaving: 1, ...outlook(1, 0, 0) })
    expect([tripped(single), tripped({ ...single, isFirstLoad: true })]).toEqual([['leaving'], ['leaving']])
  })
})

describe('facts', () => {
  const was = listing('A', {
    Address: '1 Main Street',
    Description: 'A home.',
    Images: ['https://a.example/1.jpg'],
    Latitude: 42,
    Longitude: -93,
    SalePrice: 300_000,
  })
  const broken = (changes: Partial<Listing>): FactKind[] => factsBroken(was, { ...was, ...changes })
  test.each<[FactKind[], Partial<Listing>]>([
    [['price'], { SalePrice: 451_000 }],
    [['price'], { SalePrice: 199_000 }],
    [['price'], { SalePrice: 1 }],
    [['price'], { SalePrice: undefined }],
    [[], { SalePrice: 450_000 }],
    [['class'], { CurrencySymbol: '€' }],
    [['class'], { AreaUnit: 'Square Meters', BuildingArea: 167, LotArea: 743 }],
    [['class'], { PropertyType: 'Land' }],
    [[], { PropertyType: 'single-family' }],
    [['status'], { Status: 'Sold' }],
    [['place'], { City: 'Shelbyville' }],
    [['place'], { Latitude: 42.02 }],
    [[], { Latitude: 42.01, Longitude: -93.005 }],
    [['place'], { Latitude: undefined, Longitude: undefined }],
    [['place'], { Latitude: 0, Longitude: 0 }],
    [['place'], { City: undefined }],
    [['place'], { Address: undefined }],
    [['size'], { BuildingArea: 1800 * 1.6 }],
    [['size'], { Bedrooms: 5 }],
    [['size'], { Bedrooms: 0 }],
    [['size'], { YearBuilt: 2000 }],
    [[], { Bedrooms: 4, YearBuilt: 1995, BuildingArea: 2000 }],
    [['emptied'], { Images: [] }],
    [['emptied'], { Description: undefined }],
    [[], { Images: ['https://b.example/1.jpg'], Description: 'Another text.' }],
    [['class'], { SaleType: 'for_rent' }],
    [['size'], { LotArea: 2000 }],
    [['size'], { Bathrooms: 0 }],
    ...['Une propriÃ©tÃ© Ã  MontrÃ©al', 'Une propri?t?', '????', 'Une propri\uFFFDt\uFFFD'].map(
      (Description): [FactKind[], Partial<Listing>] => [['garbled'], { Description }],
    ),
    [['garbled'], { Address: '12 rue de l?Ã©glise' }],
    [[], { Description: 'A home? Yes, with a view? Sure.' }],
    [[], { Url: 'https://other.example', DaysOnMarket: 300, ExtensionColumn: [] }],
  ])('%j: %j', (kinds, changes) => {
    expect(broken(changes)).toEqual(kinds)
  })

  test('a price for no price, a rent too, and the last room', () => {
    for (const none of [0, 1, undefined]) {
      expect(broken({ SalePrice: none })).toEqual(['price'])
      expect(factsBroken({ ...was, RentPrice: 900 }, { ...was, RentPrice: none })).toEqual(['price'])
    }
    // One room is less than two, but none is a home that cannot be.
    for (const room of ['Bedrooms', 'Bathrooms'])
      expect(factsBroken({ ...was, [room]: 1 }, { ...was, [room]: 0 })).toEqual(['size'])
  })

  test('what was missing and now comes breaks nothing', () => {
    const bare = listing('A', { SalePrice: 0, City: '', YearBuilt: 0, Bedrooms: 0, Bathrooms: 0, LotArea: 0 })
    expect(factsBroken(bare, { ...was, BuildingArea: bare.BuildingArea })).toEqual([])
  })
})

describe('a home', () => {
  const home = (Address: string, City = 'Waterloo', ZIP = '50701'): string | null => homeHashOf({ Address, City, ZIP })
  test('is the same however its address is spelled, and another one with another number, unit or town', () => {
    const known = home('12 North Main Street, Apt. 4')
    expect(known).not.toBeNull()
    for (const same of ['12 N MAIN ST #4', '12 n. main st unit 4', '12 North  Main St. Apartment 4'])
      expect(home(same)).toBe(known)
    for (const other of ['12 N Main St #5', '14 N Main St #4', '12 N Main St']) expect(home(other)).not.toBe(known)
    expect(home('12 N Main St #4', 'Dike')).not.toBe(known)
  })
  test.each(['', 'Main Street', 'Address withheld', '12'])('%j names none', (address) => {
    expect(home(address)).toBeNull()
  })
})

describe('what is held of a change', () => {
  const trips = (what: What) => tripsOf(seen(40, what), limits)
  const beside = { remembered: nothing, pair: null, heldBeside: null }
  const judged = (action: Parameters<typeof judge>[0], what: What, pair: Pair | null = null, remembered = nothing) =>
    judge(action, { ...beside, pair, remembered }, trips(what), policy)

  test('of a fact the kind alone; another edit of the listing goes on', () => {
    const update = updateOf('A', {
      fields: [
        { field: 'SalePrice', from: 300_000, to: 30_000_000 },
        { field: 'Bedrooms', from: 3, to: 4 },
      ],
      broken: ['price'],
    })
    expect(judged(update, changing('price', 20))).toMatchObject({
      change: { kind: 'update', withheld: ['SalePrice'] },
      weighed: { counts: [] },
    })
    const alone = { ...update, fields: update.fields.slice(0, 1) }
    expect(judged(alone, changing('price', 20))).toMatchObject({
      change: { kind: 'hold' },
      weighed: { heldParts: [{ part: 'update price' }] },
    })
    for (const cause of ['refresh', 'drifted', 'never-sent'] as const)
      expect(judged({ ...alone, cause, broken: [] }, changing('price', 20))).toBeNull()
  })

  test('of a create of what vanished, as of its update, and no more because all of that was held before', () => {
    const fields = [
      { field: 'SalePrice', from: 300_000, to: 30_000_000 },
      { field: 'Bedrooms', from: 3, to: 4 },
    ] as const
    const create = createOf('A', { cause: 'gone-from-service', fields, broken: ['price'] })
    const whole = {
      part: 'update',
      content: null,
      since: 1,
      ends: 'never',
      clock: null,
      isOfRule: true,
      decision: null,
    } as const
    const before = (decision: 'refused' | null) => ({ ...nothing, holds: [{ ...whole, decision }] })
    const withheld = { change: { kind: 'create', withheld: ['SalePrice'] } }
    expect(judged(create, changing('price', 20), null, before(null))).toMatchObject(withheld)
    expect(judged(create, {}, null, before('refused'))).toMatchObject({
      change: { kind: 'create', withheld: ['SalePrice', 'Bedrooms'] },
    })
  })

  test('a create of what vanished that was approved whole takes along its price, though another one was held', () => {
    const fields = [{ field: 'SalePrice', from: 300_000, to: 30_000_000 }] as const
    const create = createOf('A', { cause: 'gone-from-service', fields, broken: ['price'] })
    const approved = { since: 1, isOfRule: true, decision: 'approved' } as const
    const before = (content: string) => ({
      ...nothing,
      holds: [
        { ...approved, part: 'create', content, ends: 'never', clock: null },
        { ...approved, part: 'update price', content: 'another price', ends: 'confirmed', clock: 1 },
      ] as const,
    })
    expect(judged(create, changing('price', 20), null, before('create'))!.change).toEqual(create)
    expect(judged(create, changing('price', 20), null, before('another'))).toMatchObject({
      change: { kind: 'create', withheld: ['SalePrice'] },
    })
  })

  test('a unit or a currency takes the amounts along that it is of', () => {
    const update = updateOf('A', {
      fields: [
        { field: 'AreaUnit', from: 'Square Feet', to: 'Square Meters' },
        { field: 'BuildingArea', from: 1800, to: 167 },
        { field: 'SalePrice', from: 300_000, to: 310_000 },
      ],
      broken: ['class'],
    })
    const held = (fields: typeof update.fields) => judged({ ...update, fields }, changing('class', 20))?.change
    expect(held(update.fields)).toMatchObject({ withheld: ['AreaUnit', 'BuildingArea'] })
    expect(held(update.fields.slice(1))).toBeUndefined()
  })

  test('another unit with the same numbers is another size, too', () => {
    const fields = [{ field: 'AreaUnit', from: 'Square Feet', to: 'Square Meters' }] as const
    const update = updateOf('A', { fields, broken: ['class', 'size'] })
    const heldParts = judged(update, { counts: { class: 20, size: 20 } })!.weighed.heldParts.map(({ part }) => part)
    expect(heldParts).toEqual(['update class', 'update size'])
  })

  test('renumbered: the pair, every other create, and of other deletes those of homes without an address', () => {
    const renumbered = { renumbered: 30 }
    // Beside what the list lacks nothing tells whether its home is on the site: it waits until the list is believed.
    expect(judged(createOf('B'), { missing: 30 }, 'missing')!.change.kind).toBe('hold')
    expect(judged(createOf('B'), { missing: 30 })).toBeNull()
    expect(judged(deleteOf('A'), renumbered, 'renumbered')!.change.kind).toBe('hold')
    expect(judged(createOf('B'), renumbered, 'renumbered')!.change.kind).toBe('hold')
    expect(judged(createOf('C'), renumbered)!.change.kind).toBe('hold')
    expect(judged(deleteAbsentOf('D'), renumbered)!.change.kind).toBe('hold')
    expect(judged(deleteAbsentOf('E', 1, '12 Elm St'), renumbered)).toBeNull()
    expect(judged(deleteOf('F'), renumbered)).toBeNull()
    expect(judged(deleteOf('A'), { leaving: 30 }, 'renumbered')).toMatchObject({
      change: { kind: 'delete' },
      weighed: { counts: ['renumber'] },
    })
  })

  test('what another feed has is forgotten whatever the list lacks', () => {
    expect(judged(takenOf('A'), { missing: 20 })).toBeNull()
    expect(judged(forgetOf('A'), { missing: 20 })!.change.kind).toBe('hold')
  })

  const held = (changes: Partial<HoldRecord>) => ({
    ...nothing,
    heldSince: now,
    holds: [
      {
        part: 'delete',
        content: 'delete',
        since: now,
        ends: 'confirmed',
        clock: now,
        isOfRule: true,
        decision: null,
        ...changes,
      } as const,
    ],
  })
  test.each<[string, Partial<HoldRecord>, 'hold' | 'delete']>([
    ['held for less than `confirm`', { clock: now - 71 * hour }, 'hold'],
    ['confirmed', { clock: now - 72 * hour }, 'delete'],
    ['another one than was held', { clock: now - 100 * hour, content: 'other' }, 'hold'],
    ['of a store that did not note what was held', { clock: now - 100 * hour, content: null }, 'delete'],
    ['approved', { decision: 'approved' }, 'delete'],
    ['refused', { decision: 'refused', clock: now - 100 * hour }, 'hold'],
    ['asked about alone for so long', { ends: 'never', clock: null, since: now - 72 * hour }, 'delete'],
    ['asked about alone for less', { ends: 'never', clock: null, since: now - 71 * hour }, 'hold'],
    [
      'kept by a record without MLSNumber',
      { ends: 'never', clock: null, since: now - 100 * hour, isOfRule: false },
      'hold',
    ],
  ])('%s', (_, changes, kind) => {
    expect(judged(deleteOf('A'), { leaving: 30 }, null, held(changes))!.change.kind).toBe(kind)
  })

  test('approved or confirmed, it counts for nothing once it is carried out', () => {
    for (const letGo of [{ decision: 'approved' }, { clock: now - 72 * hour }] as const)
      expect(judged(deleteOf('A'), {}, null, held(letGo))).toMatchObject({
        change: { kind: 'delete' },
        weighed: { counts: [] },
      })
  })

  test('let go by another list of the chatbot, it counts: the feed has not confirmed it', () => {
    const listed = held({ ends: 'listed again', clock: now - hour })
    expect(judged(deleteOf('A'), { missing: 20 }, null, listed)).toMatchObject({
      change: { kind: 'delete' },
      weighed: { counts: ['delete'] },
    })
  })

  test('asked about alone, what the feed says for as long says nothing of the list', () => {
    const asked = held({ part: 'create', content: 'create', ends: 'never', clock: null, since: now - 100 * hour })
    const create = createOf('A', { cause: 'gone-from-service' })
    expect(judged(create, { missing: 20 }, null, asked)!.change.kind).toBe('hold')
    expect(judged(create, {}, null, asked)!.change.kind).toBe('create')
  })

  test('under other keys, nothing lets go of what the list lacks, whatever its clock is from', () => {
    const create = createOf('A', { cause: 'gone-from-service' })
    for (const ends of ['never', 'confirmed'] as const) {
      const remembered = held({ part: 'create', content: 'create', ends, clock: now - 100 * hour })
      const under = (isListedAgain: boolean) =>
        judge(create, { remembered, pair: null, heldBeside: null }, trips({ missing: 20 }), {
          ...policy,
          isListedAgain,
        })
      expect(under(false)!.change.kind).toBe('hold')
      expect(under(true)!.change.kind).toBe('create')
    }
  })

  test('one of two of a home waits with the other, whatever was let go of it', () => {
    const approved = held({ part: 'create', content: 'create', decision: 'approved' })
    const besideHeld = (about: What) =>
      judge(createOf('B'), { remembered: approved, pair: 'renumbered', heldBeside: 'A: held' }, trips(about), policy)!
    expect(judged(createOf('B'), { renumbered: 30 }, 'renumbered', approved)!.change.kind).toBe('create')
    expect(besideHeld({ renumbered: 30 }).change).toMatchObject({ kind: 'hold', cause: 'guard' })
    // The guard does not hold it, and what was let go of it stays so.
    expect(besideHeld({})).toMatchObject({
      change: { kind: 'hold', cause: 'other-number', isConflict: false },
      weighed: { heldParts: [], released: ['create'] },
      letGo: [],
    })
  })

  test('refused: held without any rule', () => {
    expect(judged(deleteOf('A'), {}, null, held({ decision: 'refused' }))!.change).toMatchObject({ cause: 'guard' })
  })

  test('of two facts of an update of which one was refused, each goes by its own', () => {
    const update = updateOf('A', {
      fields: [
        { field: 'SalePrice', from: 300_000, to: 30_000_000 },
        { field: 'Bedrooms', from: 3, to: 9 },
      ],
      broken: ['price', 'size'],
    })
    const refused = held({ part: 'update price', content: 'update price', decision: 'refused' })
    const both = [...trips(changing('price', 20)), ...trips(changing('size', 20))]
    const by = judge(update, { ...beside, remembered: refused }, both, policy)!.heldBy
    expect(by.map(({ trip, wait }) => [trip?.fact, wait])).toEqual([
      ['price', 'whoever refused it'],
      ['size', now],
    ])
  })

  test('nothing confirms what asks a person, an incomplete delivery confirms nothing, nor does `confirm: never`', () => {
    const old = held({ clock: now - 100 * hour })
    const all = outlook(40, 0, 0)
    expect(judged(deleteOf('A'), all, null, old)!.change.kind).toBe('hold')
    const leaving = trips({ leaving: 30 })
    for (const other of [{ isWhole: false }, { confirm: null }])
      expect(judge(deleteOf('A'), { ...beside, remembered: old }, leaving, { ...policy, ...other })!.change.kind).toBe(
        'hold',
      )
  })

  test('while a person is asked each rule says on what it found, and holds nothing else for that', () => {
    const found = tripsOf(seen(40, { arriving: 12, ...outlook(31, 0, 12) }), limits)
    expect(found.map(({ name, isToldOn }) => [name, isToldOn])).toEqual([
      ['unrecognisable', false],
      ['leaving', true],
      ['arriving', true],
    ])
    const confirmed = held({ part: 'delete', content: 'delete', ends: 'never', clock: now - 80 * hour })
    const judged = (trips: Trip[]) => judge(deleteOf('A'), { ...beside, remembered: confirmed }, trips, policy)
    expect(judged(found)!.weighed.heldParts).toMatchObject([
      { rules: ['unrecognisable', 'leaving'], ends: 'confirmed' },
    ])
    expect(judged(found.slice(1))!.change.kind).toBe('delete')
    expect(judge(createOf('B'), { ...beside, remembered: nothing }, found.slice(1), policy)).toBeNull()
    expect(judge(createOf('B'), { ...beside, remembered: nothing }, found, policy)!.weighed.heldParts).toMatchObject([
      { rules: ['unrecognisable'] },
    ])
  })

  test('what the list lacks goes when another complete list says so an hour later, with the same keys', () => {
    const create = createOf('A', { cause: 'gone-from-service' })
    const listed = (ago: number) => held({ part: 'create', content: 'create', ends: 'listed again', clock: now - ago })
    const missing = trips({ missing: 20 })
    expect(judge(create, { ...beside, remembered: listed(59 * 60_000) }, missing, policy)!.change.kind).toBe('hold')
    expect(judge(create, { ...beside, remembered: listed(hour) }, missing, policy)!.change.kind).toBe('create')
    expect(
      judge(create, { ...beside, remembered: listed(hour) }, missing, { ...policy, isListedAgain: false })!.change.kind,
    ).toBe('hold')
  })

  test('the same hold although what no visitor relies on changes, another one where a fact does', () => {
    const described = listing('A', { Description: 'A' })
    const content = (changes: Partial<Listing>): string => contentOf('create', { ...described, ...changes }, volatile)
    expect(content({ Description: 'B', DaysOnMarket: 99, Url: 'https://x.example' })).toBe(content({}))
    expect(content({ SalePrice: 1 })).not.toBe(content({}))
    // Photos are cosmetic, their loss is not. A price is seen by itself.
    const broken = (...kinds: FactKind[]): string => contentOf('create', described, volatile, kinds)
    expect(broken('price')).toBe(content({}))
    expect(broken('price', 'emptied')).not.toBe(content({}))
    expect(contentOf('update price', { ...described, Bedrooms: 9 }, volatile)).toBe(
      contentOf('update price', described, volatile),
    )
  })

  test('a fact and a whole action are known as versions before noted them', () => {
    const full = listing('A', { SalePrice: 7, BuildingArea: 1, LotArea: 2, Bedrooms: 3, Bathrooms: 4, YearBuilt: 5 })
    const noted = (...values: (number | null)[]): string => shortHash(JSON.stringify(values))
    expect(contentsBefore('update price', full, '')).toEqual([noted(7, null)])
    expect(contentsBefore('update size', full, '')).toEqual([noted(1, 2, 3, 4, 5), noted(1, 2, 3, 4, 5, null)])
    expect(contentsBefore('delete', null, '')).toEqual([])
    // A whole action, without the facts that nothing else of it tells.
    const whole = (...kinds: FactKind[]): string => contentOf('update', full, volatile, kinds)
    const before = contentHash(full, new Set([...volatile, ...cosmetic]))
    for (const content of [whole(), whole('emptied')]) expect(contentsBefore('update', full, content)).toEqual([before])
    expect(contentsBefore('update price', null, '')).toEqual([])
  })
})

describe('the scales', () => {
  const of = (part: HoldRecord['part'], changes: Partial<HoldRecord>): HoldRecord => ({
    part,
    content: null,
    since: now,
    ends: 'confirmed',
    clock: now,
    isOfRule: true,
    decision: null,
    ...changes,
  })

  test('count within 24 hours, and nothing twice, nor what is approved or confirmed', () => {
    const scales = new Scales(policy, { ...before, delete: 3, changed: 2, price: 2 })
    const add = (change: Action, remembered = nothing): void => scales.add({ change, remembered, pair: null })
    add(deleteOf('A'))
    add(deleteOf('B'), { ...nothing, counted: ['delete'] })
    add(deleteOf('C'), { ...nothing, holds: [of('delete', { decision: 'approved' })] })
    add(deleteOf('D'), { ...nothing, holds: [of('delete', { clock: now - 80 * hour })] })
    add(createOf('E'))
    add(createOf('F', { isBack: true }))
    add(updateOf('G', { broken: ['price', 'status'] }))
    add(updateOf('H', { broken: ['price'] }), {
      ...nothing,
      holds: [of('update price', { decision: 'approved' })],
    })
    const waited = { clock: now - 80 * hour }
    add(createOf('J'), { ...nothing, holds: [of('create', { decision: 'approved' })] })
    add(createOf('K'), { ...nothing, holds: [of('create', waited)] })
    add(createOf('L'), { ...nothing, counted: ['create'] })
    add(updateOf('M', { broken: ['status'] }), { ...nothing, holds: [of('update status', waited)] })
    add(updateOf('N', { broken: ['status'] }), { ...nothing, counted: ['status'] })
    add(forgetOf('I'))
    expect(scales.figures).toMatchObject({
      counts: { delete: 4, create: 1, price: 3, status: 1 },
      creates: 4,
      back: 1,
      deletes: 3,
      outlook: { delete: 5, changed: 4, create: 2 },
      own: { delete: 5, changed: 4, create: 2 },
      missing: 1,
    })
  })

  test.each<[string, Partial<HoldRecord>, number]>([
    ['held', {}, 1],
    ['let go by another list, as the feed has not confirmed it', { ends: 'listed again', clock: now - hour }, 1],
    ['approved', { ends: 'listed again', decision: 'approved' }, 0],
    ['confirmed', { clock: now - 72 * hour }, 0],
  ])('one of a pair is neither leaving nor arriving: %s', (_, about, renumber) => {
    const holds = [of('delete', about)]
    const scales = new Scales(policy, before)
    for (const action of [deleteOf('A'), createOf('B')]) {
      scales.add({ change: action, remembered: { ...nothing, holds }, pair: 'renumbered' })
    }
    expect(scales.figures).toMatchObject({ counts: { delete: 0, create: 0, renumber } })
  })
})

test('a message says what, of how many, against which number, and what happens next', () => {
  const counts = { create: 0, update: 0, delete: 14, adopt: 0, forget: 0 }
  const sentence = (what: Seen, clock: number | null = now, confirm: number | null = 72 * hour, held = {}): string =>
    sentenceOf(
      tripsOf(what, limits)[0],
      { counts, clock, last: now, refused: 0, asking: 0, absent: 0, ...held },
      { feed: 'north', timezone: 'America/Chicago', confirm, now },
    )
  expect(sentence(seen(40, { leaving: 14 }))).toBe(
    '14 of 40 listings would leave the site; up to 8 may in 24 hours (limits.share). Held: 14 deletes. They go by themselves on Tue 24 Nov 06:00 if the feed still says so; now: listing-sync approve north',
  )
  expect(sentence(seen(40, { leaving: 14 }), now, null)).toContain(
    'Held: 14 deletes. They wait for you; now: listing-sync approve north',
  )
  const leaving14 = (held: object, clock: number | null = now): string =>
    sentence(seen(40, { leaving: 14 }), clock, 72 * hour, held)
  expect(leaving14({ last: now + hour })).toContain('They go by themselves from Tue 24 Nov 06:00 on, if the feed still')
  // Where a delivery or list was cut, a clock runs out and nothing goes: the next whole one lets it go.
  expect(leaving14({ last: now - 73 * hour }, now - 73 * hour)).toContain(
    'They go by themselves with the next complete delivery that still says so; now: listing-sync approve north',
  )
  expect(leaving14({ refused: 3 })).toContain(
    'if the feed still says so, but for 3 that were refused; now: listing-sync',
  )
  expect(leaving14({ refused: 14 }, null)).toContain(
    'They were refused, so that only the feed or an approval ends them; now: l',
  )
  const missing20 = (held: object): string => sentence(seen(40, { missing: 20 }), null, 72 * hour, held)
  expect(missing20({ refused: 14 })).toContain(
    'They were refused, so that only the feed, a later list of the chatbot or an approval ends them; now: listing-sync',
  )
  expect(missing20({ counts: { ...counts, delete: 0, create: 1 }, refused: 1 })).toContain(
    'Held: 1 create. It was refused, so that only the feed, a later list of the chatbot or an approval ends it; now: listing-sync',
  )
  expect(sentence(seen(4, { leaving: 1, isEmpty: true }))).toContain(
    '1 of 4 listings would leave the site, as the delivery is whole and has no record. Held: ',
  )
  expect(tripsOf(seen(40, { leaving: 30, arriving: 11 }), limits)[1]).toMatchObject({
    setting: null,
    sentence: '11 new listings beside 40; where so many leave, no more may come than the 10 that stay',
  })
  expect(sentence(seen(40, outlook(38, 0, 0)))).toBe(
    'after this delivery 2 of 40 listings would stay as they are. Nothing of it is carried out until the feed is back or you approve it',
  )
})

test('of one listing they speak as of one', () => {
  const found = (what: Seen, rule: string): string | undefined =>
    tripsOf(what, limits).find(({ name }) => name === rule)?.sentence
  expect(found(seen(4, { leaving: 4, arriving: 1 }), 'arriving')).toMatch(/^1 new listing beside 4; /)
  expect(found(seen(4, { leaving: 3, arriving: 2 }), 'arriving')).toMatch(/than the 1 that stays$/)
  expect(found(seen(4, { missing: 1, strange: 1 }), 'chatbot')).toBe(
    "1 of 4 listings is missing from the chatbot's list, and 1 is there under an MLSNumber that this feed never wrote",
  )
})

describe('the map of rules', () => {
  test.each(rules.map((rule) => [rule.name, rule] as const))('%s', (_, rule) => rulesHold(rule))

  test('takes one more', () => {
    const toy: Rule = ({ counts: { price }, ours }) => {
      if (price <= ours / 2) return null
      return {
        name: 'facts',
        setting: 'share',
        label: 'too many prices change',
        numbers: { listings: price, ours },
        sentence: `${price} of ${ours} listings would change their price (limits.share)`,
        holds: (action) => action.kind === 'update' && action.broken.includes('price'),
      }
    }
    rulesHold(toy)
    const found = tripsOf(seen(100, changing('price', 51)), limits, [...rules, toy])
    expect(found.at(-1)!.sentence).toBe('51 of 100 listings would change their price (limits.share)')
    expect(found.at(-1)!.holds(updateOf('A', { broken: ['price'] }), null, false)).toBe(true)
  })
})
