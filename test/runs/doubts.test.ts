/** What a run may not take for known: marks of calls without answer, copies, a lost store. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createOne, deleteBatch, lookUpUnknown, updateOne } from '../../src/apply/calls.ts'
import type { ApplyContext } from '../../src/apply/context.ts'
import type { Listing } from '../../src/core/listing.ts'
import type { Action } from '../../src/plan/change.ts'
import { nothingRemembered, unweighed } from '../../src/plan/guard/hold.ts'
import { recall } from '../../src/run/recall.ts'
import type { Feed, Readers } from '../../src/run/tools.ts'
import { openStore } from '../../src/store/sqlite.ts'
import { createOf, deleteOf, updateOf } from '../support/changes.ts'
import { listing } from '../support/plan-world.ts'

const now = Date.UTC(2026, 10, 21, 12)

/** What is called, where the service shows these listings under each MLSNumber, and counts so many. */
function service(shown: readonly Partial<Listing>[], count: number) {
  const sent = listing('A', {})
  const lookUp = vi.fn(async () =>
    shown.map((changes) => ({ fields: { ...sent, ...changes }, unreadable: [], owner: null, hash: 'hash' })),
  )
  const answer = async (_keys: unknown, beforeSend: unknown, last: unknown) => {
    const begin = (typeof last === 'function' ? last : beforeSend) as () => Promise<void>
    await begin()
    return { value: count, unsettled: false }
  }
  const calls = { create: vi.fn(answer), update: vi.fn(answer), delete: vi.fn(answer) }
  const ledger = { begin: vi.fn(async () => {}), end: vi.fn(async () => {}) }
  const forget = vi.fn(async () => {})
  const outcomes: unknown[] = []
  const context = {
    service: { ...calls, lookUp, mark: null },
    store: { ledger, snapshot: { confirm: vi.fn(async () => {}), forget }, holds: { use: vi.fn(async () => {}) } },
    workspace: {
      deliveredAt: () => ({ listing: sent, moving: {}, raw: 'raw', parts: 1, movesAt: null }),
      recordOutcomes: (all: { outcome: unknown }[]) => outcomes.push(...all.map(({ outcome }) => outcome)),
      changes: (): unknown[] => [],
      notedListing: () => sent,
      inOtherLetters: () => null,
    },
    runtime: { clock: { now: () => now } },
    feed: {
      name: 'north',
      chatbot: 'SN-1',
      mapping: { version: '1' },
      plan: { limits: { isOff: false }, volatile: { fields: new Set() }, settle: 0, ownership: 'tag' },
      outranks: new Set(),
    },
    orders: { today: '2026-11-21', isFirstLoad: false, lookUpCreates: false, counts: { forget: 0 } },
    underWay: new Set(),
    foundBefore: new Map(),
    untold: [],
    progress: () => {},
    deleteBatch: 5,
  }
  return { context: context as unknown as ApplyContext, workspace: context.workspace, calls, ledger, forget, outcomes }
}

const stored = <Change extends Action>(change: Change) => ({
  seq: 1,
  change,
  weighed: unweighed,
  remembered: nothingRemembered,
  pair: null,
  outcome: null,
})

describe('an earlier call without answer may still land:', () => {
  const other = [{ SalePrice: 7 }]
  test.each([true, false])('its mark outlasts an update that changed nothing (%s)', async (unsettled) => {
    const { context, ledger, outcomes } = service(other, 0)
    await updateOne(context, stored(updateOf('A', { unsettled, cause: 'changed' })), [])
    expect(outcomes).toMatchObject([{ result: 'failed' }])
    expect(ledger.end).toHaveBeenCalledTimes(unsettled ? 0 : 1)
  })

  test.each([true, false])('and a delete that did not happen (%s)', async (unsettled) => {
    const { context, ledger, outcomes } = service(other, 0)
    await deleteBatch(context, [stored(deleteOf('A', { unsettled }))])
    expect(outcomes).toMatchObject([{ result: 'failed' }])
    expect(ledger.end).toHaveBeenCalledTimes(unsettled ? 0 : 1)
  })

  test.each([true, false])('a delete that was done stays marked from then on (%s)', async (unsettled) => {
    const { context, forget, outcomes } = service(other, 1)
    await deleteBatch(context, [stored(deleteOf('A', { unsettled }))])
    expect(outcomes).toMatchObject([{ result: 'done' }])
    expect(forget).toHaveBeenCalledWith('SN-1', ['A'], unsettled ? now : null)
  })
})

describe('two listings of one MLSNumber', () => {
  test('are neither updated nor joined by a third', async () => {
    const { context, calls, outcomes } = service([{}, {}], 1)
    await createOne(context, stored(createOf('A', { lookUp: true })))
    expect(outcomes).toMatchObject([{ result: 'failed', error: '2 listings on the service have this MLSNumber' }])
    expect(calls.create).not.toHaveBeenCalled()
    expect(calls.update).not.toHaveBeenCalled()
  })

  test('are no proof that an update arrived, though both are as wanted', async () => {
    const { context, outcomes } = service([{}, {}], 0)
    await updateOne(context, stored(updateOf('A', { cause: 'changed' })), [])
    expect(outcomes).toMatchObject([{ result: 'failed' }])
  })

  test.each([
    ['a create', createOf('A')],
    ['an update', updateOf('A', { cause: 'changed' })],
  ])('nor that %s did, whose answer was lost', async (_, change) => {
    const { context, workspace, outcomes } = service([{}, {}], 1)
    const unknown = { ...stored(change), outcome: { result: 'unknown', error: null } }
    workspace.changes = ((kind: string) => (kind === change.kind ? [unknown] : [])) as () => unknown[]
    await lookUpUnknown(context)
    expect(outcomes).toEqual([])
  })
})

describe('the day of a run', () => {
  const store = openStore(':memory:')
  afterEach(() => store.close())
  test("is that of the feed's zone", async () => {
    const feed = { name: 'north', chatbot: 'SN-1', keys: 1, deleteBatch: 5 }
    const tools = { store, runtime: { clock: { now: () => now } } } as unknown as Readers
    const dayIn = async (timezone: string): Promise<string> =>
      (await recall({ ...feed, timezone } as unknown as Feed, tools)).moment.today
    expect(await dayIn('Pacific/Auckland')).toBe('2026-11-22')
    expect(await dayIn('America/Los_Angeles')).toBe('2026-11-21')
  })
})
