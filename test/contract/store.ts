/** What every store must do, whatever it is kept in. */
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StoreError } from '../../src/core/errors.ts'
import { compareKeys } from '../../src/core/listing.ts'
import type { Listing, MovingListing } from '../../src/core/listing.ts'
import type { HeldPart, HoldRecord, PartHeld } from '../../src/plan/guard/hold.ts'
import type { CallKind, History, SnapshotRow } from '../../src/plan/inputs.ts'
import type { Writer, Begun, Confirmation, Done, HoldEvent, NewHeld, RunRecord, Store } from '../../src/store/store.ts'
import { flattened } from '../support/pages.ts'
import { inBrief } from '../support/plan-world.ts'

const chatbot = 'SN-1001'
const hour = 3_600_000
const day = 24 * hour
const now = Date.UTC(2026, 10, 21, 12)

export function house(mlsNumber: string, changes: Partial<Listing> = {}): Listing {
  return {
    MLSNumber: mlsNumber,
    SaleType: 'for_sale',
    Status: 'Active',
    CurrencySymbol: '$',
    PropertyType: 'House',
    Bedrooms: 3,
    Bathrooms: 2.5,
    Url: `https://homes.example.com/${encodeURIComponent(mlsNumber)}`,
    YearBuilt: 1987,
    DaysOnMarket: 12,
    LotArea: 5200,
    BuildingArea: 1810.5,
    AreaUnit: 'Square Feet',
    ParkingSpots: 2,
    ...changes,
  }
}

export function confirmation(key: string, changes: Partial<Confirmation> = {}): Confirmation {
  return {
    key,
    feed: 'north',
    sent: { listing: house(key), moving: { listedOn: '2026-11-09' } },
    content: `content of ${key}`,
    record: { raw: `raw of ${key}`, parts: 1 },
    mapping: 'mapping 1',
    home: `home of ${key}`,
    bornAt: null,
    at: now,
    movesAt: null,
    suspectUntil: null,
    isPutRight: false,
    baseline: null,
    ignored: false,
    ...changes,
  }
}

/** Validators as a run saves them. */
const saved = {
  basis: 'all that it rests on',
  summary: {
    complete: true,
    reasons: [],
    records: 1,
    listings: 1,
    removals: 0,
    filtered: 0,
    duplicates: 0,
    rejects: 0,
    bytes: 10,
  },
}

/** A hold that can be approved. */
export function newHeld(mlsNumber: string, part: HeldPart, changes: Partial<PartHeld> = {}, why = 'too many'): NewHeld {
  return { mlsNumber, why, part: { part, content: 'content', rules: ['leaving'], ends: 'confirmed', ...changes } }
}

/** What no permission mends. */
const lacking = (mlsNumber: string, why = 'two of them'): NewHeld => ({ mlsNumber, why, part: null })

/** `newHeld` as it is remembered. */
const recordOf = (part: HeldPart, since: number): HoldRecord => ({
  part,
  content: 'content',
  since,
  ends: 'confirmed',
  clock: since,
  isOfRule: true,
  decision: null,
})

/** Nothing is remembered of a listing. */
const nothing: Omit<History, 'key'> = { absence: null, leftAt: null, counted: [], heldSince: null, holds: [] }

export function runRecord(changes: Partial<RunRecord> = {}): RunRecord {
  return {
    feed: 'north',
    chatbot,
    command: 'sync',
    startedAt: now - 1000,
    finishedAt: now,
    result: 'ok',
    interrupted: false,
    error: null,
    figures: '{"counts":{}}',
    ...changes,
  }
}

export function storeContract(name: string, open: () => Store | Promise<Store>): void {
  describe(`store contract: ${name}`, () => {
    let store: Store
    let { snapshot, ledger, history, holds, runs, deliveries, learnt, changes } = {} as Store
    beforeEach(async () => {
      store = await open()
      ;({ snapshot, ledger, history, holds, runs, deliveries, learnt, changes } = store)
    })
    afterEach(() => store.close())

    /** All rows, which each way of reading them gives alike. */
    const rows = async (): Promise<SnapshotRow[]> => {
      const all = await flattened(snapshot.rows(chatbot))
      expect(await flattened(snapshot.inBrief(chatbot, 'north'))).toEqual(all.map(inBrief))
      const keys = all.map(({ key }) => key)
      expect([...(await snapshot.rowsOf(chatbot, ['unknown', ...keys])).values()]).toEqual(all)
      return all
    }
    const keys = async (): Promise<string[]> => (await rows()).map(({ key }) => key)
    async function row(key: string): Promise<SnapshotRow> {
      const found = (await rows()).find((row) => row.key === key)
      if (found === undefined) throw new Error(`no row for ${key}`)
      return found
    }
    const recall = async (key: string): Promise<MovingListing | undefined> => {
      const { id } = await row(key)
      return (await snapshot.recall([id])).get(id)
    }
    /** Marks calls of a feed, `north` unless said otherwise. */
    const begin = (
      kind: CallKind,
      keys: readonly string[],
      at = now,
      counts: Begun['counts'] = kind === 'delete' ? ['delete'] : [],
      feed = 'north',
    ): Promise<void> =>
      ledger.begin(
        chatbot,
        feed,
        kind,
        keys.map((key) => ({ key, counts })),
        at,
      )
    const hold = (
      held: readonly NewHeld[],
      at = now,
      { feed = 'north', isWhole = true, letGo = 0 } = {},
    ): Promise<void> => holds.replace(feed, held, { now: at, isWhole, letGo: () => letGo })
    const remembered = (at = now, feed = 'north', ofChatbot = chatbot): Promise<History[]> =>
      flattened(history.rows(ofChatbot, feed, at))
    const memoryOf = async (key: string, at = now): Promise<History | undefined> =>
      (await remembered(at)).find((history) => history.key === key)
    const baseline = async (key: string): Promise<string | undefined> =>
      (await snapshot.baselines(chatbot, [key])).get(key)

    describe('snapshot', () => {
      it('is empty in a new store, and a chatbot sees only its own rows', async () => {
        expect(await rows()).toEqual([])
        await snapshot.confirm('SN-2002', [confirmation('A')])
        expect(await rows()).toEqual([])
        expect(await flattened(snapshot.rows('SN-2002'))).toHaveLength(1)
      })

      it('shows everything a confirmation told', async () => {
        const times = { movesAt: now + hour, suspectUntil: now + 2 * hour }
        await snapshot.confirm(chatbot, [confirmation('A', { ...times, isPutRight: true })])
        const { id, ...rest } = await row('A')
        expect(Number.isInteger(id)).toBe(true)
        expect(rest).toEqual({
          key: 'A',
          feed: 'north',
          owned: true,
          content: 'content of A',
          raw: 'raw of A',
          parts: 1,
          mapping: 'mapping 1',
          home: 'home of A',
          bornAt: null,
          sentAt: now,
          baseline: null,
          ...times,
          undone: 1,
          putRightAt: now,
          ignored: false,
          identifier: null,
          flight: null,
          flightAt: null,
          missedAt: null,
          refusedContent: null,
          refusedMapping: null,
          refusedAt: null,
          refusedMessage: null,
        })
      })

      it('keeps what Create answered until another answer comes, for the feed that has the listing', async () => {
        const identifier = (key: string, feed = 'north') => snapshot.identifier(chatbot, feed, key)
        expect(await identifier('A')).toBeNull()
        await snapshot.confirm(chatbot, [confirmation('A', { identifier: 'id-1' }), confirmation('B')])
        await snapshot.confirm(chatbot, [confirmation('A')])
        expect([await identifier('A'), await identifier('B'), await identifier('A', 'south')]).toEqual([
          'id-1',
          null,
          null,
        ])
        await snapshot.confirm(chatbot, [confirmation('A', { identifier: 'id-2' })])
        expect(await identifier('A')).toBe('id-2')
      })

      it('knows in which chatbots a feed has how many listings', async () => {
        await snapshot.confirm('SN-2002', [confirmation('A')])
        await snapshot.confirm(chatbot, [confirmation('A'), confirmation('B'), confirmation('C', { feed: 'south' })])
        await begin('create', ['D'])
        expect(await snapshot.chatbots('north')).toEqual([
          { chatbot, listings: 2 },
          { chatbot: 'SN-2002', listings: 1 },
        ])
        expect(await snapshot.chatbots('west')).toEqual([])
      })

      it('is sorted as compareKeys sorts, over all planes of Unicode', async () => {
        // Well-formed text without U+0000 only: no feed can give other keys.
        const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }).filter((text) => !text.includes('\0'))
        const become = async (some: string[]): Promise<void> => {
          await snapshot.forget(chatbot, await keys(), null)
          await snapshot.confirm(
            chatbot,
            some.map((key) => confirmation(key)),
          )
        }
        await fc.assert(
          fc.asyncProperty(fc.uniqueArray(key, { maxLength: 30 }), async (some) => {
            await become(some)
            expect(await keys()).toEqual([...some].sort(compareKeys))
          }),
          { numRuns: 60 },
        )
        await become(['\u{1F3E0}', '\uFF21', 'a', 'B'])
        // By UTF-16 code units the house would come before the full-width letter.
        expect(await keys()).toEqual(['B', 'a', '\uFF21', '\u{1F3E0}'])
      })

      it.each(['A\0B', 'A\ud800B'])('finds nothing under a number that only the service can show (%j)', async (key) => {
        await snapshot.confirm(chatbot, [confirmation('A')])
        expect((await snapshot.baselines(chatbot, ['A', key])).size).toBeLessThan(2)
        expect([...(await snapshot.rowsOf(chatbot, ['A', key])).keys()]).toEqual(['A'])
        expect([...(await snapshot.ids(chatbot, 'north', ['A', key])).keys()]).toEqual(['A'])
        await snapshot.forget(chatbot, [key], null)
        expect(await keys()).toEqual(['A'])
      })

      it('can be written to while it is walked, over many pages', async () => {
        const many = Array.from({ length: 2500 }, (_, i) => `K${String(i).padStart(5, '0')}`)
        await snapshot.confirm(
          chatbot,
          many.map((key) => confirmation(key)),
        )
        const seen: string[] = []
        let pages = 0
        for await (const page of snapshot.rows(chatbot)) {
          pages++
          for (const { key } of page) {
            seen.push(key)
            if (seen.length % 500 === 0) await begin('update', [key])
          }
        }
        expect(seen).toEqual(many)
        expect(pages).toBeGreaterThan(1)
        expect((await rows()).filter((row) => row.flight === 'update')).toHaveLength(5)
      })

      it('counts the listings of a feed in a chatbot, and is empty only without a row of any sort', async () => {
        expect([await snapshot.count(chatbot, 'north'), await snapshot.isEmpty(chatbot, 'north')]).toEqual([0, true])
        await snapshot.confirm(chatbot, [confirmation('A'), confirmation('B'), confirmation('C', { feed: 'south' })])
        await snapshot.confirm('SN-2002', [confirmation('D')])
        await begin('create', ['E'])
        expect([await snapshot.count(chatbot, 'north'), await snapshot.isEmpty(chatbot, 'north')]).toEqual([2, false])
        await snapshot.forget(chatbot, ['A', 'B'], null)
        expect([await snapshot.count(chatbot, 'north'), await snapshot.isEmpty(chatbot, 'north')]).toEqual([0, false])
        expect([await snapshot.count('SN-2002', 'south'), await snapshot.isEmpty('SN-2002', 'south')]).toEqual([
          0,
          true,
        ])
      })
    })

    describe('confirm and recall', () => {
      it("tells a feed's listings and their content from any others", async () => {
        const fingerprint = () => snapshot.fingerprint(chatbot, 'north')
        const none = await fingerprint()
        await snapshot.confirm(chatbot, [confirmation('A'), confirmation('B')])
        const two = await fingerprint()
        await snapshot.confirm(chatbot, [confirmation('C', { feed: 'south' })])
        await snapshot.confirm('SN-2002', [confirmation('D')])
        await begin('create', ['E'])
        expect([await fingerprint(), two === none]).toEqual([two, false])
        await snapshot.confirm(chatbot, [confirmation('B', { content: 'another' })])
        expect(await fingerprint()).not.toBe(two)
        await snapshot.confirm(chatbot, [confirmation('B')])
        expect(await fingerprint()).toBe(two)
        await snapshot.confirm(chatbot, [confirmation('B', { feed: 'south' })])
        expect(await fingerprint()).not.toBe(two)
      })

      it("finds ids of a feed's own listings", async () => {
        await snapshot.confirm(chatbot, [confirmation('A'), confirmation('B', { feed: 'south' })])
        await begin('create', ['C'])
        const [{ id }] = (await rows()).filter(({ key }) => key === 'A')
        expect(await snapshot.ids(chatbot, 'north', ['A', 'B', 'C', 'D'])).toEqual(new Map([['A', id]]))
        expect(await snapshot.ids('SN-2002', 'north', ['A'])).toEqual(new Map())
      })

      it('keeps when a call was first looked for in vain, until the next one', async () => {
        await begin('create', ['A'])
        for (const at of [now + 1, now + 2]) await ledger.noteMissing(chatbot, 'A', at)
        expect(await row('A')).toMatchObject({ missedAt: now + 1 })
        await begin('create', ['A'], now + 3)
        expect(await row('A')).toMatchObject({ missedAt: null })
        await snapshot.confirm(chatbot, [confirmation('A')])
        await ledger.noteMissing(chatbot, 'A', now + 4)
        await ledger.noteMissing(chatbot, 'unknown', now + 4)
        expect(await rows()).toMatchObject([{ key: 'A', missedAt: null }])
      })

      it('gives back what was sent', async () => {
        const listing = house('A', {
          Images: ['https://a.example.com/1.jpg'],
          Description: 'Ünïcode \u{1F3E0} "quoted"\n',
        })
        const moving = { openHouseUntil: now + hour, toursAfter: '3D' as const }
        await snapshot.confirm(chatbot, [confirmation('A', { sent: { listing, moving } })])
        expect(await recall('A')).toEqual({ listing, moving })
      })

      it('gives many in one go, all or none', async () => {
        await snapshot.confirm(
          chatbot,
          ['A', 'B', 'C'].map((key) => confirmation(key)),
        )
        const ids = [(await row('C')).id, (await row('A')).id]
        const recalled = await snapshot.recall(ids)
        expect([...recalled].map(([id, { listing }]) => [id, listing.MLSNumber])).toEqual([
          [ids[0], 'C'],
          [ids[1], 'A'],
        ])
        expect(await snapshot.recall([])).toEqual(new Map())
        await expect(snapshot.recall([...ids, 12345])).rejects.toThrow(StoreError)
        // A create without answer, then an update: it is ours, and nothing of it is known.
        for (const kind of ['create', 'update'] as const) await begin(kind, ['D'])
        expect(await row('D')).toMatchObject({ owned: true, content: null })
        await expect(recall('D')).rejects.toThrow(StoreError)
      })

      it('keeps the id over updates, and never gives an old id to a new row', async () => {
        await snapshot.confirm(chatbot, [confirmation('A')])
        const { id } = await row('A')
        await snapshot.confirm(chatbot, [
          confirmation('A', { content: 'other', sent: { listing: house('A', { Bedrooms: 4 }), moving: {} } }),
        ])
        expect(await row('A')).toMatchObject({ id, content: 'other' })
        expect((await recall('A'))?.listing.Bedrooms).toBe(4)
        await snapshot.forget(chatbot, ['A'], null)
        await snapshot.confirm(chatbot, [confirmation('A')])
        expect((await row('A')).id).toBeGreaterThan(id)
        await expect(snapshot.recall([id])).rejects.toThrow(StoreError)
      })

      it('clears mark, refusal and baseline', async () => {
        await snapshot.confirm(chatbot, [confirmation('A', { baseline: 'first' })])
        expect(await baseline('A')).toBe('first')
        await snapshot.refuse(chatbot, 'north', 'A', { content: 'c', mapping: 'm', at: now, message: 'no' })
        await begin('update', ['A'])
        await snapshot.confirm(chatbot, [confirmation('A')])
        expect(await row('A')).toMatchObject({
          baseline: null,
          flight: null,
          flightAt: null,
          refusedAt: null,
          refusedMessage: null,
        })
        expect(await baseline('A')).toBeUndefined()
      })

      it('counts writes that put right what was edited, until another write or a run at rest', async () => {
        const undone = async (): Promise<number> => (await row('A')).undone
        const counts: number[] = []
        for (const isPutRight of [true, true, false, true, true]) {
          await snapshot.confirm(chatbot, [confirmation('A', { isPutRight })])
          counts.push(await undone())
        }
        expect(counts).toEqual([1, 2, 0, 1, 2])
        await snapshot.confirm(chatbot, [confirmation('A', { at: now + hour })])
        expect(await row('A')).toMatchObject({ undone: 0, putRightAt: now })
        await snapshot.confirm(chatbot, [confirmation('A', { isPutRight: true })])
        await snapshot.confirm(chatbot, [confirmation('A', { isPutRight: true })])
        const seen = { key: 'A', hash: 'seen', ignored: false }
        await snapshot.setBaselines(chatbot, [{ ...seen, isAtRest: false }], now)
        expect(await undone()).toBe(2)
        await snapshot.setBaselines(chatbot, [{ ...seen, isAtRest: true }], now)
        expect(await undone()).toBe(0)
      })

      it('notes how listings are shown, but for those that a call may still change', async () => {
        const suspect = confirmation('D', { suspectUntil: now + hour })
        await snapshot.confirm(chatbot, [confirmation('A'), confirmation('B'), confirmation('C'), suspect])
        const seen = { ignored: false, isAtRest: true }
        const sights = ['A', 'C', 'D', 'unknown'].map((key) => ({ ...seen, key, hash: `${key} as shown` }))
        await snapshot.setBaselines(chatbot, sights, now)
        const baselines = new Map([['A', 'A as shown']])
        const known = async (feed: string, ofChatbot = chatbot): Promise<(readonly number[])[]> => {
          const items = await snapshot.knownItems(ofChatbot, feed)
          return ['A as shown', 'C as shown', 'D as shown'].map((hash) => items.find(hash))
        }
        const [a, c] = [(await row('A')).id, (await row('C')).id]
        expect(await snapshot.baselines(chatbot, ['unknown', 'B', 'A', 'D'])).toEqual(baselines)
        expect(await known('north')).toEqual([[a], [c], []])
        expect(await known('south')).toEqual([[], [], []])
        expect(await known('north', 'SN-2002')).toEqual([[], [], []])
        await begin('update', ['C'])
        expect(await known('north')).toEqual([[a], [], []])
        await snapshot.setBaselines(chatbot, [{ ...seen, key: 'C', hash: 'late' }], now)
        expect((await row('C')).baseline).toBe('C as shown')
        expect(await snapshot.baselines(chatbot, ['A', 'C'])).toEqual(baselines)
        expect(await snapshot.baselines('SN-2002', ['A'])).toEqual(new Map())
        await snapshot.setBaselines(chatbot, [{ ...seen, key: 'D', hash: 'D as shown' }], now + hour)
        expect((await row('D')).baseline).toBe('D as shown')
      })

      it('takes no row of another feed for settled', async () => {
        const seen = { hash: 'as shown', ignored: false, isAtRest: true }
        await snapshot.confirm(chatbot, [confirmation('A'), confirmation('B', { feed: 'south' })])
        await snapshot.setBaselines(
          chatbot,
          [
            { ...seen, key: 'A' },
            { ...seen, key: 'B' },
          ],
          now,
        )
        await begin('create', ['C'])
        const settled = (await flattened(snapshot.inBrief(chatbot, 'south'))).map(({ settledSince }) => settledSince)
        expect(settled).toEqual([null, now, null])
        expect(await rows()).toHaveLength(3)
      })

      it('has no baseline of what the service ignored, until it is sent again', async () => {
        await snapshot.confirm(chatbot, [confirmation('A')])
        await snapshot.setBaselines(chatbot, [{ key: 'A', hash: 'as before', ignored: true, isAtRest: false }], now)
        expect(await row('A')).toMatchObject({ baseline: 'as before', ignored: true })
        expect(await snapshot.baselines(chatbot, ['A'])).toEqual(new Map())
        expect((await snapshot.knownItems(chatbot, 'north')).find('as before')).toEqual([])
        await snapshot.confirm(chatbot, [confirmation('A')])
        expect(await row('A')).toMatchObject({ baseline: null, ignored: false })
      })

      it('keeps when a feed made it over updates, and takes the home of what is sent', async () => {
        await snapshot.confirm(chatbot, [confirmation('A', { bornAt: now })])
        await snapshot.confirm(chatbot, [confirmation('A', { home: null })])
        expect(await row('A')).toMatchObject({ bornAt: now, home: null })
        await snapshot.confirm(chatbot, [confirmation('A', { bornAt: now + hour })])
        expect(await row('A')).toMatchObject({ bornAt: now + hour, home: 'home of A' })
        await begin('delete', ['A'])
        await snapshot.forget(chatbot, ['A'], now)
        expect(await row('A')).toMatchObject({ bornAt: null, home: null })
      })

      it("keeps Create's answer until the listing is made anew", async () => {
        const made = async (identifier?: string | null): Promise<string | null> => {
          await snapshot.confirm(chatbot, [confirmation('A', identifier === undefined ? {} : { identifier })])
          return (await row('A')).identifier
        }
        expect([await made('one'), await made(), await made('two'), await made(null), await made('three')]).toEqual([
          'one',
          'one',
          'two',
          null,
          'three',
        ])
        await begin('update', ['A'])
        await begin('delete', ['A'])
        expect(await row('A')).toMatchObject({ identifier: 'three' })
        // Whatever becomes of it: what it makes is another listing.
        await begin('create', ['A'])
        expect([(await row('A')).identifier, await made()]).toEqual([null, null])
      })

      it('takes new bytes and content of what says the same without touching what was sent', async () => {
        await snapshot.confirm(chatbot, [confirmation('A', { baseline: 'first' })])
        const { id } = await row('A')
        const moved = { home: 'a new home', movesAt: now + day }
        const touched = { content: 'other content', raw: 'new raw', parts: 2, mapping: 'mapping 2', ...moved }
        await snapshot.touch([{ id, ...touched, moving: { listedOn: '2026-11-01' } }])
        expect(await row('A')).toMatchObject({ ...touched, baseline: 'first', sentAt: now })
        expect(await recall('A')).toEqual({ listing: house('A'), moving: { listedOn: '2026-11-01' } })
      })

      it('gives the listings confirmed last, to their own feed only', async () => {
        await snapshot.confirm(chatbot, [confirmation('A'), confirmation('D')])
        await begin('update', ['A'])
        await begin('create', ['B'])
        const { listing, moving } = (await recall('A'))!
        const confirmed = (feed: string, ...of: string[]) => snapshot.confirmed(chatbot, feed, of)
        expect(await confirmed('north', 'A', 'B', 'a', 'never there')).toEqual(new Map([['A', { listing, moving }]]))
        expect([...(await confirmed('north', 'D', 'A')).keys()]).toEqual(['D', 'A'])
        expect(await confirmed('south', 'A')).toEqual(new Map())
        expect(await snapshot.confirmed('another chatbot', 'north', ['A'])).toEqual(new Map())
      })

      it('remembers a refusal, for a listing that is ours and for one that is not', async () => {
        await snapshot.confirm(chatbot, [confirmation('A')])
        await begin('update', ['A'])
        const refusal = { content: 'c2', mapping: 'm2', at: now + 5, message: 'Url: not allowed' }
        await snapshot.refuse(chatbot, 'north', 'A', refusal)
        await snapshot.refuse(chatbot, 'north', 'B', { ...refusal, content: null })
        const noted = { refusedMapping: 'm2', refusedAt: now + 5, refusedMessage: 'Url: not allowed', flight: null }
        expect(await row('A')).toMatchObject({ ...noted, refusedContent: 'c2', owned: true, content: 'content of A' })
        expect(await row('B')).toMatchObject({ ...noted, refusedContent: null, owned: false, feed: 'north' })
      })
    })

    describe('records known by their raw hash', () => {
      const knownTo = (feed: string, ofChatbot = chatbot, mapping = 'mapping 1') =>
        snapshot.knownRecords(ofChatbot, feed, mapping)

      it('are all the listings of one record, or none', async () => {
        const twins = { record: { raw: 'two in one', parts: 2 } }
        await snapshot.confirm(chatbot, [confirmation('A', twins), confirmation('B', twins), confirmation('C')])
        const known = await knownTo('north')
        const ids = [(await row('A')).id, (await row('B')).id]
        expect([...known.find('two in one')].sort((a, b) => a - b)).toEqual(ids)
        expect(known.find('raw of C')).toEqual([(await row('C')).id])
        await snapshot.forget(chatbot, ['B'], null)
        expect((await knownTo('north')).find('two in one')).toEqual([])
      })

      it('are those of this feed, this chatbot and this mapping alone', async () => {
        await snapshot.confirm(chatbot, [confirmation('A')])
        expect((await knownTo('north')).find('raw of A')).toHaveLength(1)
        expect((await knownTo('south')).find('raw of A')).toEqual([])
        expect((await knownTo('north', 'another chatbot')).find('raw of A')).toEqual([])
        expect((await knownTo('north')).find('raw of B')).toEqual([])
        expect((await knownTo('north', chatbot, 'mapping 2')).find('raw of A')).toEqual([])
      })

      it('many of them are told apart', async () => {
        const all = Array.from({ length: 5000 }, (_, i) => confirmation(`M${i}`))
        await snapshot.confirm(chatbot, all)
        const known = await knownTo('north')
        for (const { key, id } of await rows()) expect(known.find(`raw of ${key}`)).toEqual([id])
        for (let i = 5000; i < 10_000; i++) expect(known.find(`raw of M${i}`)).toEqual([])
      })
    })

    describe('marks in flight', () => {
      it('stand on owned rows and on rows of their own', async () => {
        await snapshot.confirm(chatbot, [confirmation('A')])
        await begin('update', ['A'])
        await begin('create', ['B'], now + 1)
        expect(await row('A')).toMatchObject({ owned: true, flight: 'update', flightAt: now, content: 'content of A' })
        expect(await row('B')).toMatchObject({
          owned: false,
          flight: 'create',
          flightAt: now + 1,
          content: null,
          feed: 'north',
        })
        await expect(recall('B')).rejects.toThrow(StoreError)
      })

      it('go alone from an owned or refused row, and take a row that was only a mark with them', async () => {
        await snapshot.confirm(chatbot, [confirmation('A')])
        await snapshot.refuse(chatbot, 'north', 'R', { content: null, mapping: 'm', at: now, message: 'no' })
        await begin('create', ['A', 'B', 'R'])
        await ledger.end(chatbot, ['A', 'B', 'R', 'never there'], 'none')
        expect((await rows()).map(({ key, flight }) => [key, flight])).toEqual([
          ['A', null],
          ['R', null],
        ])
        expect((await recall('A'))?.listing).toEqual(house('A'))
      })

      it('stay for a delete that may still land, on a row that is ours no longer', async () => {
        await snapshot.confirm(chatbot, [confirmation('A', { isPutRight: true }), confirmation('B')])
        await begin('delete', ['A', 'B'])
        await snapshot.forget(chatbot, ['A'], now + hour)
        await snapshot.forget(chatbot, ['B', 'never there'], null)
        expect(await keys()).toEqual(['A'])
        expect(await row('A')).toMatchObject({
          owned: false,
          flight: 'delete',
          flightAt: now + hour,
          content: null,
          raw: null,
          undone: 0,
        })
        expect(await snapshot.count(chatbot, 'north')).toBe(0)
        expect((await snapshot.knownRecords(chatbot, 'north', 'mapping 1')).find('raw of A')).toEqual([])
        await expect(recall('A')).rejects.toThrow(StoreError)
      })

      it('end alone where the call is through, and leave the row and the ledger as they are', async () => {
        await snapshot.confirm(chatbot, [confirmation('A')])
        await begin('delete', ['A', 'B'])
        await ledger.end(chatbot, ['A', 'B', 'never there'], 'as-before')
        expect(await keys()).toEqual(['A'])
        expect(await row('A')).toMatchObject({ owned: true, flight: null, flightAt: null, content: 'content of A' })
        expect(await ledger.counted(chatbot, 'north', 'delete', now)).toBe(2)
      })
    })

    describe('what was changed lately', () => {
      const counted = (what: Parameters<typeof ledger.counted>[2], at = now, feed = 'north') =>
        ledger.counted(chatbot, feed, what, at)

      it('is counted by what of a listing was changed, each listing once, for 24 hours', async () => {
        expect(await counted('delete')).toBe(0)
        await begin('delete', ['A', 'B'])
        await begin('delete', ['A'], now + hour)
        await begin('delete', ['C'], now, ['left'])
        await begin('delete', ['R'], now, ['renumber'])
        await begin('update', ['D'], now, ['price', 'status'])
        await begin('update', ['E'], now, [])
        await begin('delete', ['F'], now, ['delete'], 'south')
        await ledger.begin('SN-2002', 'north', 'delete', [{ key: 'G', counts: ['delete'] }], now)
        const all = ['delete', 'renumber', 'price', 'status', 'create'] as const
        const counts = (at: number) => Promise.all(all.map((what) => counted(what, at)))
        expect(await counts(now + hour)).toEqual([2, 1, 1, 1, 0])
        expect(await counted('delete', now, 'south')).toBe(1)
        expect(await counts(now + day - 1)).toEqual([2, 1, 1, 1, 0])
        expect(await counts(now + day)).toEqual([1, 0, 0, 0, 0])
        expect(await counts(now + day + hour)).toEqual([0, 0, 0, 0, 0])
      })

      it('counts until 24 hours after the run began in which it was changed, and a little less', async () => {
        const slack = 5 * 60_000
        await begin('delete', ['A'], now + hour)
        await begin('delete', ['B'], now + 2 * hour + 1)
        await begin('delete', ['F'], now + hour, ['delete'], 'south')
        await runs.record(runRecord({ startedAt: now, finishedAt: now + 2 * hour }))
        const namesAt = async (at: number) =>
          (await remembered(at)).filter((history) => history.counted.length > 0).map(({ key }) => key)
        expect([await counted('delete', now + day - slack - 1), await namesAt(now + day - slack - 1)]).toEqual([
          2,
          ['A', 'B'],
        ])
        // Nothing of a run that has not ended yet, as of a clock that was set back.
        expect(await counted('delete', now + 2 * hour - 1)).toBe(2)
        // Repair changed something after it: that is of no run.
        expect([await counted('delete', now + day - slack), await namesAt(now + day - slack)]).toEqual([1, ['B']])
        expect(await counted('delete', now + day - slack, 'south')).toBe(1)
        expect(await counted('delete', now + day + 2 * hour)).toBe(1)
        expect(await counted('delete', now + day + 2 * hour + 1)).toBe(0)
      })

      it('is entered for each call by itself', async () => {
        const calls: Begun[] = [
          { key: 'A', counts: ['create'] },
          { key: 'B', counts: [] },
          { key: 'C', counts: ['renumber'] },
        ]
        await ledger.begin(chatbot, 'north', 'create', calls, now)
        expect((await remembered()).map(({ key, counted }) => [key, counted])).toEqual([
          ['A', ['create']],
          ['C', ['renumber']],
        ])
        expect((await rows()).map(({ key, flight }) => [key, flight])).toEqual([
          ['A', 'create'],
          ['B', 'create'],
          ['C', 'create'],
        ])
      })

      it('is taken back for a call that surely had no effect; what came before it stays', async () => {
        await begin('delete', ['A', 'B'])
        await snapshot.forget(chatbot, ['A'], null)
        await begin('delete', ['A'], now + hour)
        // The same call once more: its mark is written before each attempt.
        await begin('delete', ['A'], now + hour + 1)
        await ledger.end(chatbot, ['A', 'B'], 'none')
        expect(await remembered(now + hour)).toEqual([{ ...nothing, key: 'A', leftAt: now, counted: ['delete'] }])
        await begin('update', ['U'], now, ['price'])
        await ledger.end(chatbot, ['U'], 'none')
        await begin('update', ['U'], now + hour, ['price', 'status'])
        await ledger.end(chatbot, ['U'], 'as-before')
        expect(await memoryOf('U', now + day)).toMatchObject({ counted: ['price', 'status'] })
      })

      it('is taken back of the feed that took a listing over, too', async () => {
        await snapshot.confirm(chatbot, [confirmation('A', { feed: 'south' })])
        await begin('update', ['A'], now, ['price'])
        await begin('update', ['A'], now + 1, ['price'])
        await ledger.end(chatbot, ['A'], 'none')
        expect(await row('A')).toMatchObject({ feed: 'south', owned: true, flight: null })
        expect([...(await remembered()), ...(await remembered(now, 'south'))]).toEqual([])
      })

      it('a delete that counts for nothing takes no earlier one with it when it had no effect', async () => {
        await begin('delete', ['A'])
        await snapshot.forget(chatbot, ['A'], null)
        await snapshot.confirm(chatbot, [confirmation('A')])
        await begin('delete', ['A'], now + hour, ['left'])
        expect(await memoryOf('A', now + hour)).toMatchObject({ leftAt: now + hour, counted: ['delete'] })
        await ledger.end(chatbot, ['A'], 'none')
        expect(await memoryOf('A', now + hour)).toMatchObject({ leftAt: now, counted: ['delete'] })
      })

      it('tells how often a listing was deleted, if more than once, whether or not the guard counted it', async () => {
        await begin('delete', ['A', 'B'])
        await snapshot.forget(chatbot, ['A', 'B'], null)
        await begin('delete', ['B'], now + hour, ['left'])
        expect(await memoryOf('A', now + hour)).not.toHaveProperty('deletes')
        await begin('delete', ['A'], now + hour)
        await snapshot.forget(chatbot, ['A'], null)
        await begin('delete', ['A'], now + 2 * hour, ['renumber'])
        expect(await memoryOf('A', now + 2 * hour)).toMatchObject({ deletes: 3 })
        expect(await memoryOf('B', now + 2 * hour)).toMatchObject({ deletes: 2 })
      })

      it('counts the delete of a copy beside those of listings, unless it surely had no effect', async () => {
        await snapshot.confirm(chatbot, [confirmation('A'), confirmation('B')])
        const copyGone = async (
          copy: string,
          at: number,
          effect: 'none' | 'as-before' = 'as-before',
        ): Promise<void> => {
          await ledger.begin(chatbot, 'north', 'delete', [{ key: 'A', counts: ['delete'], copy }], at)
          await ledger.end(chatbot, ['A'], effect, copy)
        }
        await begin('delete', ['B'])
        await copyGone('7', now)
        await copyGone('8', now + hour)
        await copyGone('9', now + hour, 'none')
        await copyGone('8', now + hour + 1, 'none')
        expect(await counted('delete', now + hour)).toBe(3)
        expect(await counted('delete', now + day)).toBe(1)
        expect(await counted('delete', now, 'south')).toBe(0)
      })

      it('is forgotten by runs after two days, and what left after 45', async () => {
        const at = (time: number) => runs.record(runRecord({ finishedAt: time }))
        await begin('delete', ['A'])
        await begin('delete', ['B'], now, ['renumber'])
        await begin('delete', ['C'], now, ['left'])
        await begin('update', ['D'], now, ['price'])
        const kept = async () => (await remembered()).filter(({ counted, leftAt }) => leftAt ?? counted[0])
        await at(now + 47 * hour)
        expect((await kept()).map(({ key, counted }) => [key, counted])).toEqual([
          ['A', ['delete']],
          ['B', ['renumber']],
          ['C', []],
          ['D', ['price']],
        ])
        await at(now + 49 * hour)
        await at(now + 45 * day)
        expect((await kept()).map(({ key }) => key)).toEqual(['A', 'B', 'C'])
        await at(now + 45 * day + 1)
        expect(await kept()).toEqual([])
      })
    })

    describe('history', () => {
      it('counts absences of a feed from a chatbot, until they end or are not noted again', async () => {
        const noted = async (...of: Parameters<typeof remembered>) =>
          (await remembered(...of)).map(({ key, absence }) => [key, absence])
        await history.noteAbsences(chatbot, 'north', { absent: ['B', 'A'], returned: [], stillThere: [] }, now)
        await history.noteAbsences('another chatbot', 'north', { absent: ['A'], returned: [], stillThere: [] }, now)
        await history.noteAbsences(
          chatbot,
          'north',
          { absent: ['A', 'C'], returned: ['B', 'never there'], stillThere: [] },
          now + hour,
        )
        expect(await noted()).toEqual([
          ['A', { runs: 2, since: now }],
          ['C', { runs: 1, since: now + hour }],
        ])
        expect(await noted(now, 'south')).toEqual([])
        await history.noteAbsences(chatbot, 'north', { absent: ['C'], returned: [], stillThere: [] }, now + 2 * hour)
        await history.pruneAbsences(chatbot, 'south', now + 2 * hour)
        await history.pruneAbsences(chatbot, 'north', now + 2 * hour)
        expect(await noted()).toEqual([['C', { runs: 2, since: now + hour }]])
        expect(await noted(now, 'north', 'another chatbot')).toEqual([])
        const asked: Parameters<typeof history.isAbsent>[] = [
          [chatbot, 'north', 'C'],
          [chatbot, 'north', 'A'],
          [chatbot, 'south', 'C'],
          ['another chatbot', 'north', 'C'],
        ]
        const isAbsent = await Promise.all(asked.map((of) => history.isAbsent(...of)))
        expect(isAbsent).toEqual([true, false, false, false])
      })

      it('has the delete of a listing that is still there wait anew, where one waits that goes by itself', async () => {
        const asked = [newHeld('B', 'delete', { ends: 'never' }), newHeld('C', 'update price')]
        await hold([newHeld('A', 'delete'), ...asked, newHeld('D', 'delete')], now)
        const keys = { absent: [], returned: ['D'], stillThere: ['A', 'B', 'C'] }
        await history.noteAbsences(chatbot, 'north', keys, now + hour)
        const clocks = (await remembered(now + hour)).flatMap(({ key, holds: of }) =>
          of.map(({ clock }) => [key, clock]),
        )
        expect(clocks).toEqual([
          ['A', now + hour],
          ['B', null],
          ['C', now],
          ['D', now],
        ])
        expect((await remembered(now + hour))[0].holds[0].since).toBe(now)
      })

      it('has absence, ledger and holds of a listing side by side', async () => {
        await history.noteAbsences(chatbot, 'north', { absent: ['A'], returned: [], stillThere: [] }, now)
        await begin('update', ['A'], now + 1, ['status', 'price'])
        await begin('delete', ['A'], now + 2)
        await hold([newHeld('A', 'delete'), newHeld('A', 'update price', { ends: 'never' })], now + 3)
        await holds.decide('north', 'refused', 'Ada', now + 4, null)
        await hold([newHeld('A', 'delete'), newHeld('A', 'update price', { ends: 'never' }), lacking('A')], now + 5)
        const held = { content: 'content', isOfRule: true, decision: 'refused' }
        expect(await remembered(now + 5)).toEqual([
          {
            key: 'A',
            absence: { runs: 1, since: now },
            leftAt: now + 2,
            counted: ['delete', 'price', 'status'],
            heldSince: now + 3,
            holds: [
              { ...held, part: 'delete', since: now + 3, ends: 'confirmed', clock: now + 3 },
              { ...held, part: 'update price', since: now + 3, ends: 'never', clock: null },
            ],
          },
        ])
      })

      it('knows since when anything is held that no permission mends', async () => {
        await hold([lacking('A')])
        await hold([lacking('A'), newHeld('A', 'delete'), lacking('B')], now + hour)
        expect(await remembered()).toEqual([
          { ...nothing, key: 'A', heldSince: now, holds: [recordOf('delete', now + hour)] },
          { ...nothing, key: 'B', heldSince: now + hour },
        ])
      })

      it('remembers for 45 days that a listing left, whatever has been called since', async () => {
        await begin('delete', ['A'])
        await begin('delete', ['B'], now, ['renumber'])
        await begin('delete', ['C'], now, ['left'])
        await begin('create', ['A'], now + hour, ['create'])
        const left = async (at: number) => (await remembered(at)).flatMap(({ key, leftAt }) => (leftAt ? [key] : []))
        expect(await left(now + 45 * day - 1)).toEqual(['A', 'B', 'C'])
        expect(await left(now + 45 * day)).toEqual([])
        expect((await memoryOf('A', now + day))?.counted).toEqual(['create'])
        expect((await memoryOf('C'))?.counted).toEqual([])
        await begin('delete', ['B'], now + day, ['left'])
        expect((await memoryOf('B', now + day))?.leftAt).toBe(now + day)
      })

      it('knows an approval for 30 days, a refusal for ever', async () => {
        await hold([newHeld('A', 'delete')])
        const decision = async (at: number) => {
          const decided = [
            (await memoryOf('A', at))?.holds[0].decision,
            (await holds.held('north', at))[0].decision?.is,
          ]
          return decided.map((decision) => decision ?? null)
        }
        await holds.decide('north', 'approved', 'Ada', now, null)
        expect(await decision(now + 30 * day - 1)).toEqual(['approved', 'approved'])
        expect(await decision(now + 30 * day)).toEqual([null, null])
        await holds.decide('north', 'refused', 'Ada', now, null)
        expect(await decision(now + 300 * day)).toEqual(['refused', 'refused'])
      })

      it('is sorted as compareKeys sorts, over all planes of Unicode and all its sides', async () => {
        const all = ['\u{1F3E0}', '\uFF21', 'a', 'B', '\uE000', '\u{10FFFF}', 'é', 'A']
        await history.noteAbsences(chatbot, 'north', { absent: all.slice(0, 3), returned: [], stillThere: [] }, now)
        await begin('delete', all.slice(2, 6))
        await hold(all.slice(5).map((key) => newHeld(key, 'delete')))
        expect((await remembered()).map(({ key }) => key)).toEqual(all.toSorted(compareKeys))
      })

      it('gives each listing once, over many pages of sides that overlap, while it is written to', async () => {
        const key = (i: number) => `K${String(i).padStart(5, '0')}`
        const some = (of: number, from = 0) =>
          Array.from({ length: 4000 }, (_, i) => i).flatMap((i) => (i >= from && i % of === 0 ? [key(i)] : []))
        await history.noteAbsences(chatbot, 'north', { absent: some(2), returned: [], stillThere: [] }, now)
        await history.noteAbsences(chatbot, 'south', { absent: some(1), returned: [], stillThere: [] }, now)
        await begin('delete', some(3))
        await begin('update', some(7), now + 1, ['price', 'status'])
        await ledger.begin(
          'SN-2002',
          'north',
          'delete',
          some(1).map((key) => ({ key, counts: ['delete'] })),
          now,
        )
        // Of the last keys each side has a page of its own, and a listing may have several holds.
        await hold(
          some(1, 2500).flatMap((text) => [newHeld(text, 'delete'), newHeld(text, 'update status'), lacking(text)]),
        )
        const found: History[] = []
        const pages: number[] = []
        for await (const page of history.rows(chatbot, 'north', now + 1)) {
          found.push(...page)
          pages.push(page.length)
          await ledger.end(chatbot, [page[0].key], 'as-before')
        }
        expect(pages.length).toBeGreaterThan(2)
        expect(Math.max(...pages)).toBeLessThanOrEqual(1000)
        const wanted = Array.from({ length: 4000 }, (_, i): History => {
          const [absent, deleted, updated, held] = [i % 2 === 0, i % 3 === 0, i % 7 === 0, i >= 2500]
          return {
            key: key(i),
            absence: absent ? { runs: 1, since: now } : null,
            leftAt: deleted ? now : null,
            counted: [
              ...(deleted ? ['delete' as const] : []),
              ...(updated ? ['price' as const, 'status' as const] : []),
            ],
            heldSince: held ? now : null,
            holds: held ? [recordOf('delete', now), recordOf('update status', now)] : [],
          }
        }).filter(({ absence, counted, heldSince }) => absence ?? heldSince ?? counted[0])
        expect(found.map(({ key }) => key)).toEqual(wanted.map(({ key }) => key))
        expect(found).toEqual(wanted)
      })
    })

    describe('holds', () => {
      const eventsOf = async (feed = 'north', since = 0): Promise<[HoldEvent['what'], number, string | null][]> =>
        (await holds.events(feed, since)).map(({ what, holds, by }) => [what, holds, by])
      const heldNow = async (feed = 'north', at = now) =>
        (await holds.held(feed, at)).map(({ mlsNumber, part, since, clock }) => [mlsNumber, part, since, clock])

      it('are none where another feed has the listing, which is remembered until it is no longer said', async () => {
        await hold([{ ...lacking('A'), isElsewhere: true }, lacking('B')])
        expect([await holds.count('north'), await heldNow()]).toEqual([1, [['B', null, now, null]]])
        expect(await memoryOf('A')).toEqual({ ...nothing, key: 'A', heldSince: now, wasElsewhere: true })
        expect(await memoryOf('B')).toEqual({ ...nothing, key: 'B', heldSince: now })
        await hold([lacking('A')], now + hour)
        expect(await memoryOf('A')).toEqual({ ...nothing, key: 'A', heldSince: now })
        await hold([], now + 2 * hour)
        expect(await memoryOf('A')).toBeUndefined()
      })

      it('are as they were given, sorted, of one feed', async () => {
        await hold([lacking('B', 'two of them'), newHeld('B', 'create', { rules: ['leaving', 'arriving'] })])
        await hold([newHeld('Z', 'delete')], now, { feed: 'south' })
        await hold(
          [
            newHeld('C', 'update price', { rules: ['facts'] }),
            lacking('B', 'still two of them'),
            newHeld('B', 'create', { rules: ['leaving'] }, 'not yet'),
            newHeld('A', 'delete', { rules: ['older'], ends: 'never' }),
          ],
          now + hour,
        )
        const each = { decision: null, home: null }
        expect(await holds.held('north', now)).toEqual([
          {
            ...each,
            mlsNumber: 'A',
            part: 'delete',
            why: 'too many',
            rules: ['older'],
            since: now + hour,
            clock: null,
          },
          { ...each, mlsNumber: 'B', part: null, why: 'still two of them', rules: [], since: now, clock: null },
          { ...each, mlsNumber: 'B', part: 'create', why: 'not yet', rules: ['leaving'], since: now, clock: now },
          {
            ...each,
            mlsNumber: 'C',
            part: 'update price',
            why: 'too many',
            rules: ['facts'],
            since: now + hour,
            clock: now + hour,
          },
        ])
        expect([await holds.count('north'), await holds.count('south'), await holds.count('west')]).toEqual([3, 1, 0])
      })

      it('keep their time and their clock while the content is the same, and begin anew with another', async () => {
        await hold([newHeld('A', 'delete'), newHeld('B', 'update price')])
        await holds.decide('north', 'approved', 'Ada', now, null)
        await hold([newHeld('A', 'delete'), newHeld('B', 'update price', { content: 'another price' })], now + hour)
        expect(await heldNow()).toEqual([
          ['A', 'delete', now, now],
          ['B', 'update price', now + hour, now + hour],
        ])
        expect((await holds.held('north', now)).map(({ decision }) => decision)).toEqual([
          { is: 'approved', by: 'Ada', at: now },
          null,
        ])
        await hold([], now + 2 * hour)
        await hold([newHeld('A', 'delete')], now + 3 * hour)
        expect(await heldNow()).toEqual([['A', 'delete', now + 3 * hour, now + 3 * hour]])
        expect((await holds.held('north', now))[0].decision).toBeNull()
      })

      it('have a clock from when they were held first, once a rule lets go by itself, and keep it while one asks', async () => {
        const asking = newHeld('A', 'delete', { ends: 'never' })
        await hold([asking])
        expect(await heldNow()).toEqual([['A', 'delete', now, null]])
        await hold([newHeld('A', 'delete')], now + hour)
        expect(await heldNow()).toEqual([['A', 'delete', now, now]])
        await hold([asking], now + 2 * hour)
        expect(await heldNow()).toEqual([['A', 'delete', now, now]])
        await hold([{ ...asking, part: { ...asking.part!, content: 'other' } }], now + 3 * hour)
        expect(await heldNow()).toEqual([['A', 'delete', now + 3 * hour, null]])
        // The list has not said so before.
        await hold([{ ...asking, part: { ...asking.part!, content: 'other', ends: 'listed again' } }], now + 4 * hour)
        expect(await heldNow()).toEqual([['A', 'delete', now + 3 * hour, now + 4 * hour]])
      })

      it('have no time to tell while a rule that asks holds anything of the listing, and say which rules hold', async () => {
        await hold([
          newHeld('A', 'delete', { rules: ['unrecognisable', 'leaving'] }),
          newHeld('B', 'update', { rules: ['older'], ends: 'never' }),
          newHeld('B', 'update price', { rules: ['facts'] }),
          newHeld('C', 'update price', { rules: ['facts'] }),
        ])
        expect((await heldNow()).map(([, , , clock]) => clock)).toEqual([null, null, null, now])
        expect(await holds.surviving('north', now)).toEqual({ listings: 3, timed: 1 })
        const holding = async (feed: string, at: number) => {
          const waiting = await holds.waitingByRule(feed, at)
          return ['older', 'facts', 'arriving'].map((rule) => waiting.has(rule))
        }
        expect(await holding('north', now)).toEqual([true, true, false])
        expect(await holding('south', now)).toEqual([false, false, false])
        expect(await holds.waiting('north', now)).toBe(3)
        await holds.decide('north', 'refused', 'Ada', now, null)
        expect(await holds.surviving('north', now)).toEqual({ listings: 3, timed: 0 })
        await holds.decide('north', 'approved', 'Ada', now, null)
        expect(await holding('north', now)).toEqual([false, false, false])
        expect(await holding('north', now + 31 * day)).toEqual([true, true, false])
      })

      it('keep the rules that were refused while nothing but the refusal holds the same', async () => {
        const rulesNow = async () => (await holds.held('north', now)).map(({ mlsNumber, rules }) => [mlsNumber, rules])
        const noRule = { rules: [], ends: 'never' } as const
        const refusedOnly = (key: string) => ({ ...newHeld(key, 'delete', { ends: 'never' }), isRefused: true })
        const older = { rules: ['older'] } as const
        await hold([newHeld('A', 'delete', older), newHeld('B', 'delete', noRule), newHeld('C', 'delete', older)])
        await holds.decide('north', 'refused', 'Ada', now, null)
        await hold([refusedOnly('A'), newHeld('B', 'delete', noRule), newHeld('C', 'delete')], now + hour)
        expect(await rulesNow()).toEqual([
          ['A', ['older']],
          ['B', []],
          ['C', ['leaving']],
        ])
        expect(await holds.waitingByRule('north', now)).toEqual(
          new Map([
            ['older', 1],
            ['leaving', 1],
          ]),
        )
        // The record without MLSNumber that it waited for is gone.
        await hold([refusedOnly('B')], now + 2 * hour)
        expect(await rulesNow()).toEqual([['B', ['leaving']]])
        expect(await holds.waiting('north', now)).toBe(1)
      })

      it('refused for any content are that again if somebody took it back meanwhile; else nothing is for any content', async () => {
        await hold([newHeld('A', 'update price')])
        await holds.decide('north', 'refused', 'Ada', now, null)
        await holds.replace('north', [], { now, isWhole: false, isNewMapping: true, letGo: () => 0 })
        const contents = []
        for (const decision of [null, 'refused', 'approved', 'refused'] as const) {
          await holds.decide('north', decision, 'Ada', now, null)
          contents.push((await memoryOf('A'))?.holds[0].content)
        }
        expect(contents).toEqual(['', null, '', null])
        await hold([newHeld('A', 'update price', { content: 'of the new mapping' })], now + hour)
        expect((await memoryOf('A'))?.holds[0]).toMatchObject({ content: 'of the new mapping', decision: 'refused' })
      })

      it('have no time of a record without MLSNumber that kept the same: a rule begins anew', async () => {
        const noRule = { rules: [], ends: 'never' } as const
        const asking = (key: string) => newHeld(key, 'delete', { rules: ['older'], ends: 'never' })
        await hold([newHeld('A', 'delete', noRule), newHeld('B', 'delete', noRule), newHeld('C', 'delete', noRule)])
        await hold([newHeld('A', 'delete'), asking('B'), newHeld('C', 'delete', noRule)], now + hour)
        expect(await heldNow()).toEqual([
          ['A', 'delete', now + hour, now + hour],
          ['B', 'delete', now + hour, null],
          ['C', 'delete', now, null],
        ])
        await hold([newHeld('A', 'delete'), newHeld('B', 'delete'), asking('C')], now + 2 * hour)
        expect(await heldNow()).toEqual([
          ['A', 'delete', now + hour, now + hour],
          ['B', 'delete', now + hour, now + hour],
          ['C', 'delete', now + 2 * hour, null],
        ])
      })

      it('are only added to by a run that is not whole, which says anew what nobody can approve', async () => {
        await hold([newHeld('A', 'delete'), newHeld('B', 'delete'), lacking('C'), lacking('E')])
        await holds.decide('north', 'approved', 'Ada', now, null)
        const partial = [
          newHeld('A', 'delete', { content: 'other' }, 'otherwise'),
          newHeld('D', 'create'),
          lacking('C', 'x'),
        ]
        await hold(partial, now + hour, { isWhole: false })
        expect(await heldNow()).toEqual([
          ['A', 'delete', now, now],
          ['B', 'delete', now, now],
          ['C', null, now, null],
          ['D', 'create', now + hour, now + hour],
        ])
        const [a, , c] = await holds.held('north', now)
        expect([a.why, a.decision?.is, c.why]).toEqual(['too many', 'approved', 'x'])
        expect((await memoryOf('A'))?.holds[0].content).toBe('content')
        expect(await eventsOf()).toEqual([
          ['held', 2, null],
          ['approved', 2, 'Ada'],
          ['held', 1, null],
        ])
      })

      it('are what a run that is not whole says where another feed has the listing, or no longer', async () => {
        await hold([{ ...lacking('A'), isElsewhere: true }, lacking('B')])
        await hold([lacking('A'), { ...lacking('B'), isElsewhere: true }], now + hour, { isWhole: false })
        expect(await heldNow()).toEqual([['A', null, now, null]])
        expect([await memoryOf('A'), await memoryOf('B')]).toEqual([
          { ...nothing, key: 'A', heldSince: now },
          { ...nothing, key: 'B', heldSince: now, wasElsewhere: true },
        ])
      })

      it('stay as they are where they were let go and are not yet carried out', async () => {
        await hold([newHeld('A', 'delete', {}, 'the first reason'), newHeld('B', 'delete')])
        await holds.decide('north', 'approved', 'Ada', now, null)
        const letGo = { ...newHeld('A', 'delete', { content: '', rules: [], ends: 'never' }, 'gone'), isLetGo: true }
        await hold([letGo, { ...letGo, mlsNumber: 'never held' }], now + hour)
        const held = {
          mlsNumber: 'A',
          home: null,
          part: 'delete',
          why: 'the first reason',
          rules: ['leaving'],
          since: now,
        }
        expect(await holds.held('north', now)).toEqual([
          { ...held, clock: now, decision: { is: 'approved', by: 'Ada', at: now } },
        ])
        expect((await memoryOf('A'))?.holds[0]).toMatchObject({ content: 'content', ends: 'confirmed' })
        for (const clock of [now - day, now]) {
          await hold([{ ...letGo, clock }], now + hour)
          expect(await holds.held('north', now)).toMatchObject([{ clock: now - day }])
        }
      })

      it('are replaced wholly or not at all', async () => {
        await hold([newHeld('A', 'delete')])
        function* broken() {
          yield newHeld('B', 'delete')
          throw new Error('the plan could not be read')
        }
        const run = { now, isWhole: true, letGo: () => 0 }
        await expect(holds.replace('north', broken(), run)).rejects.toThrow('the plan could not be read')
        expect(await heldNow()).toEqual([['A', 'delete', now, now]])
        expect(await eventsOf()).toEqual([['held', 1, null]])
      })

      it('are decided about as long as they are what was looked at', async () => {
        await hold([newHeld('A', 'delete'), newHeld('B', 'update price'), lacking('C')])
        const shown = await holds.fingerprint('north')
        // Neither another sentence nor what can't be approved is another thing to decide about.
        await hold([newHeld('A', 'delete', { rules: ['older'] }, 'x'), newHeld('B', 'update price')], now + hour)
        expect(await holds.fingerprint('north')).toBe(shown)
        expect(await holds.fingerprint('south')).not.toBe(shown)
        expect(await holds.decide('north', 'approved', 'Ada', now + hour, shown)).toBe(2)
        // Somebody else has decided since it was looked at.
        expect(await holds.decide('north', 'refused', 'Bea', now + hour, shown)).toBeNull()
        expect((await holds.held('north', now)).map(({ decision }) => decision?.is)).toEqual(['approved', 'approved'])
        for (const changed of [
          [newHeld('A', 'delete')],
          [newHeld('A', 'delete'), newHeld('B', 'update price', { content: 'other' })],
          [newHeld('A', 'delete'), newHeld('B', 'update status')],
          [newHeld('A', 'delete'), newHeld('B', 'update price'), newHeld('D', 'delete')],
        ]) {
          await hold([newHeld('A', 'delete'), newHeld('B', 'update price')], now + 2 * hour)
          await holds.decide('north', null, 'Ada', now, null)
          await hold(changed, now + 3 * hour)
          const before = await eventsOf()
          expect(await holds.decide('north', 'refused', 'Ada', now, shown)).toBeNull()
          expect((await holds.held('north', now)).every(({ decision }) => decision === null)).toBe(true)
          expect(await eventsOf()).toEqual(before)
        }
        expect(await holds.decide('north', 'refused', 'Ada', now, await holds.fingerprint('north'))).toBe(3)
      })

      it('take a decision of either sort, the last one, and one that is taken back is none', async () => {
        await hold([newHeld('A', 'delete'), newHeld('B', 'update price'), lacking('C')])
        await hold([newHeld('Z', 'delete')], now, { feed: 'south' })
        const decisions = async () => (await holds.held('north', now)).map(({ decision }) => decision)
        expect(await holds.decide('north', null, 'Bob', now, null)).toBe(0)
        expect(await holds.decide('north', 'approved', 'Ada', now, null)).toBe(2)
        expect(await holds.decide('north', 'refused', 'Bob', now + 1, null)).toBe(2)
        const refused = { is: 'refused', by: 'Bob', at: now + 1 }
        expect(await decisions()).toEqual([refused, refused, null])
        await hold(
          [newHeld('A', 'delete'), newHeld('B', 'update price'), lacking('C'), newHeld('D', 'create')],
          now + 2,
        )
        expect(await decisions()).toEqual([refused, refused, null, null])
        expect(await holds.decide('north', null, 'Cy', now + 3, null)).toBe(2)
        expect(await decisions()).toEqual([null, null, null, null])
        expect((await holds.held('south', now))[0].decision).toBeNull()
        expect(await holds.decide('north', null, 'Cy', now + 4, null)).toBe(0)
        expect(await eventsOf()).toEqual([
          ['held', 2, null],
          ['approved', 2, 'Ada'],
          ['refused', 2, 'Bob'],
          ['held', 1, null],
          ['revoked', 2, 'Cy'],
        ])
      })

      it('are forgotten part by part once they are carried out', async () => {
        await hold([
          newHeld('A', 'update price'),
          newHeld('A', 'update status'),
          newHeld('A', 'delete'),
          newHeld('B', 'delete'),
        ])
        await hold([newHeld('A', 'delete')], now, { feed: 'south' })
        await holds.use('north', 'A', ['update price', 'delete', 'create'])
        expect((await heldNow()).map(([key, part]) => [key, part])).toEqual([
          ['A', 'update status'],
          ['B', 'delete'],
        ])
        expect(await holds.count('south')).toBe(1)
      })

      it('tell what happened to them, for 90 days', async () => {
        const at = (hours: number) => now + hours * hour
        await hold(['A', 'B', 'C', 'D'].map((key) => newHeld(key, 'delete')).concat(lacking('X')))
        // A is carried out, B is let go and not yet through, C is over, D wants something else, E is new.
        await holds.use('north', 'A', ['delete'])
        await hold(
          [
            { ...newHeld('B', 'delete', { content: '' }), isLetGo: true },
            newHeld('D', 'delete', { content: 'other' }),
            newHeld('E', 'create'),
          ],
          at(1),
          { letGo: 1 },
        )
        await hold([], at(2))
        await hold([], at(3))
        const events = [
          { at: now, what: 'held', holds: 4, by: null },
          { at: at(1), what: 'held', holds: 2, by: null },
          { at: at(1), what: 'let go', holds: 1, by: null },
          { at: at(1), what: 'ended', holds: 2, by: null },
          { at: at(2), what: 'ended', holds: 3, by: null },
        ]
        expect(await holds.events('north', 0)).toEqual(events)
        expect(await holds.events('north', at(2))).toEqual(events.slice(4))
        expect(await holds.events('south', 0)).toEqual([])
        await hold([], at(1) + 90 * day)
        expect(await holds.events('north', 0)).toEqual(events.slice(1))
      })
    })

    describe('runs', () => {
      it('of a feed never seen are none', async () => {
        expect(await runs.last('north')).toBeNull()
        expect(await runs.lastSuccess('north')).toBeNull()
        expect(await runs.lastAccepted('north')).toBeNull()
        expect(await runs.lastFilled('north')).toBeNull()
        expect(await runs.lastVerified('north')).toBeNull()
        expect(await runs.lostAt('north')).toBeNull()
      })

      it('the last one and the last success are known, over more runs than are kept', async () => {
        const stopped = runRecord({ result: 'failed', interrupted: true, error: 'stopped', finishedAt: now })
        await runs.record(stopped)
        expect(await runs.lastSuccess('north')).toBeNull()
        expect(await runs.last('north')).toEqual({ ...stopped, number: 1 })
        const record = (result: RunRecord['result'], at: number, chatbot = stopped.chatbot) =>
          runs.record(runRecord({ result, chatbot, startedAt: at, finishedAt: at }))
        await record('partial', now + 1)
        await record('failed', now + 2, 'wrong')
        expect(await runs.lastFilled('north')).toBe(stopped.chatbot)
        for (let i = 3; i < 1010; i++) await record('failed', now + i)
        expect(await runs.lastSuccess('north')).toBe(now + 1)
        expect((await runs.last('north'))?.finishedAt).toBe(now + 1009)
        expect(await runs.lastSuccess('south')).toBeNull()
      })

      it('are stamped with the name of the store and a number that grows with each lease, the next one between them', async () => {
        const { store: name, run } = await runs.stamp()
        expect(name).toMatch(/^[\da-f]{8}$/)
        const lease = await store.lease(chatbot, now)
        expect(await runs.stamp()).toEqual({ store: name, run })
        await lease.release()
        expect(await runs.stamp()).toEqual({ store: name, run: run + 1 })
        const renewed = await runs.renew(name, now)
        expect(renewed).toEqual({ store: expect.stringMatching(/^[\da-f]{8}$/), run: run + 1 })
        expect(renewed.store).not.toBe(name)
        expect(await runs.renew(name, now)).toEqual(renewed)
        expect(await runs.stamp()).toEqual(renewed)
      })

      it('of a store that was put back find its holds in doubt: each waits again, once, and old approvals have ended', async () => {
        const { holds, history } = store
        const day = 24 * hour
        await holds.replace('north', [newHeld('A', 'delete')], { now, isWhole: true, letGo: () => 0 })
        await holds.decide('north', 'approved', 'ann', now, null)
        const inDoubt = async (at: number) => {
          const [{ holds: found }] = await flattened(history.rows(chatbot, 'north', at, true))
          return found.map(({ clock, decision }) => [clock, decision])
        }
        const noted = async (at: number) =>
          (await holds.held('north', at)).map(({ clock, decision }) => [clock, decision?.is ?? null])
        expect(await inDoubt(now + 1)).toEqual([[now + 1, 'approved']])
        expect(await inDoubt(now + day)).toEqual([[now + day, null]])
        expect(await noted(now + day)).toEqual([[now, 'approved']])
        const { store: name } = await runs.stamp()
        const renewed = await runs.renew(name, now + day)
        await runs.recordLost('north', now + day)
        expect(await noted(now + day)).toEqual([[now + day, null]])
        await runs.renew(renewed.store, now + 2 * day)
        expect(await noted(now + 2 * day)).toEqual([[now + day, null]])
        expect(await inDoubt(now + 2 * day)).toEqual([[now + day, null]])
      })

      it('have a number from their begin on, which they keep on record, and others get none of it', async () => {
        const begun = (feed: string) => ({ feed, chatbot, command: 'sync', startedAt: now }) as const
        expect(await runs.underWay('north')).toBeNull()
        expect([await runs.begin(begun('north')), await runs.begin(begun('south'))]).toEqual([1, 2])
        await runs.noteProgress('north', 'half of it', now + 5)
        expect(await runs.underWay('north')).toMatchObject({
          number: 1,
          startedAt: now,
          seenAt: now + 5,
          progress: 'half of it',
        })
        // One that failed before it began.
        await runs.record(runRecord({ feed: 'east' }))
        await runs.record(runRecord({ feed: 'north' }))
        expect(await runs.underWay('north')).toBeNull()
        expect((await runs.last('north'))?.number).toBe(1)
        await runs.record(runRecord({ feed: 'south' }))
        expect((await runs.latest(null, 2)).map(({ number, feed }) => [number, feed])).toEqual([
          [3, 'east'],
          [2, 'south'],
        ])
        expect((await runs.latest('north', 9)).map(({ number }) => number)).toEqual([1])
        expect(await runs.numbered(2)).toMatchObject({ feed: 'south' })
        expect(await runs.numbered(9)).toBeNull()
      })

      it('that begin before the last one ended take for a little ago what the feed noted as later: that clock was ahead', async () => {
        const begin = (feed: string, startedAt: number) => runs.begin({ feed, chatbot, command: 'sync', startedAt })
        const later = now + 400 * day
        const whole = { now: later, isWhole: true, letGo: () => 0 }
        await snapshot.refuse(chatbot, 'north', 'A', { content: 'c', mapping: 'm', at: later, message: 'No' })
        await ledger.begin(chatbot, 'north', 'delete', [{ key: 'B', counts: ['delete'] }], later)
        await ledger.begin(chatbot, 'south', 'delete', [{ key: 'C', counts: ['delete'] }], later)
        await ledger.end(chatbot, ['B'], 'as-before')
        await ledger.begin(chatbot, 'north', 'delete', [{ key: 'B', counts: ['delete'] }], later + 1)
        const moved = { at: later, bornAt: later, isPutRight: true, suspectUntil: later + hour }
        await snapshot.confirm(chatbot, [
          confirmation('M', moved),
          confirmation('N', { at: now - day, suspectUntil: now + day }),
        ])
        await ledger.begin(chatbot, 'north', 'update', [{ key: 'M', counts: [] }], later)
        await ledger.noteMissing(chatbot, 'M', later + 1)
        await runs.recordLost('north', later)
        await deliveries.record('north', { completeAt: later })
        const writer = { run: 3, since: now - day, lookedAt: later, roseAt: later, wroteAt: null }
        await learnt.setWriters(chatbot, 'north', new Map([['1f3a9c02', writer]]))
        for (const feed of ['north', 'south']) {
          await holds.replace(feed, [newHeld('D', 'delete')], whole)
          await holds.decide(feed, 'approved', 'ada', later, null)
        }
        const seen = async (feed: string) => [
          (await holds.held(feed, now)).map(({ since, clock, decision }) => [since, clock, decision?.at]),
          (await row('A')).refusedAt,
          (await remembered(later + 2, feed)).map(({ key, counted, leftAt }) => [key, counted, leftAt]),
        ]
        const asNoted = (key: string, at: number) => [
          [[later, later, later]],
          later,
          [
            [key, ['delete'], at],
            ['D', [], null],
          ],
        ]
        await begin('north', now)
        expect(await seen('north')).toEqual(asNoted('B', later + 1))
        await runs.record(runRecord({ finishedAt: later + 2 }))
        await begin('south', now)
        expect(await seen('south')).toEqual(asNoted('C', later))
        await begin('north', now)
        const before = now - 1
        expect((await seen('north')).slice(0, 2)).toEqual([[[before, before, before]], before])
        expect(await row('M')).toMatchObject({
          sentAt: before,
          bornAt: before,
          putRightAt: before,
          suspectUntil: before + hour,
          raw: null,
          flight: 'update',
          flightAt: before,
          missedAt: before,
        })
        expect(await row('N')).toMatchObject({ sentAt: now - day, raw: 'raw of N', suspectUntil: now + day })
        expect([await runs.lostAt('north'), (await deliveries.last('north')).completeAt]).toEqual([before, before])
        expect(await learnt.writers(chatbot, 'north')).toEqual(
          new Map([['1f3a9c02', { run: 3, since: now - day, lookedAt: before, roseAt: before, wroteAt: null }]]),
        )
        expect((await remembered(now)).map(({ key, counted, leftAt }) => [key, counted, leftAt])).toEqual([
          ['B', ['delete'], before],
          ['D', [], null],
        ])
      })

      it.each([
        ['an hour', 'as late as it can be', hour, now + hour - 1],
        ['eight days', 'what it says', 8 * day, now - 30 * day - 1],
      ])('after a clock that was behind for %s take what was noted meanwhile for %s', async (_, __, long, at) => {
        const wrong = now - 30 * day
        const run = async (startedAt: number, finishedAt: number): Promise<void> => {
          await runs.begin({ feed: 'north', chatbot, command: 'sync', startedAt })
          await runs.record(runRecord({ startedAt, finishedAt }))
        }
        const whole = { now: now - day, isWhole: true, letGo: () => 0 }
        await holds.replace('north', [newHeld('D', 'delete')], whole)
        await ledger.begin(chatbot, 'north', 'create', [{ key: 'A', counts: ['create'] }], now - 2)
        await ledger.begin(chatbot, 'south', 'create', [{ key: 'S', counts: ['create'] }], wrong)
        await snapshot.confirm(chatbot, [confirmation('N', { at: now - 40 * day, suspectUntil: null })])
        await run(now - hour, now)
        await run(wrong, wrong + hour / 60)
        await ledger.begin(chatbot, 'north', 'delete', [{ key: 'B', counts: ['delete'] }], wrong + 2)
        await run(wrong + long / 2, wrong + long)
        const isWrong = () => Promise.all(['north', 'south'].map((feed) => runs.hadWrongClock(feed, now + hour)))
        expect(await isWrong()).toEqual([at > now, false])
        await runs.begin({ feed: 'north', chatbot, command: 'sync', startedAt: now + hour })
        expect((await holds.held('north', now)).map(({ since, clock }) => [since, clock])).toEqual([[at, at]])
        expect((await row('A')).flightAt).toBe(at)
        expect((await row('B')).flightAt).toBe(at > now ? at : wrong + 2)
        expect((await row('S')).flightAt).toBe(wrong)
        expect((await row('N')).sentAt).toBe(now - 40 * day)
        const counted = (await remembered(now + hour)).filter((history) => history.counted.length > 0)
        expect(counted.map(({ key }) => key)).toEqual(at > now ? ['A', 'B'] : [])
        expect(await isWrong()).toEqual([false, false])
      })

      it('tell that the clock was wrong, or is, where one began or ended more than a minute from now, and none since then', async () => {
        const minute = 60_000
        const wrong = (): Promise<boolean> => runs.hadWrongClock('north', now)
        expect(await wrong()).toBe(false)
        await runs.record(runRecord({ finishedAt: now + minute }))
        expect(await wrong()).toBe(false)
        await runs.record(runRecord({ finishedAt: now + minute + 1 }))
        expect([await wrong(), await runs.hadWrongClock('south', now)]).toEqual([true, false])
        await runs.record(runRecord({ startedAt: now - 1, finishedAt: now }))
        expect(await wrong()).toBe(false)
        for (const [before, isBehind] of [
          [minute, false],
          [minute + 1, true],
        ] as const) {
          const feed = `${isBehind}`
          await runs.record(runRecord({ feed, startedAt: now - minute, finishedAt: now }))
          await runs.record(runRecord({ feed, startedAt: now - before, finishedAt: now }))
          expect(await runs.hadWrongClock(feed, now + hour)).toBe(isBehind)
        }
        await runs.begin({ feed: 'north', chatbot, command: 'sync', startedAt: now + minute + 1 })
        expect(await wrong()).toBe(true)
      })

      it.each([true, false])(
        'that were killed under such a clock are as others (buried by a lease: %s)',
        async (isBuried) => {
          const wrong = now - 30 * day
          const begin = (startedAt: number) => runs.begin({ feed: 'north', chatbot, command: 'sync', startedAt })
          await runs.record(runRecord())
          await begin(wrong)
          await runs.noteProgress('north', 'half of it', wrong + 30_000)
          await ledger.begin(chatbot, 'north', 'create', [{ key: 'A', counts: [] }], wrong + 31_000)
          const lease = isBuried ? await store.lease(chatbot, now + hour) : null
          await begin(now + hour)
          expect((await row('A')).flightAt).toBe(now + hour - 1)
          await lease?.release()
        },
      )

      it('are put right after a clock that was wrong in several ways, or by a run that never began', async () => {
        const wrong = now - 30 * day
        const refused = async (key: string, at: number) => {
          await snapshot.refuse(chatbot, 'north', key, { content: 'c', mapping: 'm', at, message: 'No' })
        }
        await refused('A', now + 365 * day)
        await runs.record(runRecord({ startedAt: now + 365 * day }))
        const begin = (startedAt: number) => runs.begin({ feed: 'north', chatbot, command: 'sync', startedAt })
        await begin(now + hour)
        expect((await row('A')).refusedAt).toBe(now + hour - 1)
        await runs.record(runRecord({ startedAt: now + 2 * day, finishedAt: now + 2 * day }))
        for (const startedAt of [now + 2 * hour, wrong]) {
          await begin(startedAt)
          await refused('B', startedAt)
          await runs.record(runRecord({ startedAt, finishedAt: startedAt }))
        }
        await runs.record(runRecord({ startedAt: now + 3 * hour, finishedAt: now + 3 * hour, result: 'failed' }))
        await begin(now + 4 * hour)
        expect((await row('B')).refusedAt).toBe(now + 3 * hour - 1)
      })

      it('of all feeds are known by their names', async () => {
        expect(await runs.feeds()).toEqual([])
        for (const feed of ['south', 'north', 'south']) await runs.record(runRecord({ feed }))
        expect(await runs.feeds()).toEqual(['north', 'south'])
      })

      it('note a lost store, whether a run of the feed is on record or not', async () => {
        expect(await runs.lostAt(null)).toBeNull()
        await runs.recordLost('north', now)
        expect(await runs.lostAt('north')).toBe(now)
        await runs.record(runRecord({ feed: 'south' }))
        await runs.recordLost('south', now + 1)
        expect(await runs.lostAt('south')).toBe(now + 1)
        expect(await runs.lostAt(null)).toBe(now + 1)
        expect(await runs.lastSuccess('south')).toBe(now)
      })

      it('keep what people were told of a feed, whether a run of it is on record or not', async () => {
        expect(await runs.notified('north')).toBeNull()
        await runs.noteTold('north', 'first')
        await runs.noteTold('north', 'then')
        await runs.record(runRecord({ feed: 'north' }))
        expect(await runs.notified('north')).toBe('then')
        expect(await runs.notified('south')).toBeNull()
      })

      it('the last accepted delivery, and the last run after which the chatbot was asked', async () => {
        const verified = { asked: 3, agreed: 1, disagreed: 1, unanswered: 1, tokens: 90 }
        await runs.record(runRecord({ startedAt: now, finishedAt: now + 5, figures: '{"accepted":true}' }))
        await runs.recordVerified('north', now, verified)
        const later = { startedAt: now + hour, finishedAt: now + hour, figures: '{"accepted":false}' }
        await runs.record(runRecord(later))
        await runs.recordVerified('north', now + hour, { ...verified, asked: 0 })
        await runs.recordVerified('north', now + day, verified)
        expect(await runs.lastAccepted('north')).toBe(now)
        const failed = { result: 'failed', startedAt: now + day, figures: '{"accepted":true}' } as const
        await runs.record(runRecord(failed))
        expect([await runs.lastAccepted('north'), await runs.lastAccepted('north', true)]).toEqual([now + day, now])
        expect(await runs.lastVerified('north')).toEqual({ ...verified, at: now + 5 })
        expect(await runs.lastVerified('south')).toBeNull()
      })

      it('what came of the settings of the chatbot after a run, with its report', async () => {
        await runs.record({ ...runRecord({ startedAt: now, figures: '{"accepted":true}' }), report: 'first' })
        await runs.record(runRecord({ startedAt: now + hour }))
        for (const startedAt of [now, now + day])
          await runs.recordSettled('north', startedAt, { result: 'partial', report: 'then', unsettled: 'Not today' })
        const [last, first] = await runs.latest('north', 2)
        expect([last.result, first.result]).toEqual([runRecord({}).result, 'partial'])
        expect(JSON.parse(first.figures)).toEqual({ accepted: true, unsettled: 'Not today' })
        expect([await runs.report(first.number), await runs.report(last.number)]).toEqual(['then', null])
      })

      it('counts starts of a daemon until one stays up', async () => {
        expect(await runs.starts()).toEqual({ times: 0, at: 0 })
        expect([await runs.noteStart(now), await runs.noteStart(now + 1)]).toEqual([0, 1])
        expect(await runs.starts()).toEqual({ times: 2, at: now + 1 })
        await runs.noteSteady()
        expect((await runs.starts()).times).toBe(0)
        expect(await runs.noteStart(now + 2)).toBe(0)
      })
    })

    describe('deliveries', () => {
      const none = {
        loaded: null,
        completeAt: null,
        written: null,
        mapping: null,
        keyless: [],
        lastKey: null,
        validators: null,
      }

      it('of a feed never seen are none', async () => {
        expect(await deliveries.last('north')).toEqual(none)
      })

      it('keep what is left out, whatever else is noted of the feed', async () => {
        const first = {
          loaded: { chatbot, at: now },
          completeAt: now,
          written: { by: 'document', at: now - hour, source: 'https://feeds.example/north.xml' },
          mapping: 'mapping 1',
          keyless: [
            { identity: 'one', home: 'home', since: now, notedAt: now },
            { identity: 'two', home: null, since: now - day, notedAt: now - day },
          ],
          lastKey: 'M-7',
          validators: { ...saved, lastModified: 'Sat, 21 Nov 2026 12:00:00 GMT' },
        } as const
        await deliveries.record('north', first)
        expect(await deliveries.last('north')).toEqual(first)
        await runs.record(runRecord())
        await runs.recordLost('north', now)
        expect(await deliveries.last('north')).toEqual(first)
        await deliveries.record('north', { completeAt: now + day, keyless: [] })
        expect(await deliveries.last('north')).toEqual({ ...first, completeAt: now + day, keyless: [] })
        await deliveries.record('north', {})
        await deliveries.record('north', {
          loaded: null,
          written: null,
          mapping: null,
          lastKey: null,
          validators: null,
        })
        expect(await deliveries.last('north')).toEqual({ ...none, completeAt: now + day })
        expect(await runs.lastSuccess('north')).toBe(now)
        expect(await deliveries.last('south')).toEqual(none)
      })
    })

    it('leave what was refused as it is where only the mapping made another content of it', async () => {
      await hold([newHeld('A', 'create'), newHeld('B', 'create')], now)
      await holds.decide('north', 'refused', 'Ada', now, null)
      const other = ['A', 'B'].map((key) => newHeld(key, 'create', { content: 'other' }))
      const run = { isWhole: true, letGo: () => 0 }
      await holds.replace('north', other, { ...run, now: now + 1, isNewMapping: true })
      const refused = { since: now, clock: now, decision: { is: 'refused' } }
      expect(await holds.held('north', now)).toMatchObject([refused, refused])
      // A run that is not whole, or not about them, leaves that to the next one.
      const without = [
        { isWhole: false, held: [newHeld('A', 'create', { content: 'third' })] },
        { isWhole: true, held: [], of: new Set(['C']) },
      ]
      for (const { held, ...one } of without) {
        await holds.replace('north', held, { ...run, ...one, now: now + 1, isNewMapping: true })
        const third = ['A', 'B'].map((key) => newHeld(key, 'create', { content: `third ${held.length}` }))
        await holds.replace('north', third, { ...run, now: now + 1 })
        expect(await holds.held('north', now)).toMatchObject([refused, refused])
      }
      await holds.decide('north', 'approved', 'Ada', now + 2, null)
      await holds.replace('north', [newHeld('A', 'create')], { ...run, now: now + 3, isNewMapping: true })
      expect(await holds.held('north', now)).toMatchObject([{ mlsNumber: 'A', since: now + 3, decision: null }])
      // An approval is for what was shown, also of what was refused under another mapping.
      await holds.decide('north', 'refused', 'Ada', now + 2, null)
      await holds.replace('north', [], { ...run, isWhole: false, now: now + 2, isNewMapping: true })
      await holds.decide('north', 'refused', 'Ada', now + 2, null)
      await holds.decide('north', 'approved', 'Ada', now + 2, null)
      await holds.replace('north', [newHeld('A', 'create', { content: 'fourth' })], { ...run, now: now + 4 })
      expect(await holds.held('north', now)).toMatchObject([{ mlsNumber: 'A', since: now + 4, decision: null }])
    })

    it('leave what was refused as it is where the delivery is not believed', async () => {
      await hold([newHeld('A', 'create'), newHeld('B', 'create'), newHeld('C', 'create')], now)
      await holds.decide('north', 'refused', 'Ada', now, null)
      const run = { isWhole: true, letGo: () => 0 }
      const other = (key: string): NewHeld => newHeld(key, 'create', { content: 'other' })
      await holds.replace('north', [other('A'), newHeld('D', 'create')], { ...run, now: now + 1, isBelieved: false })
      const refused = { since: now, decision: { is: 'refused' } }
      const held = [refused, refused, refused, { mlsNumber: 'D', since: now + 1, decision: null }]
      expect(await holds.held('north', now)).toMatchObject(held)
      // A new hold of such a night is over with it.
      const right = ['A', 'B'].map((key) => newHeld(key, 'create'))
      await holds.replace('north', right, { ...run, now: now + 2 })
      expect(await holds.held('north', now)).toMatchObject([refused, refused])
    })

    it('begin anew where a delivery that asks says otherwise of a delete, unless it was refused', async () => {
      const pair = (key: string): NewHeld => newHeld(key, 'delete', { content: 'comes as N' })
      const asked = (key: string, changes: Partial<PartHeld> = {}): NewHeld =>
        newHeld(key, 'delete', { content: '', rules: ['unrecognisable'], ends: 'never', ...changes })
      await hold([pair('A')], now)
      await holds.decide('north', 'refused', 'Ada', now, null)
      const run = { isWhole: true, letGo: () => 0 }
      const c = newHeld('C', 'create', { content: 'comes for B' })
      await holds.replace('north', [pair('A'), pair('B'), c, pair('D')], { ...run, now: now + 1 })
      const d = asked('D', { rules: ['leaving'] })
      const strange = [asked('A'), asked('B'), asked('C', { part: 'create' }), d]
      await holds.replace('north', strange, { ...run, now: now + 2, isBelieved: false })
      expect((await holds.held('north', now)).map(({ mlsNumber, since }) => [mlsNumber, since])).toEqual([
        ['A', now],
        ['B', now + 2],
        ['C', now + 1],
        ['D', now + 1],
      ])
    })

    it('ends only holds of the MLSNumbers that a run is about', async () => {
      await hold([newHeld('A', 'delete'), newHeld('B', 'delete')], now)
      await holds.replace('north', [], { now: now + 1, isWhole: true, of: new Set(['A', 'C']), letGo: () => 0 })
      expect((await holds.held('north', now)).map(({ mlsNumber }) => mlsNumber)).toEqual(['B'])
    })

    describe('what of a delta is pending', () => {
      const removal = (mlsNumber: string) => ({ kind: 'removal', at: 'record 1', mlsNumber, why: 'Withdrawn' }) as const
      const found = { kind: 'listing', at: 'record 2', listing: house('B'), moving: { openHouseUntil: now } } as const
      const pending = async (feed = 'north') => {
        const all = []
        for await (const page of deliveries.pending(feed)) all.push(...page)
        return all
      }

      it('stays until it is done, with the time of its last word', async () => {
        await deliveries.notePending('north', [{ key: 'B', delivered: [found], at: now }], now)
        await deliveries.notePending('south', [{ key: 'B', delivered: [removal('B')], at: now }], now)
        const b = { key: 'B', delivered: [found, removal('B')], at: now + hour }
        const a = { key: 'A', delivered: [removal('A')], at: now - day }
        for (const later of [hour, day]) await deliveries.notePending('north', [b, a], now + later)
        expect(await pending()).toEqual([a, b])
        expect(await deliveries.pendingOf('north', ['C', 'B'])).toEqual(new Map([['B', b]]))
        await deliveries.endPending('north', ['A', 'never there'])
        expect(await pending()).toEqual([b])
        await deliveries.prunePending('north', now + day)
        expect(await pending()).toEqual([b])
        await deliveries.prunePending('north', now + day + 1)
        expect([await pending(), (await pending('south')).length]).toEqual([[], 1])
      })

      it('comes in pages sorted as compareKeys sorts, while it is written to', async () => {
        const keys = Array.from({ length: 2500 }, (_, i) => `K${String(i).padStart(5, '0')}`)
        const all = [...keys, '\u{1F3E0}', '\uFF21'].map((key) => ({ key, delivered: [removal(key)], at: now }))
        await deliveries.notePending('north', all, now)
        const seen: string[] = []
        for await (const page of deliveries.pending('north')) {
          seen.push(...page.map(({ key }) => key))
          await deliveries.endPending('north', [page[0].key])
        }
        expect(seen).toEqual([...keys, '\uFF21', '\u{1F3E0}'])
      })
    })

    describe('what was learnt', () => {
      it('other stores that wrote listings of a feed, each as it was noted last', async () => {
        expect(await learnt.writers(chatbot, 'north')).toEqual(new Map())
        const first: Writer = { run: 3, since: now, lookedAt: now, roseAt: null, wroteAt: null }
        const second: Writer = { run: 9, since: now, lookedAt: now + hour, roseAt: now, wroteAt: now + hour }
        await learnt.setWriters(chatbot, 'north', new Map([['1f3a9c02', first]]))
        await learnt.setWriters(
          chatbot,
          'north',
          new Map([
            ['00ffee00', first],
            ['1f3a9c02', second],
          ]),
        )
        await learnt.setWriters(chatbot, 'south', new Map([['1f3a9c02', first]]))
        const found = await learnt.writers(chatbot, 'north')
        expect([...found]).toEqual([
          ['00ffee00', first],
          ['1f3a9c02', second],
        ])
        expect(await learnt.writers('SN-2002', 'north')).toEqual(new Map())
      })

      it('are numbers of the service', async () => {
        expect(await learnt.number(chatbot, 'deleteBatch')).toBeNull()
        await learnt.setNumber(chatbot, 'deleteBatch', 25)
        await learnt.setNumber(chatbot, 'deleteBatch', 12)
        expect(await learnt.number(chatbot, 'deleteBatch')).toBe(12)
        expect(await learnt.number('SN-2002', 'deleteBatch')).toBeNull()
      })

      it('are fields that it shows in a form of its own, each once', async () => {
        expect(await learnt.forms('north')).toEqual([])
        await learnt.addForms('north', [])
        expect(await learnt.forms('north')).toEqual([])
        await learnt.addForms('north', ['City', 'State'])
        await learnt.addForms('north', ['State', 'ZIP'])
        expect((await learnt.forms('north')).toSorted()).toEqual(['City', 'State', 'ZIP'])
        expect(await learnt.forms('south')).toEqual([])
      })

      it('are the settings that were applied to a chatbot, until they may be otherwise', async () => {
        expect(await learnt.settings(chatbot)).toEqual(new Map())
        const settings = new Map<string, string | number | boolean>([
          ['WelcomeMessage', 'Hello ☀'],
          ['RateLimitCount', 5],
          ['VerifyDomain', false],
        ])
        await learnt.setSettings(chatbot, settings, now)
        const [before] = [await learnt.settingsHistory(chatbot)]
        await learnt.applySettings(chatbot, [{ name: 'RateLimitCount', from: 5, to: 6 }], now + hour)
        expect(before).toEqual([])
        expect(await learnt.settingsHistory(chatbot)).toEqual([
          { number: expect.any(Number), at: now + hour, changes: [{ name: 'RateLimitCount', from: 5, to: 6 }] },
        ])
        for (let i = 0; i < 120; i++)
          await learnt.applySettings('other', [{ name: 'Name', from: null, to: `${i}` }], now + i)
        expect((await learnt.settingsHistory('other')).map(({ at }) => at - now)).toEqual(
          Array.from({ length: 100 }, (_, i) => 119 - i),
        )
        expect(await learnt.settingsHistory(chatbot)).toHaveLength(1)
        await learnt.forgetSettings(chatbot, ['WelcomeMessage', 'Name'])
        expect(await learnt.settings(chatbot)).toEqual(
          new Map<string, unknown>([
            ['RateLimitCount', 6],
            ['VerifyDomain', false],
          ]),
        )
        expect(await learnt.settings('SN-2002')).toEqual(new Map())
      })
    })

    it('counts what a feed offers: listings that are not sold, their cities, the lowest price', async () => {
      expect(await snapshot.figures(chatbot, 'north')).toEqual({ listings: 0, cities: 0, minPrice: null })
      const put = (key: string, changes: Partial<Listing>, of: Partial<Confirmation> = {}) =>
        snapshot.confirm(chatbot, [confirmation(key, { sent: { listing: house(key, changes), moving: {} }, ...of })])
      await put('A', { City: 'Cedar Falls', SaleType: 'for_rent', RentPrice: 900, SalePrice: 5 })
      expect((await snapshot.figures(chatbot, 'north')).minPrice).toEqual({ amount: 900, currency: '$' })
      await put('B', { City: ' CEDAR falls', SalePrice: 250_000 })
      await put('C', { City: 'Dubuque', SalePrice: 189_000.5, Status: 'PreOnMarket' })
      await put('D', { City: 'Oxford', SalePrice: 100, CurrencySymbol: '£' })
      await put('E', { City: 'Waterloo', SalePrice: 1, Status: 'Sold' })
      await put('F', { SalePrice: 0, City: '' })
      await put('G', { City: 'Elsewhere', SalePrice: 2 }, { feed: 'south' })
      await begin('create', ['H'])
      expect(await snapshot.figures(chatbot, 'north')).toEqual({
        listings: 5,
        cities: 3,
        minPrice: { amount: 189_000.5, currency: '$' },
      })
      expect((await snapshot.figures('SN-2002', 'north')).listings).toBe(0)
    })

    describe('what was done about each home', () => {
      const home = {
        address: '12 Oak Street',
        city: 'Raleigh',
        saleType: 'for_sale',
        currency: '$',
        areaUnit: null,
        price: { from: null, to: 320_000 },
      } as const
      const created: Done = {
        mlsNumber: 'A',
        at: now,
        what: 'create',
        result: 'done',
        why: 'new in the feed',
        error: null,
        home,
        fields: [],
      }

      it('is told by home, the latest first, with what was sent', async () => {
        const price = { field: 'SalePrice', from: 320_000, to: 310_000 } as const
        const long = { field: 'Description', from: 'x'.repeat(5000), to: 'y' } as const
        const updated: Done = { ...created, at: now + 1, what: 'update', fields: [price, long] }
        const refused: Done = { ...created, mlsNumber: 'B', result: 'failed', error: 'no such type', home: null }
        await changes.note('north', [created, refused])
        await changes.note('south', [updated])
        expect(await changes.of('A', 10)).toEqual([
          { ...updated, feed: 'south', by: null, fields: [price, { field: 'Description', from: null, to: null }] },
          { ...created, feed: 'north', by: null },
        ])
        expect(await changes.of('A', 1)).toMatchObject([{ what: 'update' }])
        expect(await changes.of('B', 10)).toEqual([{ ...refused, feed: 'north', by: null }])
        expect(await changes.of('C', 10)).toEqual([])
      })

      it('is found by words of its address, as they are written', async () => {
        await changes.note('north', [created, { ...created, mlsNumber: 'B', home: { ...home, city: 'Cary' } }])
        expect(await changes.find('oak street, raleigh', 10)).toEqual(['A'])
        expect((await changes.find('OAK', 10)).toSorted()).toEqual(['A', 'B'])
        expect(await changes.find('OAK', 1)).toHaveLength(1)
        // Nothing in it is a pattern.
        expect(await changes.find('12%', 10)).toEqual([])
        expect(await changes.find('1_ Oak', 10)).toEqual([])
      })

      it('has what was held of it, once, how that ended, and who decided', async () => {
        const [old, other] = [
          { ...newHeld('A', 'delete'), home },
          { ...newHeld('B', 'update price'), home },
        ]
        await hold([old, newHeld('A', 'update price'), other])
        await hold([old, newHeld('A', 'update price'), other], now + 1)
        await holds.decide('north', 'approved', 'anna', now + 2, null)
        await holds.decide('north', null, 'bert', now + 3, null)
        // Nothing is decided any more that could be taken back.
        await holds.decide('north', null, 'bert', now + 4, null)
        await hold([old], now + 5, { isWhole: false })
        await hold([old, newHeld('A', 'update price')], now + 6)
        const changesOf = async (key: string) =>
          (await changes.of(key, 10)).map(({ at, what, by }) => [at - now, what, by])
        const decided = [
          [3, 'revoked', 'bert'],
          [2, 'approved', 'anna'],
          [0, 'held', null],
        ]
        expect(await changesOf('A')).toEqual(decided)
        expect(await changesOf('B')).toEqual([[6, 'ended', null], ...decided])
        expect(await changes.of('B', 1)).toMatchObject([{ why: 'too many', home, result: null, error: null }])
      })

      it('which each rule holds, and of one home alone', async () => {
        const b = { rules: ['leaving', 'facts'] } as const
        await hold([
          newHeld('A', 'delete'),
          newHeld('B', 'delete', b),
          newHeld('B', 'update price', { rules: ['facts'] }),
          newHeld('D', 'update price', { rules: ['chatbot'], ends: 'listed again' }),
          newHeld('E', 'delete', { rules: ['older'], ends: 'never' }),
          lacking('C'),
        ])
        expect(await holds.clocks('north', now)).toEqual(
          new Map([
            ['delete', 2],
            ['update price', 1],
          ]),
        )
        // But for what only asks.
        expect(await holds.surviving('north', now)).toEqual({ listings: 3, timed: 3 })
        await hold([])
        await hold([
          newHeld('A', 'delete'),
          newHeld('B', 'delete', b),
          newHeld('B', 'update price', { rules: ['facts'] }),
          lacking('C'),
        ])
        expect(await holds.waitingByRule('north', now)).toEqual(
          new Map([
            ['leaving', 2],
            ['facts', 1],
          ]),
        )
        expect(await holds.count('north')).toBe(3)
        expect((await holds.held('north', now, { keys: ['B'] })).map(({ part }) => part)).toEqual([
          'delete',
          'update price',
        ])
        expect(await holds.held('north', now, { keys: ['D'] })).toEqual([])
        expect(await holds.held('north', now, { keys: [] })).toEqual([])
        const some = await holds.held('north', now, { keys: ['C', 'D', 'A', 'C'] })
        expect(some.map(({ mlsNumber }) => mlsNumber)).toEqual(['A', 'C'])
        // The first listings, each whole.
        expect((await holds.held('north', now, { most: 2 })).map(({ mlsNumber }) => mlsNumber)).toEqual(['A', 'B', 'B'])
        expect(await holds.decide('north', 'approved', 'anna', now, null)).toBe(2)
        expect(await holds.clocks('north', now)).toEqual(new Map())
        expect(await holds.surviving('north', now)).toEqual({ listings: 0, timed: 0 })
        expect(await holds.waitingByRule('north', now)).toEqual(new Map())
        expect((await holds.waitingByRule('north', now + 31 * day)).get('leaving')).toBe(2)
        expect(await holds.approvals('north', now)).toEqual([{ by: 'anna', at: now, listings: 2 }])
        expect(await holds.approvable('north')).toBe(2)
        expect(await holds.approvals('north', now + 31 * day)).toEqual([])
      })

      it('is forgotten as more is noted, so that runs that note much do not make it grow', async () => {
        await changes.note(
          'north',
          Array.from({ length: 5 }, (_, at) => ({ ...created, at: now + at })),
        )
        const later = { ...created, mlsNumber: 'B', at: now + 91 * day }
        await changes.note('north', [later, later])
        expect((await changes.of('A', 10)).map(({ at }) => at)).toEqual([now + 4])
        await changes.note('north', [])
        expect(await changes.of('B', 10)).toHaveLength(2)
      })

      it('is forgotten by runs after 90 days', async () => {
        await changes.note('north', [created, { ...created, at: now + 1 }])
        await runs.record(runRecord({ finishedAt: now + 90 * day }))
        expect(await changes.of('A', 10)).toHaveLength(2)
        await runs.record(runRecord({ startedAt: now + 1, finishedAt: now + 90 * day + 1 }))
        expect((await changes.of('A', 10)).map(({ at }) => at)).toEqual([now + 1])
      })
    })

    describe('what happened last', () => {
      it('are the listings confirmed last, but not what is in flight, refused, sold or of others', async () => {
        await snapshot.confirm(chatbot, [
          confirmation('A', { at: now }),
          confirmation('C', { at: now + hour }),
          confirmation('B', { at: now + hour }),
          confirmation('D', { at: now + day }),
          confirmation('E', { at: now + day, feed: 'south' }),
        ])
        await begin('update', ['D'], now + day)
        expect(await snapshot.latest(chatbot, 'north', 2)).toEqual(['B', 'C'])
        expect(await snapshot.latest(chatbot, 'north', 9)).toEqual(['B', 'C', 'A'])
        expect(await snapshot.latest('SN-2002', 'north', 9)).toEqual([])
      })

      it('are the deletes, but not of what is there again, nor of copies', async () => {
        const deletes: [string, number, Begun['counts']][] = [
          ['A', now, ['delete']],
          ['B', now + 1, ['delete']],
          ['C', now + 2, ['left']],
          ['D', now + 3, ['renumber']],
        ]
        for (const [key, at, counts] of deletes) {
          await snapshot.confirm(chatbot, [confirmation(key)])
          await begin('delete', [key], at, counts)
          await snapshot.forget(chatbot, [key], null)
        }
        await ledger.begin(chatbot, 'north', 'delete', [{ key: 'E', counts: ['delete'], copy: '7' }], now + 3)
        await ledger.end(chatbot, ['E'], 'as-before')
        await snapshot.confirm(chatbot, [confirmation('B')])
        await begin('update', ['E'], now + 4, ['price'])
        await ledger.end(chatbot, ['E'], 'as-before')
        expect(await ledger.latest(chatbot, 'north', now - 1, 9)).toEqual(['D', 'C', 'A'])
        expect(await ledger.latest(chatbot, 'north', now - 1, 1)).toEqual(['D'])
        expect(await ledger.latest(chatbot, 'north', now, 9)).toEqual(['D', 'C'])
        expect(await ledger.latest(chatbot, 'south', now - 1, 9)).toEqual([])
      })

      it('is an address while somebody offers it', async () => {
        const at = (key: string, Address: string, changes = {}) =>
          confirmation(key, { sent: { listing: house(key, { Address, ...changes }), moving: {} } })
        await snapshot.confirm(chatbot, [at('A', '1 Elm St', { Status: 'Sold' }), at('B', '2 Elm St')])
        const offered = ['1 Elm St', '2 Elm St', '3 Elm St'].map((text) => snapshot.hasAddress(chatbot, text))
        expect(await Promise.all(offered)).toEqual([false, true, false])
        expect(await snapshot.hasAddress('SN-2002', '2 Elm St')).toBe(false)
      })
    })

    it('gives leases one at a time per chatbot, with a growing number', async () => {
      const first = await store.lease(chatbot, now)
      await expect(store.lease(chatbot, now)).rejects.toThrow(StoreError)
      const other = await store.lease('SN-2002', now)
      expect(other.token).toBeGreaterThan(first.token)
      await first.release()
      const second = await store.lease(chatbot, now)
      expect(second.token).toBeGreaterThan(other.token)
      await first.release()
      await expect(store.lease(chatbot, now)).rejects.toThrow(StoreError)
      await second.release()
      await other.release()
      await (await store.lease(chatbot, now)).release()
    })
  })
}
