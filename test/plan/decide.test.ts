/** The decision table of the design, row by row; each test names its row. */
import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/plan/change.ts'
import type { PlanSettings } from '../../src/plan/inputs.ts'
import { PlanWorld, day, listing, minute, now } from '../support/plan-world.ts'

const A = listing('A')
const cheaper = listing('A', { SalePrice: 340_000 })
const foreign = { owner: null }

function only(
  world: PlanWorld,
  settings: Partial<PlanSettings> = {},
): Pick<Change, 'kind' | 'cause' | 'why'> | 'unchanged' | 'nothing' {
  const { changes, unchanged } = world.plan(settings)
  expect(changes.length + unchanged).toBeLessThanOrEqual(1)
  if (unchanged === 1) return 'unchanged'
  if (changes.length === 0) return 'nothing'
  const { kind, cause, why } = changes[0]
  return { kind, cause, why }
}

describe('the feed holds a listing', () => {
  test('not remembered, not shown: create', () => {
    expect(only(new PlanWorld().delivers(A))).toMatchObject({ kind: 'create', cause: 'new' })
  })
  test('a plain create after a complete list needs no look-up; after an incomplete one it does', () => {
    const incomplete = { complete: false, reasons: ['page 3 failed'] }
    expect(new PlanWorld().delivers(A).plan().changes[0].lookUp).toBe(false)
    expect(new PlanWorld().delivers(A).plan({ remote: incomplete }).changes[0].lookUp).toBe(true)
  })
  test('remembered, not shown: create, after a look-up', () => {
    const { changes } = new PlanWorld().delivers(A).remembers(A).plan()
    expect(changes).toMatchObject([{ kind: 'create', cause: 'gone-from-service', lookUp: true }])
  })
  test('remembered, not shown by an incomplete list: nothing, as it may be there', () => {
    const remote = { complete: false, reasons: ['page 3 failed'] }
    expect(only(new PlanWorld().delivers(A).remembers(A), { remote })).toBe('unchanged')
  })
  test('not remembered, shown as wanted: adopt', () => {
    expect(only(new PlanWorld().delivers(A).shows(A, foreign))).toMatchObject({ kind: 'adopt', cause: 'as-wanted' })
  })
  test('not remembered, shown otherwise: update, with the fields', () => {
    const { changes } = new PlanWorld().delivers(cheaper).shows(A, foreign).plan()
    expect(changes).toMatchObject([
      { kind: 'update', cause: 'never-sent', fields: [{ field: 'SalePrice', from: 350_000, to: 340_000 }] },
    ])
  })
  test('remembered the same, shown as after our last write: nothing', () => {
    expect(only(new PlanWorld().delivers(A).remembers(A).shows(A, { kept: false }))).toBe('unchanged')
  })
  test('the very bytes of the snapshot: nothing', () => {
    expect(only(new PlanWorld().remembers(A).deliversUnchanged('A').shows(A, { kept: false }))).toBe('unchanged')
  })
  test('remembered the same, shown otherwise than its baseline: drifted', () => {
    const { changes } = new PlanWorld()
      .delivers(A)
      .remembers(A)
      .shows(listing('A', { City: 'Shelbyville' }), { hash: 'edited' })
      .plan()
    expect(changes).toMatchObject([
      { kind: 'update', cause: 'drifted', fields: [{ field: 'City', from: 'Shelbyville', to: 'Springfield' }] },
    ])
  })
  test('what the service spelled its own way from the first is no drift', () => {
    const spelled = listing('A', { City: 'SPRINGFIELD', State: 'IA' })
    const world = new PlanWorld()
      .delivers(A)
      .remembers(A, {}, { City: 'SPRINGFIELD' })
      .shows(spelled, { hash: 'edited' })
    expect(world.plan().changes).toMatchObject([
      { cause: 'drifted', fields: [{ field: 'State', from: 'IA', to: null }], clear: ['State'] },
    ])
  })
  test('first sight after a confirmed write becomes the baseline, differences of texts and all', () => {
    const world = new PlanWorld()
      .delivers(A)
      .remembers(A, { baseline: null })
      .shows(listing('A', { City: 'SPRINGFIELD' }), { hash: 'first' })
    const { unchanged, notes, facts } = world.plan()
    expect(unchanged).toBe(1)
    const sight = {
      op: 'first-sight',
      snapshot: 1,
      hash: 'first',
      echo: { City: 'SPRINGFIELD' },
      uncleared: [],
      first: true,
    }
    expect(notes).toContainEqual(sight)
    expect(facts.echoed).toEqual({ City: 1 })
  })
  test('at first sight a number that other listings show as sent was edited; one that many show otherwise is the service’s own form', () => {
    const world = (edited: number): PlanWorld => {
      const made = new PlanWorld()
      for (let i = 0; i < 8; i++) {
        const sent = listing(`M${i}`)
        made
          .delivers(sent)
          .remembers(sent, { baseline: null })
          .shows(i < edited ? { ...sent, SalePrice: 1 } : sent)
      }
      return made
    }
    expect(world(1).plan().changes).toMatchObject([
      { kind: 'update', cause: 'drifted', fields: [{ field: 'SalePrice', from: 1, to: 350_000 }] },
    ])
    expect(world(2).plan()).toMatchObject({ changes: [], unchanged: 8, facts: { echoed: { SalePrice: 2 } } })
  })
  test('a form that is known is no edit, though only one listing is seen for the first time; an edit is not called a form', () => {
    const world = new PlanWorld()
      .delivers(A)
      .remembers(A, { baseline: null })
      .shows(listing('A', { SalePrice: 349_999 }))
    const { changes, facts } = world.plan()
    expect(changes).toMatchObject([{ kind: 'update', cause: 'drifted' }])
    expect(facts.echoed).toEqual({})
    world.knownForms = ['SalePrice']
    expect(world.plan()).toMatchObject({ changes: [], unchanged: 1, facts: { echoed: { SalePrice: 1 } } })
    const again = new PlanWorld()
      .delivers(A)
      .remembers(A, { baseline: null, streak: 1, streakReason: changes[0].reason })
    expect(again.shows(listing('A', { SalePrice: 349_999 })).plan()).toMatchObject({ changes: [], unchanged: 1 })
  })
  test('what can not be made to disappear is said, not fought', () => {
    const { unchanged, facts } = new PlanWorld()
      .delivers(A)
      .remembers(A, { baseline: null })
      .shows(listing('A', { RentPrice: 900 }))
      .plan()
    expect(unchanged).toBe(1)
    expect(facts.uncleared).toEqual({ RentPrice: 1 })
  })
  test('no baseline is taken while an attempt of the last write may still land; after that a difference is sent again', () => {
    const world = new PlanWorld()
      .delivers(A)
      .remembers(A, { baseline: null, suspectUntil: now + minute })
      .shows(cheaper, { hash: 'late' })
    expect(world.plan().notes).toEqual([{ op: 'touch', snapshot: 1, position: 1 }])
    expect(world.plan({ remoteStartedAt: now + 2 * minute }).changes).toMatchObject([
      { kind: 'update', cause: 'settle' },
    ])
  })
  test('changed in the feed: update, with the fields and what must disappear', () => {
    const withRent = listing('A', { RentPrice: 1200 })
    const { changes } = new PlanWorld().delivers(cheaper).remembers(withRent).shows(withRent, { kept: false }).plan()
    expect(changes).toMatchObject([{ kind: 'update', cause: 'changed', clear: ['RentPrice'] }])
    expect(changes[0].fields).toEqual([
      { field: 'SalePrice', from: 350_000, to: 340_000 },
      { field: 'RentPrice', from: 1200, to: null },
    ])
  })
  test('the mapping changed and the bytes did not: said as such', () => {
    const world = new PlanWorld()
      .delivers(cheaper)
      .remembers(A, { raw: 'raw-1', mapping: 'mapping-0' })
      .shows(A, { kept: false })
    const { changes, facts } = world.plan()
    expect(changes).toMatchObject([{ kind: 'update', cause: 'mapping', why: 'the mapping changed' }])
    expect(facts.mappingUpdates).toBe(1)
  })
  test('only DaysOnMarket moved: nothing, until the refresh is due', () => {
    const later = listing('A', { DaysOnMarket: 19 })
    const world = (sentAt: number): PlanWorld =>
      new PlanWorld().delivers(later).remembers(A, { sentAt }).shows(A, { kept: false })
    expect(only(world(now - minute))).toBe('unchanged')
    expect(world(now - 8 * day).plan().changes).toMatchObject([
      { kind: 'update', cause: 'refresh', fields: [{ field: 'DaysOnMarket', from: 10, to: 19 }] },
    ])
  })
  test('DaysOnMarket is counted from the list date of an unparsed record', () => {
    const world = new PlanWorld()
      .remembers(A, { sentAt: now - 8 * day }, {}, { listedOn: '2026-11-01' })
      .deliversUnchanged('A')
      .shows(A, { kept: false })
    expect(world.plan().changes).toMatchObject([
      { cause: 'refresh', position: null, fields: [{ field: 'DaysOnMarket', to: 20 }] },
    ])
  })
  test('an open house that is over leaves an unparsed record', () => {
    const open = listing('A', { Tours: 'OpenHouse' })
    const world = new PlanWorld().remembers(
      open,
      { movesAt: now - minute },
      {},
      { openHouseUntil: now - minute, toursAfter: '3D' },
    )
    expect(world.deliversUnchanged('A').shows(open, { kept: false }).plan().changes).toMatchObject([
      { cause: 'changed', fields: [{ field: 'Tours', from: 'OpenHouse', to: '3D' }] },
    ])
  })
  test('shown twice: hold', () => {
    expect(only(new PlanWorld().delivers(cheaper).remembers(A).shows(A).shows(A))).toMatchObject({
      kind: 'hold',
      cause: 'twice-shown',
    })
  })
  test('another feed of the chatbot has it, by the store or by its mark: hold', () => {
    expect(
      only(new PlanWorld().delivers(A).remembers(A, { feed: 'south' }).shows(A, { owner: 'south' })),
    ).toMatchObject({ kind: 'hold', cause: 'other-feed', why: 'feed south of this chatbot has it' })
    expect(only(new PlanWorld().delivers(cheaper).shows(A, { owner: 'south' }))).toMatchObject({
      kind: 'hold',
      cause: 'other-feed',
    })
  })
  test('delivered twice, equal: once, counted as a duplicate', () => {
    const { changes, facts } = new PlanWorld().delivers(A).delivers(A).plan()
    expect(changes).toMatchObject([{ kind: 'create' }])
    expect(facts.duplicates).toBe(1)
  })
  test('delivered twice, differing: every one is held, naming both places', () => {
    const { changes, facts } = new PlanWorld().delivers(A).delivers(cheaper).remembers(A).shows(A).plan()
    expect(changes.map((change) => [change.kind, change.cause])).toEqual([
      ['hold', 'twice-delivered'],
      ['hold', 'twice-delivered'],
    ])
    expect(changes[0].why).toContain('record 1; record 2')
    expect(facts.duplicates).toBe(0)
  })
  test('delivered alive and gone at once: held, never deleted', () => {
    expect(only(new PlanWorld().delivers(A).says('removal', 'A').remembers(A).shows(A))).toMatchObject({
      kind: 'hold',
      cause: 'twice-delivered',
    })
  })
  test('the store was lost: creates wait', () => {
    expect(only(new PlanWorld().delivers(A), { lostUntil: now + minute })).toMatchObject({
      kind: 'hold',
      cause: 'lost-store',
    })
  })
  test('refused before with this very content: not sent again until it changes, the mapping does, or a day has passed', () => {
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
    expect(only(refused(content, 'mapping-1', now - minute))).toMatchObject({ kind: 'hold', cause: 'refused-before' })
    expect(only(refused(content, 'mapping-0', now - minute))).toMatchObject({ kind: 'create' })
    expect(only(refused('other', 'mapping-1', now - minute))).toMatchObject({ kind: 'create' })
    expect(only(refused(content, 'mapping-1', now - day))).toMatchObject({ kind: 'create' })
  })
  test('updated for the same reason in three runs running: held as not converging', () => {
    const edited = listing('A', { City: 'Shelbyville' })
    const world = (streak: number, reason: string | null): PlanWorld =>
      new PlanWorld().delivers(A).remembers(A, { streak, streakReason: reason }).shows(edited, { hash: 'edited' })
    const { reason } = world(0, null).plan().changes[0]
    expect(only(world(2, reason))).toMatchObject({ kind: 'update' })
    expect(only(world(3, reason))).toMatchObject({ kind: 'hold', cause: 'not-converging' })
    expect(only(world(3, 'another'))).toMatchObject({ kind: 'update' })
  })
})

describe('a call was in flight', () => {
  const flight = (kind: 'create' | 'update' | 'delete', age: number, owned = kind !== 'create'): PlanWorld =>
    new PlanWorld()
      .delivers(A)
      .remembers(A, { owned, flight: kind, flightAt: now - age, ...(!owned && { content: null }) })

  test('create, shown as wanted: taken over without a call', () => {
    expect(only(flight('create', minute).shows(A))).toMatchObject({ kind: 'adopt', cause: 'settle' })
  })
  test('create, shown otherwise: sent again as an update', () => {
    expect(only(flight('create', minute).shows(cheaper))).toMatchObject({ kind: 'update', cause: 'settle' })
  })
  test('create, absent, not settled: waits', () => {
    expect(only(flight('create', 14 * minute))).toMatchObject({ kind: 'hold', cause: 'in-flight' })
  })
  test('create, absent from a complete list begun after settle: created again', () => {
    expect(only(flight('create', 15 * minute))).toMatchObject({ kind: 'create', cause: 'new' })
  })
  test('create, absent from an incomplete list: waits, however old', () => {
    expect(only(flight('create', day), { remote: { complete: false, reasons: ['cut'] } })).toMatchObject({
      kind: 'hold',
      cause: 'in-flight',
    })
  })
  test('update, shown as wanted or not', () => {
    expect(only(flight('update', minute).shows(A))).toMatchObject({ kind: 'adopt', cause: 'settle' })
    expect(only(flight('update', minute).shows(cheaper))).toMatchObject({ kind: 'update', cause: 'settle' })
  })
  test('delete, delivered again, absent: created only once the delete has settled', () => {
    expect(only(flight('delete', minute))).toMatchObject({ kind: 'hold', cause: 'in-flight' })
    expect(only(flight('delete', 15 * minute))).toMatchObject({ kind: 'create' })
  })
  test('create, no longer in the feed: absent and settled it is forgotten, shown it is ours to delete', () => {
    const left = (age: number): PlanWorld =>
      new PlanWorld().remembers(A, { owned: false, content: null, flight: 'create', flightAt: now - age })
    expect(left(day).plan()).toMatchObject({ changes: [], notes: [{ op: 'forget-flight', key: 'A' }] })
    expect(left(minute).plan()).toMatchObject({ changes: [], notes: [] })
    expect(only(left(minute).shows(A))).toMatchObject({ kind: 'delete' })
    expect(only(left(minute).shows(A, foreign), { ownership: 'snapshot' })).toMatchObject({ kind: 'delete' })
    // What we create bears our mark, so this was made by somebody else meanwhile.
    expect(only(left(minute).shows(A, foreign))).toBe('nothing')
  })
})

describe('the feed does not hold the listing', () => {
  test('full and complete, ours, shown: delete', () => {
    expect(only(new PlanWorld().remembers(A).shows(A))).toMatchObject({
      kind: 'delete',
      cause: 'absent',
      why: 'gone from the feed',
    })
  })
  test('remembered, but by its mark another feed has it by now: forgotten, never deleted', () => {
    for (const world of [new PlanWorld(), new PlanWorld().says('removal', 'A')])
      expect(only(world.remembers(A).shows(A, { owner: 'south' }))).toEqual({
        kind: 'forget',
        cause: 'other-feed',
        why: 'feed south of this chatbot has it',
      })
  })
  test('ours by its mark alone: delete; with ownership snapshot the mark says nothing', () => {
    expect(only(new PlanWorld().shows(A))).toMatchObject({ kind: 'delete' })
    expect(only(new PlanWorld().shows(A), { ownership: 'snapshot' })).toBe('nothing')
  })
  test('not ours: nothing, whoever made it', () => {
    expect(only(new PlanWorld().shows(A, foreign))).toBe('nothing')
    expect(only(new PlanWorld().shows(A, { owner: 'south' }))).toBe('nothing')
    expect(only(new PlanWorld().remembers(A, { feed: 'south' }).shows(A))).toBe('nothing')
  })
  test('remembered, not shown: forget', () => {
    expect(only(new PlanWorld().remembers(A))).toMatchObject({ kind: 'forget' })
  })
  test('delta: nothing', () => {
    expect(only(new PlanWorld().remembers(A).shows(A), { mode: 'delta' })).toBe('nothing')
  })
  test('backfill: nothing', () => {
    expect(only(new PlanWorld().remembers(A).shows(A), { deletes: false })).toBe('nothing')
    expect(only(new PlanWorld().says('removal', 'A').remembers(A).shows(A), { deletes: false })).toBe('nothing')
  })
  test.each([
    ['the delivery is incomplete', { delivery: { complete: false, reasons: ['cut after 3 records'] } }, 'unproven'],
    ["the service's list is incomplete", { remote: { complete: false, reasons: ['page 3 failed'] } }, 'unproven'],
    ['a record has no readable MLSNumber', { unreadable: 1 }, 'unreadable'],
  ])('%s: held, not deleted, and nothing is forgotten', (_, settings, cause) => {
    expect(only(new PlanWorld().remembers(A).shows(A), settings)).toMatchObject({ kind: 'hold', cause })
    expect(only(new PlanWorld().remembers(A), settings)).toBe('nothing')
  })
  test('shown twice: hold', () => {
    expect(only(new PlanWorld().remembers(A).shows(A).shows(A))).toMatchObject({ kind: 'hold', cause: 'twice-shown' })
  })
})

describe('the feed says the listing is gone', () => {
  test.each(['removal', 'filtered'] as const)(
    '%s: ours and shown is deleted, even by a delta or an incomplete delivery',
    (kind) => {
      const world = (): PlanWorld => new PlanWorld().says(kind, 'A', 'status Withdrawn').remembers(A).shows(A)
      expect(only(world())).toMatchObject({ kind: 'delete', cause: 'feed-says-so', why: 'status Withdrawn' })
      expect(only(world(), { mode: 'delta' })).toMatchObject({ kind: 'delete' })
      expect(only(world(), { delivery: { complete: false, reasons: ['cut'] } })).toMatchObject({ kind: 'delete' })
    },
  )
  test('not ours: nothing', () => {
    expect(only(new PlanWorld().says('removal', 'A').shows(A, foreign))).toBe('nothing')
    expect(only(new PlanWorld().says('removal', 'A'))).toBe('nothing')
  })
  test('ours and no longer shown: forget', () => {
    expect(only(new PlanWorld().says('removal', 'A').remembers(A))).toMatchObject({ kind: 'forget' })
  })
})

describe('the record can not be read', () => {
  test('ours is neither deleted nor updated; another record of the same MLSNumber is held', () => {
    expect(only(new PlanWorld().says('reject', 'A').remembers(A).shows(A))).toBe('nothing')
    expect(only(new PlanWorld().says('reject', 'A').delivers(cheaper).remembers(A).shows(A))).toMatchObject({
      kind: 'hold',
      cause: 'twice-delivered',
    })
  })
})

test('every MLSNumber is walked once, in the order of all three sides, astral characters included', () => {
  const keys = ['Z', 'a', 'ä', '\uFFFD', '\u{1F3E0}', '10', '9']
  const world = new PlanWorld()
  for (const key of keys) world.delivers(listing(key)).remembers(listing(key)).shows(listing(key), { kept: false })
  expect(world.plan()).toMatchObject({ changes: [], unchanged: keys.length, facts: { ours: keys.length } })
})
