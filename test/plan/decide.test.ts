/** The decision table of the design, row by row; each test names its row. */
import { describe, expect, test } from 'vitest'
import { contentHash } from '../../src/core/hash.ts'
import type { Listing } from '../../src/core/listing.ts'
import { nextTurn } from '../../src/core/turn.ts'
import { minuteIn } from '../../src/core/zone.ts'
import { clearedWith, fieldsOf } from '../../src/plan/change.ts'
import type { Change } from '../../src/plan/change.ts'
import type { HeldPart } from '../../src/plan/guard/hold.ts'
import type { PlanSettings } from '../../src/plan/inputs.ts'
import { homeHashOf } from '../../src/core/home-hash.ts'
import { situations } from '../../src/plan/situation.ts'
import { looksUp } from '../support/changes.ts'
import { PlanWorld, day, limits, listing, minute, now } from '../support/plan-world.ts'

const A = listing('A')
const cheaper = listing('A', { SalePrice: 340_000 })
const foreign = { owner: null }

async function only(
  world: PlanWorld,
  settings: Partial<PlanSettings> = {},
): Promise<Pick<Change, 'kind' | 'cause' | 'why'> | 'unchanged' | 'nothing'> {
  const { changes, unchanged } = await world.plan(settings)
  expect(changes.length + unchanged).toBeLessThanOrEqual(1)
  if (unchanged === 1) return 'unchanged'
  if (changes.length === 0) return 'nothing'
  const { kind, cause, why } = changes[0]
  return { kind, cause, why }
}

describe('the feed holds a listing', () => {
  test('not remembered, not shown: create', async () => {
    expect(await only(new PlanWorld().delivers(A))).toMatchObject({ kind: 'create', cause: 'new' })
  })
  test('a plain create after a complete list needs no look-up; after an incomplete one it does', async () => {
    const incomplete = { complete: false, reasons: ['page 3 failed'] }
    expect(looksUp((await new PlanWorld().delivers(A).plan()).changes[0])).toBe(false)
    expect(looksUp((await new PlanWorld().delivers(A).plan({ remote: incomplete })).changes[0])).toBe(true)
  })
  test('remembered, not shown: create, after a look-up', async () => {
    const { changes } = await new PlanWorld().delivers(A).remembers(A).plan()
    expect(changes).toMatchObject([{ kind: 'create', cause: 'gone-from-service', lookUp: true }])
  })
  test('remembered, not shown by an incomplete list: nothing, as it may be there', async () => {
    const remote = { complete: false, reasons: ['page 3 failed'] }
    expect(await only(new PlanWorld().delivers(A).remembers(A), { remote })).toBe('unchanged')
  })
  test('not remembered, shown as wanted: adopt', async () => {
    expect(await only(new PlanWorld().delivers(A).shows(A, foreign))).toMatchObject({
      kind: 'adopt',
      cause: 'as-wanted',
    })
  })
  test('not remembered, shown otherwise: update, with the fields', async () => {
    const { changes } = await new PlanWorld().delivers(cheaper).shows(A, foreign).plan()
    expect(changes).toMatchObject([
      { kind: 'update', cause: 'never-sent', fields: [{ field: 'SalePrice', from: 350_000, to: 340_000 }] },
    ])
  })
  test('remembered the same, shown as after our last write: nothing', async () => {
    expect(await only(new PlanWorld().delivers(A).remembers(A).shows(A, { kept: false }))).toBe('unchanged')
  })
  test('the very bytes of the snapshot: nothing', async () => {
    expect(await only(new PlanWorld().remembers(A).deliversUnchanged('A').shows(A, { kept: false }))).toBe('unchanged')
  })
  test('the very bytes of the snapshot, shown as before, with more known of it: as if all were looked at', async () => {
    // The world plans it in both ways, of which one passes over what nothing more is known of.
    const world = (): PlanWorld => new PlanWorld().remembers(A).deliversUnchanged('A').shows(A, { kept: false })
    const twice = await world()
      .delivers(listing('A', { SalePrice: 360_000 }))
      .plan()
    expect(twice.changes.map(({ cause }) => cause)).toEqual(['twice-delivered', 'twice-delivered'])
    expect((await world().shows(A, { hash: 'a copy' }).plan()).changes).toMatchObject([{ cause: 'twice-shown' }])
    expect(
      (
        await world()
          .wasAbsent('A', 1, now - day)
          .plan()
      ).notes,
    ).toEqual([{ op: 'returned', key: 'A' }])
    const waits = { content: '', since: now, ends: 'confirmed', clock: now, isOfRule: true, decision: null } as const
    const held = async (part: HeldPart) =>
      (
        await world()
          .held('A', { part, ...waits })
          .plan()
      ).notes
    expect(await held('delete')).toEqual([{ op: 'still-there', key: 'A' }])
    expect(await held('update price')).toEqual([])
    expect((await world().counted('A', 'price').plan()).facts.counted).toMatchObject({ price: 1, changed: 1 })
    // Without a list it is to be asked for where an attempt may have landed since.
    const suspect = new PlanWorld().remembers(A, { suspectUntil: now }).deliversUnchanged('A').shows(A, { kept: false })
    expect(await suspect.asks()).toBeNull()
  })
  test('the very bytes of the snapshot, and not shown: gone from the service', async () => {
    const gone = new PlanWorld().remembers(A).deliversUnchanged('A')
    expect(await only(gone)).toMatchObject({ kind: 'create', cause: 'gone-from-service' })
  })
  test('shown as before, and not delivered: absent', async () => {
    expect((await new PlanWorld().remembers(A).shows(A, { kept: false }).plan()).changes).toMatchObject([
      { kind: 'delete', cause: 'absent' },
    ])
  })
  test('remembered the same, shown otherwise than its baseline: drifted', async () => {
    const { changes } = await new PlanWorld()
      .delivers(A)
      .remembers(A)
      .shows(listing('A', { City: 'Shelbyville' }), { hash: 'edited' })
      .plan()
    expect(changes).toMatchObject([
      { kind: 'update', cause: 'drifted', fields: [{ field: 'City', from: 'Shelbyville', to: 'Springfield' }] },
    ])
  })
  test('remembered otherwise, and edited: what somebody put there, and the feed does not have, is cleared as well', async () => {
    const world = new PlanWorld()
      .delivers(cheaper)
      .remembers(A)
      .shows(listing('A', { HOAMonth: 90 }), { hash: 'edited' })
    const fields = [{ field: 'SalePrice', from: 350_000, to: 340_000 }]
    expect((await world.plan()).changes).toMatchObject([
      {
        kind: 'update',
        cause: 'changed',
        fields: [...fields, { field: 'HOAMonth', from: 90, to: null }],
      },
    ])
    expect((await world.plan({ drift: 'keep' })).changes).toMatchObject([{ cause: 'changed', fields }])
  })
  test('remembered with other fields left out of its content: nothing but the new content, unless one of them changed', async () => {
    const world = (listing: Listing): PlanWorld =>
      new PlanWorld()
        .delivers(listing)
        .remembers(A, { content: contentHash(A, new Set(['YearBuilt'])) })
        .shows(A)
    const { changes, unchanged, notes } = await world(A).plan()
    expect({ changes, unchanged, notes }).toEqual({
      changes: [],
      unchanged: 1,
      notes: [{ op: 'touch', snapshot: 1, position: 1 }],
    })
    expect((await world(listing('A', { YearBuilt: 1991 })).plan()).changes).toMatchObject([
      { kind: 'update', cause: 'changed', fields: [{ field: 'YearBuilt', from: 1990, to: 1991 }] },
    ])
  })
  test('shown otherwise than its baseline, as wanted: the baseline is written anew', async () => {
    const { unchanged, notes } = await new PlanWorld().delivers(A).remembers(A).shows(A, { hash: 'spelled' }).plan()
    expect(unchanged).toBe(1)
    expect(notes).toContainEqual({ op: 'baseline', key: 'A', hash: 'spelled' })
  })
  test('not looked at after it was sent, and shown as sent: that is its baseline', async () => {
    const world = new PlanWorld().delivers(A).remembers(A, { baseline: null }).shows(A, { hash: 'first' })
    const { unchanged, notes } = await world.plan()
    expect(unchanged).toBe(1)
    expect(notes).toContainEqual({ op: 'baseline', key: 'A', hash: 'first' })
  })
  test.each([
    ['overwrite', { kind: 'update', cause: 'unseen' }],
    ['report', { kind: 'hold', cause: 'drifted' }],
    ['keep', 'unchanged'],
  ] as const)('not looked at after it was sent, and shown otherwise, drift: %s', async (drift, step) => {
    const world = new PlanWorld().delivers(A).remembers(A, { baseline: null })
    world.shows(listing('A', { City: 'SPRINGFIELD' }))
    if (step === 'unchanged') expect(await only(world, { drift })).toBe(step)
    else expect(await only(world, { drift })).toMatchObject(step)
  })
  test('not looked at after it was sent, and shown in known forms alone: no edit', async () => {
    const world = new PlanWorld().delivers(A).remembers(A, { baseline: null })
    world.shows(listing('A', { City: 'SPRINGFIELD', RentPrice: 900 }), { hash: 'first' })
    expect(await only(world, { forms: new Set(['City']) })).toMatchObject({ kind: 'update', cause: 'unseen' })
    const forms = new Set(['City', 'RentPrice'] as const)
    const { unchanged, notes } = await world.plan({ forms })
    expect(unchanged).toBe(1)
    expect(notes).toContainEqual({ op: 'baseline', key: 'A', hash: 'first' })
    world.row('A').baseline = 'another'
    expect(await only(world, { forms })).toMatchObject({ kind: 'update', cause: 'drifted' })
  })
  test('confirmed and ignored by the service: told, and sent again a day later', async () => {
    const shown = listing('A', { SalePrice: 1 })
    const world = new PlanWorld().delivers(A).remembers(A, { ignored: true, baseline: 'before' })
    world.shows(shown, { hash: 'before' })
    expect(await only(world)).toMatchObject({
      kind: 'hold',
      cause: 'not-converging',
      why: 'not converging: the service confirmed it and goes on showing SalePrice as 1, not 350,000; sent again after a day',
    })
    world.row('A').sentAt = now - day
    expect(await only(world)).toMatchObject({ kind: 'update', cause: 'drifted' })
    const healed = new PlanWorld().delivers(A).remembers(A, { ignored: true, baseline: 'before' }).shows(A)
    expect((await healed.plan()).notes).toContainEqual({ op: 'baseline', key: 'A', hash: 'hash-A' })
  })
  test('no baseline is taken while an attempt of the last write may still land; after that a difference is sent again', async () => {
    const world = new PlanWorld()
      .delivers(A)
      .remembers(A, { baseline: null, suspectUntil: now + minute })
      .shows(cheaper, { hash: 'late' })
    expect((await world.plan()).notes).toEqual([
      { op: 'touch', snapshot: 1, position: 1 },
      { op: 'undecided', key: 'A' },
    ])
    expect((await world.plan({ remoteStartedAt: now + 2 * minute })).changes).toMatchObject([
      { kind: 'update', cause: 'unseen' },
    ])
  })
  test('changed in the feed: update, with the fields and what must disappear', async () => {
    const withRent = listing('A', { RentPrice: 1200 })
    const { changes } = await new PlanWorld()
      .delivers(cheaper)
      .remembers(withRent)
      .shows(withRent, { kept: false })
      .plan()
    expect(changes).toMatchObject([{ kind: 'update', cause: 'changed' }])
    expect(clearedWith(changes[0])).toEqual(['RentPrice'])
    expect(fieldsOf(changes[0])).toEqual([
      { field: 'SalePrice', from: 350_000, to: 340_000 },
      { field: 'RentPrice', from: 1200, to: null },
    ])
  })
  test('the mapping changed and the bytes did not: said as such', async () => {
    const world = new PlanWorld()
      .delivers(cheaper)
      .remembers(A, { raw: 'raw-1', mapping: 'mapping-0' })
      .shows(A, { kept: false })
    const { changes } = await world.plan()
    expect(changes).toMatchObject([{ kind: 'update', cause: 'mapping', why: 'the mapping changed' }])
  })
  test('only DaysOnMarket moved: nothing, until the refresh is due', async () => {
    const later = listing('A', { DaysOnMarket: 19 })
    const world = (sentAt: number): PlanWorld =>
      new PlanWorld().delivers(later).remembers(A, { sentAt }).shows(A, { kept: false })
    expect(await only(world(now - minute))).toBe('unchanged')
    expect((await world(now - 8 * day).plan()).changes).toMatchObject([
      { kind: 'update', cause: 'refresh', fields: [{ field: 'DaysOnMarket', from: 10, to: 19 }] },
    ])
  })
  test('DaysOnMarket is counted from the list date of an unparsed record', async () => {
    const world = new PlanWorld()
      .remembers(A, { sentAt: now - 8 * day }, { listedOn: '2026-11-01' })
      .deliversUnchanged('A')
      .shows(A, { kept: false })
    expect((await world.plan()).changes).toMatchObject([
      { cause: 'refresh', wanted: { snapshot: 1 }, fields: [{ field: 'DaysOnMarket', to: 20 }] },
    ])
  })
  test('an open house that is over leaves an unparsed record', async () => {
    const open = listing('A', { Tours: 'OpenHouse' })
    const world = new PlanWorld().remembers(
      open,
      { movesAt: now - minute },
      { openHouseUntil: now - minute, toursAfter: '3D' },
    )
    expect((await world.deliversUnchanged('A').shows(open, { kept: false }).plan()).changes).toMatchObject([
      { cause: 'changed', fields: [{ field: 'Tours', from: 'OpenHouse', to: '3D' }] },
    ])
  })
  test('shown twice: hold', async () => {
    expect(await only(new PlanWorld().delivers(cheaper).remembers(A).shows(A).shows(A))).toMatchObject({
      kind: 'hold',
      cause: 'twice-shown',
    })
  })
  test('another feed of the chatbot has it, by the store or by its mark: hold', async () => {
    expect(
      await only(new PlanWorld().delivers(A).remembers(A, { feed: 'south' }).shows(A, { owner: 'south' })),
    ).toMatchObject({ kind: 'hold', cause: 'other-feed', why: 'also in south, a feed of this chatbot that has it' })
    expect(await only(new PlanWorld().delivers(cheaper).shows(A, { owner: 'south' }))).toMatchObject({
      kind: 'hold',
      cause: 'other-feed',
    })
  })
  test('delivered twice, equal: once, counted as a duplicate', async () => {
    const { changes, facts } = await new PlanWorld().delivers(A).delivers(A).plan()
    expect(changes).toMatchObject([{ kind: 'create' }])
    expect(facts.duplicates).toBe(1)
  })
  test('delivered twice, differing: every one is held, naming both places', async () => {
    const { changes, facts } = await new PlanWorld().delivers(A).delivers(cheaper).remembers(A).shows(A).plan()
    expect(changes.map((change) => [change.kind, change.cause])).toEqual([
      ['hold', 'twice-delivered'],
      ['hold', 'twice-delivered'],
    ])
    expect(changes[0].why).toContain('record 1; record 2')
    expect(facts.duplicates).toBe(0)
  })
  test('delivered alive and gone at once: held, never deleted', async () => {
    expect(await only(new PlanWorld().delivers(A).says('removal', 'A').remembers(A).shows(A))).toMatchObject({
      kind: 'hold',
      cause: 'twice-delivered',
    })
  })
  test('the store was lost: creates wait', async () => {
    // What it remembers may be long over: a create that it has in flight may have been sent again since, and so may a listing.
    const begun = { owned: false, content: null, flight: 'create' as const, flightAt: now - day }
    const south = { feed: 'south' }
    const worlds = [new PlanWorld(), ...[{}, begun, south].map((row) => new PlanWorld().remembers(A, row))]
    for (const world of worlds)
      expect(await only(world.delivers(A), { lostUntil: now + minute, outranks: () => true })).toMatchObject({
        kind: 'hold',
        cause: 'lost-store',
      })
    expect(looksUp((await new PlanWorld().delivers(A).plan({ lostUntil: now })).changes[0])).toBe(true)
  })
  test('people are told of times in the zone of the feed', async () => {
    const timezone = 'America/Chicago'
    const at = minuteIn(timezone, now + minute)
    expect(at).not.toBe(minuteIn('UTC', now + minute))
    const absent = new PlanWorld().remembers(A).shows(A)
    const grace = { runs: 1, hours: 1 / 60 }
    const waits = { ...limits, grace }
    expect(await only(absent, { timezone, limits: waits })).toMatchObject({ why: expect.stringContaining(` ${at} `) })
    const unanswered = new PlanWorld()
      .delivers(A)
      .remembers(A, { owned: false, flight: 'create', flightAt: now - 14 * minute })
    expect(await only(unanswered, { timezone })).toMatchObject({ why: expect.stringMatching(` ${at}$`) })
    const anew = new PlanWorld().delivers(A)
    expect(await only(anew, { timezone, lostUntil: now + minute })).toMatchObject({
      why: expect.stringContaining(` ${at},`),
    })
  })
  test('refused before with this very content: not sent again until it changes, the mapping does, or a day has passed', async () => {
    const refused = (content: string, mapping: string, at: number): PlanWorld =>
      new PlanWorld().delivers(A).remembers(A, {
        owned: false,
        content: null,
        refusedContent: content,
        refusedMapping: mapping,
        refusedAt: at,
        refusedMessage: 'Url is taken',
      })
    const content = new PlanWorld().remembers(A).row('A').content!
    expect(await only(refused(content, 'mapping-1', now - minute))).toMatchObject({
      kind: 'hold',
      cause: 'refused-before',
    })
    expect(await only(refused(content, 'mapping-0', now - minute))).toMatchObject({ kind: 'create' })
    // What was refused may have been an update of what one list now lacks.
    expect(looksUp((await refused('other', 'mapping-1', now - minute).plan()).changes[0])).toBe(true)
    expect(await only(refused(content, 'mapping-1', now - day))).toMatchObject({ kind: 'create' })
  })
  test('put right three times running, and edited again each time: held as not converging', async () => {
    const world = (undone: number, putRight = now - 60 * minute): PlanWorld =>
      new PlanWorld()
        .delivers(A)
        .remembers(A, { undone, putRightAt: undone === 0 ? null : putRight })
        .shows(listing('A', { City: 'Ogdenville' }), { hash: 'edited' })
    expect(await only(world(0))).toMatchObject({ kind: 'update', cause: 'drifted' })
    expect((await world(0).plan()).changes).toMatchObject([{ again: false }])
    expect((await world(2).plan()).changes).toMatchObject([{ kind: 'update', cause: 'drifted', again: true }])
    expect(await only(world(3))).toMatchObject({
      kind: 'hold',
      cause: 'not-converging',
      why: 'not converging: drifted on the service again after it was sent again, though put right 3 times running: find what undoes it on the chatbot and stop it; it is put right again a week after the last time',
    })
    // A field that the service shows in its own form may move by itself.
    expect(await only(world(3), { forms: new Set(['City']) })).toMatchObject({
      why: expect.stringContaining(
        'if the service itself changes City, name that in volatile.fields, beside DaysOnMarket',
      ),
    })
    // Also in a night that begins a little later than the one before.
    expect((await world(2, now - day - minute).plan()).changes).toMatchObject([{ again: true }])
    expect((await world(2, now - 2 * day).plan()).changes).toMatchObject([{ again: false }])
    // Whoever edited it may have stopped: else it would be wrong for ever.
    // A nightly run may begin some minutes earlier than the one before.
    const least = 7 * day - 5 * minute
    expect(await only(world(3, now - least + 1))).toMatchObject({ kind: 'hold', cause: 'not-converging' })
    expect(await only(world(3, now - least))).toMatchObject({ kind: 'update', cause: 'drifted' })
    // At rest for a run, it is counted from the beginning.
    const atRest = new PlanWorld().delivers(A).remembers(A, { undone: 3 }).shows(A)
    expect((await atRest.plan()).notes).toContainEqual({ op: 'baseline', key: 'A', hash: 'hash-A' })
  })
})

describe('a call was in flight', () => {
  const flight = (kind: 'create' | 'update' | 'delete', age: number, owned = kind !== 'create'): PlanWorld =>
    new PlanWorld()
      .delivers(A)
      .remembers(A, { owned, flight: kind, flightAt: now - age, ...(!owned && { content: null }) })

  test('create, shown as wanted: taken over without a call', async () => {
    expect(await only(flight('create', minute).shows(A))).toMatchObject({ kind: 'adopt', cause: 'settle' })
  })
  test('create, shown otherwise: sent again as an update', async () => {
    expect(await only(flight('create', minute).shows(cheaper))).toMatchObject({ kind: 'update', cause: 'settle' })
  })
  test('create, absent, not settled: waits', async () => {
    expect(await only(flight('create', 14 * minute))).toMatchObject({ kind: 'hold', cause: 'in-flight' })
  })
  test('create, absent from a complete list begun after settle: created again', async () => {
    expect(await only(flight('create', 15 * minute))).toMatchObject({ kind: 'create', cause: 'new' })
  })
  const incomplete = { remote: { complete: false, reasons: ['cut'] } }
  test.each(['create', 'delete'] as const)(
    '%s, absent from an incomplete list: looked up, however old',
    async (kind) => {
      const firstLook = { kind: 'create', lookUp: true, cause: 'new', unsettled: true }
      for (const age of [minute, day])
        expect((await flight(kind, age, false).plan(incomplete)).changes).toMatchObject([firstLook])
    },
  )
  test('create, absent and looked up in vain: waits for `settle`, and is then looked up and created', async () => {
    const missed = (age: number): PlanWorld =>
      new PlanWorld()
        .delivers(A)
        .remembers(A, { owned: false, content: null, flight: 'create', flightAt: now - day, missedAt: now - age })
    const waiting = { kind: 'hold', cause: 'in-flight', isConflict: false }
    expect((await missed(15 * minute).plan(incomplete)).changes).toMatchObject([waiting])
    const due = { kind: 'create', lookUp: true, unsettled: false }
    expect((await missed(15 * minute + 1).plan(incomplete)).changes).toMatchObject([due])
    // A whole list begun after `settle` says it, too.
    expect((await missed(minute).plan()).changes).toMatchObject([due])
  })
  test('update, shown as wanted or not', async () => {
    expect(await only(flight('update', minute).shows(A))).toMatchObject({ kind: 'adopt', cause: 'settle' })
    expect(await only(flight('update', minute).shows(cheaper))).toMatchObject({ kind: 'update', cause: 'settle' })
  })
  test('taken off less than `settle` ago, delivered again, and shown: the list may be old, and nothing is taken over', async () => {
    const world = (ago: number) =>
      new PlanWorld()
        .delivers(A)
        .left('A', now - ago)
        .shows(A)
    expect(await only(world(14 * minute))).toMatchObject({ kind: 'hold', cause: 'in-flight' })
    expect(await only(world(15 * minute))).toMatchObject({ kind: 'adopt' })
  })
  test('delete, delivered again, absent: created only once the delete has settled', async () => {
    expect(await only(flight('delete', minute))).toMatchObject({ kind: 'hold', cause: 'in-flight' })
    expect(await only(flight('delete', 15 * minute))).toMatchObject({ kind: 'create' })
  })
  test('create, no longer in the feed: absent and settled it is forgotten, shown it is ours to delete', async () => {
    const left = (age: number): PlanWorld =>
      new PlanWorld().remembers(A, { owned: false, content: null, flight: 'create', flightAt: now - age })
    expect(await left(day).plan()).toMatchObject({ changes: [], notes: [{ op: 'forget-flight', key: 'A' }] })
    expect(await left(minute).plan()).toMatchObject({ changes: [], notes: [] })
    expect(await only(left(minute).shows(A))).toMatchObject({ kind: 'delete' })
    expect(await only(left(minute).shows(A, foreign), { ownership: 'snapshot' })).toMatchObject({ kind: 'delete' })
    // What we create bears our mark, so this was made by somebody else meanwhile.
    expect(await only(left(minute).shows(A, foreign))).toBe('nothing')
    const unreadable = { ...foreign, unreadable: ['ExtensionColumn' as const] }
    expect(await only(left(minute).shows(A, unreadable))).toMatchObject({ kind: 'delete' })
  })
})

describe('the feed does not hold the listing', () => {
  test('full and complete, ours, shown: delete', async () => {
    expect(await only(new PlanWorld().remembers(A).shows(A))).toMatchObject({
      kind: 'delete',
      cause: 'absent',
      why: 'gone from the feed',
    })
  })
  test('remembered, but by its mark another feed has it by now: forgotten, never deleted', async () => {
    for (const world of [new PlanWorld(), new PlanWorld().says('removal', 'A')])
      expect(await only(world.remembers(A).shows(A, { owner: 'south' }))).toEqual({
        kind: 'forget',
        cause: 'other-feed',
        why: 'feed south of this chatbot has it',
      })
  })
  test('ours by its mark alone: delete; with ownership snapshot the mark says nothing', async () => {
    expect(await only(new PlanWorld().shows(A))).toMatchObject({ kind: 'delete' })
    expect(await only(new PlanWorld().shows(A), { ownership: 'snapshot' })).toBe('nothing')
  })
  test('not ours: nothing, whoever made it', async () => {
    expect(await only(new PlanWorld().shows(A, foreign))).toBe('nothing')
    expect(await only(new PlanWorld().shows(A, { owner: 'south' }))).toBe('nothing')
    expect(await only(new PlanWorld().remembers(A, { feed: 'south' }).shows(A))).toBe('nothing')
  })
  test("remembered as another feed's, and marked as this one's long after that was written: delete, as the store was put back", async () => {
    const southern = { feed: 'south', sentAt: now - 15 * minute }
    expect(await only(new PlanWorld().remembers(A, southern).shows(A))).toMatchObject({ kind: 'delete' })
    expect(await only(new PlanWorld().remembers(A, southern).shows(A), { ownership: 'snapshot' })).toBe('nothing')
    // A list from about the time of that write may show what was there before it.
    for (const young of [{ sentAt: now - 14 * minute }, { flight: 'update' as const, flightAt: now - day }])
      expect(await only(new PlanWorld().remembers(A, { ...southern, ...young }).shows(A))).toBe('nothing')
  })
  test('what was sent is not known: its home is the one that is shown, so that it is paired with the one that comes', async () => {
    const marks = [
      { owned: false, content: null, home: null, flight: 'create' as const, flightAt: now - day },
      { content: null, home: null },
    ]
    const B = listing('B', { Address: '5 Oak St' })
    for (const world of [new PlanWorld(), ...marks.map((row) => new PlanWorld().remembers(B, row))])
      expect((await world.shows(B).plan()).changes).toMatchObject([{ kind: 'delete', home: homeHashOf(B) }])
    expect(homeHashOf(B)).not.toBeNull()
  })
  test('remembered, not shown: forget', async () => {
    expect(await only(new PlanWorld().remembers(A))).toMatchObject({ kind: 'forget' })
  })
  test('delta: nothing', async () => {
    expect(await only(new PlanWorld().remembers(A).shows(A), { mode: 'delta' })).toBe('nothing')
  })
  test('delta: of ours that is shown twice a person is told, as by any other delivery', async () => {
    const twice = new PlanWorld().remembers(A).shows(A).shows(A)
    expect(await only(twice, { mode: 'delta' })).toMatchObject({ kind: 'hold', cause: 'twice-shown' })
  })
  test('backfill: left to the next sync, of which nothing is noted', async () => {
    const left = { kind: 'hold', cause: 'unproven' }
    expect(await only(new PlanWorld().remembers(A).shows(A), { deletes: false })).toMatchObject(left)
    expect(await only(new PlanWorld().says('removal', 'A').remembers(A).shows(A), { deletes: false })).toMatchObject(
      left,
    )
    expect(await only(new PlanWorld().remembers(A), { deletes: false })).toBe('nothing')
  })
  test.each<[string, Partial<PlanSettings>, string]>([
    ['the delivery is incomplete', { delivery: { complete: false, reasons: ['cut after 3 records'] } }, 'unproven'],
    ["the service's list is incomplete", { remote: { complete: false, reasons: ['page 3 failed'] } }, 'unproven'],
    [
      'a record has no readable MLSNumber',
      { keyless: [{ identity: 'raw', home: null, since: now, notedAt: now }] },
      'unreadable',
    ],
  ])('%s: held, not deleted, and nothing is forgotten', async (_, settings, cause) => {
    expect(await only(new PlanWorld().remembers(A).shows(A), settings)).toMatchObject({ kind: 'hold', cause })
    // What an incomplete list lacks may be there.
    const unlisted = settings.remote === undefined ? 'nothing' : expect.objectContaining({ kind: 'hold', cause })
    expect(await only(new PlanWorld().remembers(A), settings)).toEqual(unlisted)
  })
  test('says so: not shown by an incomplete list, held', async () => {
    const gone = new PlanWorld().says('removal', 'A').remembers(A)
    const remote = { complete: false, reasons: ['page 3 failed'] }
    expect(await only(gone, { remote })).toMatchObject({ kind: 'hold', cause: 'unproven' })
  })
  test('shown twice: hold', async () => {
    expect(await only(new PlanWorld().remembers(A).shows(A).shows(A))).toMatchObject({
      kind: 'hold',
      cause: 'twice-shown',
    })
  })
})

describe('the feed says the listing is gone', () => {
  test.each(['removal', 'filtered'] as const)(
    '%s: ours and shown is deleted, even by a delta or an incomplete delivery',
    async (kind) => {
      const world = (): PlanWorld => new PlanWorld().says(kind, 'A', 'status Withdrawn').remembers(A).shows(A)
      expect(await only(world())).toMatchObject({ kind: 'delete', cause: 'feed-says-so', why: 'status Withdrawn' })
      expect(await only(world(), { mode: 'delta' })).toMatchObject({ kind: 'delete' })
      expect(await only(world(), { delivery: { complete: false, reasons: ['cut'] } })).toMatchObject({ kind: 'delete' })
    },
  )
  test('not ours: nothing', async () => {
    expect(await only(new PlanWorld().says('removal', 'A').shows(A, foreign))).toBe('nothing')
    expect(await only(new PlanWorld().says('removal', 'A'))).toBe('nothing')
  })
  test('ours and no longer shown: forget', async () => {
    expect(await only(new PlanWorld().says('removal', 'A').remembers(A))).toMatchObject({ kind: 'forget' })
  })
})

describe('the record can not be read', () => {
  test('ours is neither deleted nor updated; another record of the same MLSNumber is held', async () => {
    expect(await only(new PlanWorld().says('reject', 'A').remembers(A).shows(A))).toBe('nothing')
    expect(await only(new PlanWorld().says('reject', 'A').delivers(cheaper).remembers(A).shows(A))).toMatchObject({
      kind: 'hold',
      cause: 'twice-delivered',
    })
  })
})

test('every MLSNumber is walked once, in the order of all three sides, astral characters included', async () => {
  const keys = ['Z', 'a', 'ä', '\uFFFD', '\u{1F3E0}', '10', '9']
  const world = new PlanWorld()
  for (const key of keys) world.delivers(listing(key)).remembers(listing(key)).shows(listing(key), { kept: false })
  for (const size of [1000, 3, 1]) {
    world.pageSize = size
    expect(await world.plan()).toMatchObject({ changes: [], unchanged: keys.length, facts: { ours: keys.length } })
  }
})

test('sides of many pages come to the same, wherever a page ends', async () => {
  const world = new PlanWorld()
  const hundreds = Array.from({ length: 700 }, (_, i) => listing(`K${String(i).padStart(3, '0')}`))
  for (const [i, listing] of hundreds.entries()) {
    if (i % 3 === 0) world.delivers(i % 2 === 0 ? listing : { ...listing, SalePrice: 1 })
    if (i % 5 < 3) world.remembers(listing)
    if (i % 7 < 4) world.shows(listing, { kept: i % 5 >= 3 })
    if (i % 11 === 0) world.wasAbsent(listing.MLSNumber, 1, now - day)
  }
  const settings = { limits: { ...limits, grace: { runs: 3, hours: 0 } } }
  const { changes, unchanged, notes } = await world.plan(settings)
  expect(new Set(changes.map(({ kind }) => kind))).toEqual(new Set(['create', 'update', 'adopt', 'hold', 'forget']))
  for (const size of [1, 7, 100]) {
    world.pageSize = size
    expect(await world.plan(settings)).toMatchObject({ changes, unchanged, notes })
  }
})

test('a walk that is left early closes what it reads from the store', async () => {
  const closed: string[] = []
  async function* rows(name: string): AsyncGenerator<never[]> {
    try {
      for (let i = 0; ; i++) yield Array.from({ length: 100 }, (_, j) => ({ key: String(i * 100 + j) })) as never[]
    } finally {
      closed.push(name)
    }
  }
  const sides = {
    delivered: [],
    snapshot: rows('snapshot'),
    rows: async () => new Map(),
    shown: [],
    history: rows('history'),
    seen: () => false,
    shownAsBefore: () => false,
  }
  for await (const chunk of situations(sides, { feed: 'north', lookUps: null })) {
    expect(chunk.length).toBeGreaterThan(100)
    break
  }
  expect(closed).toEqual(['snapshot', 'history'])
})

describe('what was sent is fetched', () => {
  const unseen = { baseline: null, suspectUntil: null }

  test('for nothing that is plainly unchanged, however it was delivered, nor for what is not known', async () => {
    const world = new PlanWorld()
    for (const key of ['A', 'B', 'C']) world.remembers(listing(key)).shows(listing(key), { kept: false })
    world.deliversUnchanged('A').delivers(listing('B'))
    world.remembers(listing('D')).shows(listing('E')).delivers(listing('F'))
    const [notShown, twice] = [listing('I'), listing('J')]
    world.remembers(notShown).delivers(notShown).remembers(twice).delivers(twice).shows(twice).shows(twice)
    world.remembers(listing('H'), { content: null }).delivers(listing('H')).shows(listing('H'))
    world.remembers(listing('G'), { feed: 'south' }).delivers(listing('G')).shows(listing('G'), { owner: 'south' })
    expect((await world.plan()).recalled).toEqual([])
  })

  test('for nothing that is compared with what is shown', async () => {
    const world = new PlanWorld().remembers(A, unseen).delivers(A).shows(A)
    world.remembers(listing('B')).delivers(listing('B')).shows(listing('B'), { hash: 'edited' })
    world.remembers(listing('C'), { flight: 'update', flightAt: now }).delivers(listing('C')).shows(listing('C'))
    expect((await world.plan()).recalled).toEqual([])
  })

  test.each<[string, (world: PlanWorld) => PlanWorld, Partial<PlanSettings>]>([
    ['it changed', (world) => world.remembers(A).delivers(cheaper).shows(A, { kept: false }), {}],
    [
      'fields that move are due',
      (world) =>
        world
          .remembers(A, { sentAt: now - 8 * day })
          .delivers(A)
          .shows(A, { kept: false }),
      {},
    ],
    [
      'it changes by itself, and its record is unchanged',
      (world) => world.remembers(A, { movesAt: now }).deliversUnchanged('A').shows(A, { kept: false }),
      {},
    ],
    [
      'it is taken over from another feed, and changed',
      (world) => world.remembers(A, { feed: 'south' }).delivers(cheaper).shows(A, { owner: 'south', kept: false }),
      { outranks: () => true },
    ],
    [
      'another feed has taken it over meanwhile',
      (world) => world.remembers(A).deliversUnchanged('A').shows(A, { owner: 'south' }),
      { outranks: () => true },
    ],
    [
      'nothing is known of it but that its record is unchanged',
      (world) => world.remembers(A, { content: null }).deliversUnchanged('A').shows(A),
      {},
    ],
  ])('where %s', async (_, made, settings) => {
    expect((await made(new PlanWorld()).plan(settings)).recalled).toEqual([1])
  })

  test('and a row of which nothing was sent is a defect', async () => {
    const world = new PlanWorld().remembers(A).delivers(cheaper).shows(A, { kept: false })
    world.withholds = true
    await expect(world.plan()).rejects.toThrow('snapshot row 1, and nothing was sent under it')
  })

  test('in one go for many, never for one at a time', async () => {
    const world = new PlanWorld()
    const some = Array.from({ length: 200 }, (_, i) => listing(`K${i}`))
    for (const listing of some)
      world
        .remembers(listing)
        .delivers({ ...listing, SalePrice: 1 })
        .shows(listing, { kept: false })
    const { recalled, fetches } = await world.plan()
    expect([recalled.length, fetches]).toEqual([200, 1])
  })
})

test.each([true, false])(
  'what is taken over is looked up first, as a cut list may hide a copy: complete %s',
  async (complete) => {
    const world = new PlanWorld().remembers(A, { feed: 'south' }).delivers(cheaper).shows(A, { owner: 'south' })
    const { changes } = await world.plan({ outranks: () => true, remote: { complete, reasons: ['cut'] } })
    expect(changes).toMatchObject([{ kind: 'update', cause: 'never-sent', lookUp: !complete }])
  },
)

test('what is taken over a second time, as its mark stayed, is compared with what was sent the first time', async () => {
  const tenfold = { ...A, SalePrice: A.SalePrice! * 10 }
  const world = new PlanWorld().remembers(A).delivers(tenfold).shows(A, { owner: 'south' })
  const { changes } = await world.plan({ outranks: () => true })
  expect(changes).toMatchObject([{ kind: 'update', cause: 'never-sent', broken: ['price'] }])
})

test('listings that were all sent in one night have their turn in `volatile.refresh` spread over its days, each once', () => {
  const week = 7 * day
  const keys = Array.from({ length: 700 }, (_, i) => `M-${i}`)
  const dueBy = (nights: number): number => keys.filter((key) => nextTurn(key, now, week) <= now + nights * day).length
  const turns = [1, 2, 3, 4, 5, 6, 7].map((night) => dueBy(night) - dueBy(night - 1))
  expect(turns.reduce((sum, turn) => sum + turn, 0)).toBe(700)
  for (const turn of turns) expect(Math.abs(turn - 100)).toBeLessThan(40)
})
