/** What every store must do, whatever it is kept in. */
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StoreError } from '../../src/core/errors.ts'
import { compareKeys } from '../../src/core/listing.ts'
import type { Listing } from '../../src/core/listing.ts'
import type { Recalled, SnapshotRow } from '../../src/plan/inputs.ts'
import type { Confirmation, RunRecord, Store } from '../../src/store/store.ts'
import { flattened } from '../support/pages.ts'

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
    filled: 5,
    at: now,
    movesAt: null,
    suspectUntil: null,
    reason: null,
    baseline: null,
    ...changes,
  }
}

/** Validators as a run saves them. */
const saved = {
  source: 'https://feeds.example/north.xml',
  mapping: 'mapping 1',
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

export function storeContract(name: string, open: () => Store): void {
  describe(`store contract: ${name}`, () => {
    let store: Store
    let { snapshot, ledger, absences, holds, runs, deliveries, learnt } = {} as Store
    beforeEach(() => {
      store = open()
      ;({ snapshot, ledger, absences, holds, runs, deliveries, learnt } = store)
    })
    afterEach(() => store.close())

    const rows = (): Promise<SnapshotRow[]> => flattened(snapshot.rows(chatbot))
    const keys = async (): Promise<string[]> => (await rows()).map(({ key }) => key)
    async function row(key: string): Promise<SnapshotRow> {
      const found = (await rows()).find((row) => row.key === key)
      if (found === undefined) throw new Error(`no row for ${key}`)
      return found
    }
    const recall = async (key: string): Promise<Recalled | undefined> => {
      const { id } = await row(key)
      return (await snapshot.recall([id])).get(id)
    }
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
        await snapshot.confirm(chatbot, [confirmation('A', { ...times, reason: 'r' })])
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
          filled: 5,
          sentAt: now,
          baseline: null,
          ...times,
          streak: 1,
          streakReason: 'r',
          flight: null,
          flightAt: null,
          refusedContent: null,
          refusedMapping: null,
          refusedAt: null,
          refusedMessage: null,
        })
      })

      it('is sorted as compareKeys sorts, over all planes of Unicode', async () => {
        // Well-formed text without U+0000 only: neither a feed nor the service can give other keys.
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
            if (seen.length % 500 === 0) await ledger.begin(chatbot, 'north', 'update', [key], now, false)
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
        await ledger.begin(chatbot, 'north', 'create', ['E'], now, false)
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
      it('gives back what was sent', async () => {
        const listing = house('A', {
          Images: ['https://a.example.com/1.jpg'],
          Description: 'Ünïcode \u{1F3E0} "quoted"\n',
        })
        const moving = { openHouseUntil: now + hour, toursAfter: '3D' as const }
        await snapshot.confirm(chatbot, [confirmation('A', { sent: { listing, moving } })])
        expect(await recall('A')).toEqual({ listing, moving, echo: {} })
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
        for (const kind of ['create', 'update'] as const) await ledger.begin(chatbot, 'north', kind, ['D'], now, false)
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
        await snapshot.confirm(chatbot, [confirmation('A', { baseline: { hash: 'first', echo: { City: 'ROME' } } })])
        expect(await baseline('A')).toBe('first')
        expect((await recall('A'))?.echo).toEqual({ City: 'ROME' })
        await snapshot.refuse(chatbot, 'north', 'A', { content: 'c', mapping: 'm', at: now, message: 'no' })
        await ledger.begin(chatbot, 'north', 'update', ['A'], now, false)
        await snapshot.confirm(chatbot, [confirmation('A')])
        expect(await row('A')).toMatchObject({
          baseline: null,
          flight: null,
          flightAt: null,
          refusedAt: null,
          refusedMessage: null,
        })
        expect(await baseline('A')).toBeUndefined()
        expect((await recall('A'))?.echo).toEqual({})
      })

      it('counts how often the same reason comes in a row', async () => {
        const streaks: [number, string | null][] = []
        for (const reason of ['a', 'a', 'a', 'b', null, null, 'b']) {
          await snapshot.confirm(chatbot, [confirmation('A', { reason })])
          const { streak, streakReason } = await row('A')
          streaks.push([streak, streakReason])
        }
        expect(streaks).toEqual([
          [1, 'a'],
          [2, 'a'],
          [3, 'a'],
          [1, 'b'],
          [0, null],
          [0, null],
          [1, 'b'],
        ])
        await snapshot.endStreaks([(await row('A')).id])
        expect(await row('A')).toMatchObject({ streak: 0, streakReason: null })
        await snapshot.confirm(chatbot, [confirmation('A', { reason: 'b' })])
        expect((await row('A')).streak).toBe(1)
      })

      it('notes the first sight of a listing', async () => {
        await snapshot.confirm(chatbot, [confirmation('A'), confirmation('B'), confirmation('C')])
        const echo = { City: null, Bedrooms: 4 }
        await snapshot.setBaselines([
          { id: (await row('A')).id, hash: 'seen', echo },
          { id: (await row('C')).id, hash: 'seen too', echo: {} },
        ])
        expect((await row('A')).baseline).toBe('seen')
        expect(await recall('A')).toMatchObject({ echo, listing: house('A') })
        const baselines = new Map([['A', 'seen']])
        expect(await snapshot.baselines(chatbot, ['unknown', 'B', 'A'])).toEqual(baselines)
        await ledger.begin(chatbot, 'north', 'update', ['C'], now, false)
        expect(await snapshot.baselines(chatbot, ['A', 'C'])).toEqual(baselines)
        expect(await snapshot.baselines('SN-2002', ['A'])).toEqual(new Map())
      })

      it('takes new bytes of the same content without touching what was sent', async () => {
        await snapshot.confirm(chatbot, [confirmation('A', { baseline: { hash: 'first', echo: {} } })])
        const { id } = await row('A')
        const touched = { raw: 'new raw', parts: 2, mapping: 'mapping 2', filled: 9, movesAt: now + day }
        await snapshot.touch([{ id, ...touched, moving: { listedOn: '2026-11-01' } }])
        expect(await row('A')).toMatchObject({ ...touched, content: 'content of A', baseline: 'first', sentAt: now })
        expect(await recall('A')).toEqual({ listing: house('A'), moving: { listedOn: '2026-11-01' }, echo: {} })
      })

      it('gives the listings confirmed last, to their own feed only', async () => {
        await snapshot.confirm(chatbot, [confirmation('A'), confirmation('D')])
        await ledger.begin(chatbot, 'north', 'update', ['A'], now, false)
        await ledger.begin(chatbot, 'north', 'create', ['B'], now, false)
        const { listing, moving } = (await recall('A'))!
        const confirmed = (feed: string, ...of: string[]) => snapshot.confirmed(chatbot, feed, of)
        expect(await confirmed('north', 'A', 'B', 'a', 'never there')).toEqual(new Map([['A', { listing, moving }]]))
        expect([...(await confirmed('north', 'D', 'A')).keys()]).toEqual(['D', 'A'])
        expect(await confirmed('south', 'A')).toEqual(new Map())
        expect(await snapshot.confirmed('another chatbot', 'north', ['A'])).toEqual(new Map())
      })

      it('remembers a refusal, for a listing that is ours and for one that is not', async () => {
        await snapshot.confirm(chatbot, [confirmation('A')])
        await ledger.begin(chatbot, 'north', 'update', ['A'], now, false)
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
        await ledger.begin(chatbot, 'north', 'update', ['A'], now, false)
        await ledger.begin(chatbot, 'north', 'create', ['B'], now + 1, false)
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
        await ledger.begin(chatbot, 'north', 'create', ['A', 'B', 'R'], now, false)
        await ledger.end(chatbot, ['A', 'B', 'R', 'never there'], 'none')
        expect((await rows()).map(({ key, flight }) => [key, flight])).toEqual([
          ['A', null],
          ['R', null],
        ])
        expect((await recall('A'))?.listing).toEqual(house('A'))
      })

      it('stay for a delete that may still land, on a row that is ours no longer', async () => {
        await snapshot.confirm(chatbot, [confirmation('A', { reason: 'r' }), confirmation('B')])
        await ledger.begin(chatbot, 'north', 'delete', ['A', 'B'], now, true)
        await snapshot.forget(chatbot, ['A'], now + hour)
        await snapshot.forget(chatbot, ['B', 'never there'], null)
        expect(await keys()).toEqual(['A'])
        expect(await row('A')).toMatchObject({
          owned: false,
          flight: 'delete',
          flightAt: now + hour,
          content: null,
          raw: null,
          streak: 0,
        })
        expect(await snapshot.count(chatbot, 'north')).toBe(0)
        expect((await snapshot.knownRecords(chatbot, 'north', 'mapping 1')).find('raw of A')).toEqual([])
        await expect(recall('A')).rejects.toThrow(StoreError)
      })

      it('end alone where the call is through, and leave the row and the ledger as they are', async () => {
        await snapshot.confirm(chatbot, [confirmation('A')])
        await ledger.begin(chatbot, 'north', 'delete', ['A', 'B'], now, false)
        await ledger.end(chatbot, ['A', 'B', 'never there'], 'as-before')
        expect(await keys()).toEqual(['A'])
        expect(await row('A')).toMatchObject({ owned: true, flight: null, flightAt: null, content: 'content of A' })
        expect(await ledger.deletes24h(chatbot, 'north', now)).toBe(2)
      })
    })

    describe('deletes of 24 hours', () => {
      const has = async (key: string, at: number): Promise<boolean> =>
        (await ledger.has(chatbot, 'north', [key], at)).has(key)

      it('are counted by unapproved keys, each key once', async () => {
        const deletes = (at: number): Promise<number> => ledger.deletes24h(chatbot, 'north', at)
        expect(await deletes(now)).toBe(0)
        await ledger.begin(chatbot, 'north', 'delete', ['A', 'B'], now, false)
        await ledger.begin(chatbot, 'north', 'delete', ['A'], now + hour, false)
        await ledger.begin(chatbot, 'north', 'delete', ['C'], now, true)
        await ledger.begin(chatbot, 'north', 'update', ['D'], now, false)
        await ledger.begin(chatbot, 'south', 'delete', ['E'], now, false)
        expect(await deletes(now + 2 * hour)).toBe(2)
        expect(await ledger.has(chatbot, 'north', ['E', 'C', 'B', 'A'], now + hour)).toEqual(new Set(['A', 'B']))
        expect(await deletes(now + day - 1)).toBe(2)
        expect(await deletes(now + day)).toBe(1)
        expect(await deletes(now + day + hour)).toBe(0)
        expect(await has('A', now + day + hour)).toBe(false)
        await runs.record(runRecord({ finishedAt: now + 47 * hour }))
        expect(await deletes(now)).toBe(2)
        await runs.record(runRecord({ finishedAt: now + 50 * hour }))
        expect(await deletes(now)).toBe(0)
      })

      it('are of one chatbot: a delete from another is none of them', async () => {
        await ledger.begin('SN-2002', 'north', 'delete', ['A'], now, false)
        expect([await ledger.deletes24h(chatbot, 'north', now), await has('A', now)]).toEqual([0, false])
      })

      it('a delete that surely had no effect leaves the ledger, an earlier one of the same listing stays', async () => {
        await ledger.begin(chatbot, 'north', 'delete', ['A', 'B'], now, false)
        await snapshot.forget(chatbot, ['A'], null)
        await ledger.begin(chatbot, 'north', 'delete', ['A'], now + hour, false)
        await ledger.begin(chatbot, 'north', 'delete', ['A'], now + hour + 1, false)
        await ledger.end(chatbot, ['A', 'B'], 'none')
        expect(await ledger.deletes24h(chatbot, 'north', now + hour)).toBe(1)
        expect([await has('A', now + hour), await has('B', now + hour)]).toEqual([true, false])
      })

      it('an approved delete that had no effect takes no earlier one out of the ledger', async () => {
        await ledger.begin(chatbot, 'north', 'delete', ['A'], now, false)
        await snapshot.forget(chatbot, ['A'], null)
        await snapshot.confirm(chatbot, [confirmation('A')])
        await ledger.begin(chatbot, 'north', 'delete', ['A'], now + hour, true)
        await ledger.end(chatbot, ['A'], 'none')
        expect(await has('A', now + hour)).toBe(true)
      })

      it('counts a delete under a name of its own, once, beside those of listings', async () => {
        await ledger.begin(chatbot, 'north', 'delete', ['A'], now, false)
        for (const at of [now, now + hour]) await ledger.countDelete(chatbot, 'north', 'A (ID 7)', at)
        expect(await ledger.deletes24h(chatbot, 'north', now + hour)).toBe(2)
        expect(await ledger.deletes24h(chatbot, 'north', now + day)).toBe(1)
        expect(await ledger.deletes24h(chatbot, 'south', now)).toBe(0)
      })
    })

    it('counts absences of a feed from a chatbot, until they end or are not noted again', async () => {
      const noted = (feed = 'north', ofChatbot = chatbot) => flattened(absences.rows(ofChatbot, feed))
      await absences.note(chatbot, 'north', { absent: ['B', 'A'], returned: [] }, now)
      await absences.note('another chatbot', 'north', { absent: ['A'], returned: [] }, now)
      await absences.note(chatbot, 'north', { absent: ['A', 'C'], returned: ['B', 'never there'] }, now + hour)
      expect(await noted()).toEqual([
        { key: 'A', runs: 2, since: now },
        { key: 'C', runs: 1, since: now + hour },
      ])
      expect(await noted('south')).toEqual([])
      await absences.note(chatbot, 'north', { absent: ['C'], returned: [] }, now + 2 * hour)
      await absences.prune(chatbot, 'south', now + 2 * hour)
      await absences.prune(chatbot, 'north', now + 2 * hour)
      expect(await noted()).toEqual([{ key: 'C', runs: 2, since: now + hour }])
      expect(await noted('north', 'another chatbot')).toEqual([])
    })

    describe('runs', () => {
      it('of a feed never seen are none', async () => {
        expect(await runs.last('north')).toBeNull()
        expect(await runs.lastSuccess('north')).toBeNull()
        expect(await runs.lastAccepted('north')).toBeNull()
        expect(await runs.lastVerified('north')).toBeNull()
        expect(await runs.lostAt('north')).toBeNull()
      })

      it('the last one and the last success are known, over more runs than are kept', async () => {
        const stopped = runRecord({ result: 'failed', interrupted: true, error: 'stopped', finishedAt: now })
        await runs.record(stopped)
        expect(await runs.lastSuccess('north')).toBeNull()
        expect(await runs.last('north')).toEqual(stopped)
        await runs.record(runRecord({ result: 'partial', finishedAt: now + 1 }))
        for (let i = 2; i < 1010; i++) await runs.record(runRecord({ result: 'failed', finishedAt: now + i }))
        expect(await runs.lastSuccess('north')).toBe(now + 1)
        expect((await runs.last('north'))?.finishedAt).toBe(now + 1009)
        expect(await runs.lastSuccess('south')).toBeNull()
      })

      it('note a lost store, whether a run of the feed is on record or not', async () => {
        await runs.recordLost('north', now)
        expect(await runs.lostAt('north')).toBe(now)
        await runs.record(runRecord({ feed: 'south' }))
        await runs.recordLost('south', now + 1)
        expect(await runs.lostAt('south')).toBe(now + 1)
        expect(await runs.lastSuccess('south')).toBe(now)
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
        expect(await runs.lastVerified('north')).toEqual({ ...verified, at: now + 5 })
        expect(await runs.lastVerified('south')).toBeNull()
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
      it('of a feed never seen are none', async () => {
        expect(await deliveries.accepted('north')).toEqual([])
        expect(await deliveries.lastKeys('north')).toBeNull()
        expect(await deliveries.validators('north')).toBeNull()
        expect(await deliveries.generations('north', 'a')).toEqual([])
      })

      it('keeps five of them, and the keys of the last', async () => {
        for (let i = 1; i <= 7; i++) {
          const keys = new BigUint64Array([BigInt(i), 0xffff_ffff_ffff_ffffn])
          await deliveries.record('north', { at: now + i, records: 100 + i, keys }, { ...saved, etag: `"${i}"` })
        }
        expect(await deliveries.accepted('north')).toEqual(
          [7, 6, 5, 4, 3].map((i) => ({ at: now + i, records: 100 + i })),
        )
        expect(await deliveries.lastKeys('north')).toEqual(new BigUint64Array([7n, 0xffff_ffff_ffff_ffffn]))
        expect(await deliveries.validators('north')).toEqual({ ...saved, etag: '"7"' })
        const keys = new BigUint64Array([1n, 2n, 3n]).subarray(1, 2)
        await deliveries.record('north', { at: now, records: 0, keys }, null)
        expect(await deliveries.lastKeys('north')).toEqual(new BigUint64Array([2n]))
        expect(await deliveries.validators('north')).toBeNull()
      })

      it('begins anew with one that stands alone, and keeps the validators of one that has no size', async () => {
        const keys = new BigUint64Array([1n])
        for (let i = 1; i <= 3; i++) await deliveries.record('north', { at: now + i, records: i, keys }, null)
        await deliveries.record('north', { at: now + 4, records: 4, keys, alone: true }, null)
        expect(await deliveries.accepted('north')).toEqual([{ at: now + 4, records: 4 }])
        await deliveries.record('north', null, saved)
        expect(await deliveries.accepted('north')).toHaveLength(1)
        expect(await deliveries.validators('north')).toEqual(saved)
      })

      it('knows thirty different ones again, those of the last source', async () => {
        const written = { by: 'document', at: now - hour } as const
        for (let i = 1; i <= 33; i++)
          await deliveries.recordGeneration('north', 'a', { digest: `d${i}`, at: now + i, written: null })
        const known = () => deliveries.generations('north', 'a')
        expect((await known()).map(({ digest }) => digest)).toEqual(Array.from({ length: 30 }, (_, i) => `d${33 - i}`))
        await deliveries.recordGeneration('north', 'a', { digest: 'd10', at: now + 34, written })
        expect((await known()).slice(0, 2)).toEqual([
          { digest: 'd10', at: now + 34, written },
          { digest: 'd33', at: now + 33, written: null },
        ])
        await deliveries.recordGeneration('north', 'b', { digest: 'd1', at: now + 35, written: null })
        expect(await known()).toEqual([])
        expect(await deliveries.generations('north', 'b')).toHaveLength(1)
      })
    })

    describe('held and approved changes', () => {
      const held = (mlsNumber: string, kind: 'create' | 'update' | 'delete' | null, why = 'too many') => ({
        mlsNumber,
        kind,
        why,
      })

      it('keep the time of the first hold as long as they are held', async () => {
        await holds.replace('north', [held('A', 'delete'), held('B', null)], now)
        await holds.replace('south', [held('Z', 'delete')], now)
        await holds.replace('north', [held('A', 'delete', 'still too many'), held('C', 'update')], now + hour)
        expect(await holds.count('north')).toBe(2)
        expect(await holds.held('north')).toEqual([
          { ...held('A', 'delete', 'still too many'), since: now },
          { ...held('C', 'update'), since: now + hour },
        ])
        await holds.replace('north', [], now + 2 * hour)
        await holds.replace('north', [held('A', 'delete')], now + 3 * hour)
        expect(await holds.held('north')).toEqual([{ ...held('A', 'delete'), since: now + 3 * hour }])
        expect(await holds.held('south')).toHaveLength(1)
      })

      it('are replaced wholly or not at all', async () => {
        await holds.replace('north', [held('A', 'delete')], now)
        function* broken() {
          yield held('B', 'delete')
          throw new Error('the plan could not be read')
        }
        await expect(holds.replace('north', broken(), now)).rejects.toThrow('the plan could not be read')
        expect((await holds.held('north')).map((one) => one.mlsNumber)).toEqual(['A'])
      })

      it('are approved exactly as held, until a time, once', async () => {
        await holds.replace('north', [held('A', 'delete'), held('B', 'update'), held('C', null)], now)
        expect(await holds.approve('north', 'Ada', now, now + day)).toBe(2)
        await holds.replace('north', [held('D', 'delete')], now + 1)
        expect(await holds.approved('north', now)).toEqual(new Set(['delete A', 'update B']))
        expect(await holds.approved('south', now)).toEqual(new Set())
        expect(await holds.approved('north', now + day)).toEqual(new Set())
        await holds.use('north', 'delete', ['A', 'B'])
        expect(await holds.approved('north', now)).toEqual(new Set(['update B']))
        expect(await holds.approve('north', 'Ada', now + 2, now + day)).toBe(1)
        expect(await holds.approved('north', now + 2)).toEqual(new Set(['delete D']))
      })

      it('tell since when they are held', async () => {
        await holds.replace('north', [held('A', 'delete')], now)
        await holds.replace('north', [held('A', 'delete'), held('B', null)], now + hour)
        const since = (feed = 'north') => holds.since(feed, ['B', 'C', 'A'])
        expect(await since()).toEqual(
          new Map([
            ['B', now + hour],
            ['A', now],
          ]),
        )
        expect(await since('south')).toEqual(new Map())
        await holds.replace('north', [], now + 2 * hour)
        expect(await since()).toEqual(new Map())
      })

      it('are open approvals until used, expired or taken back', async () => {
        await holds.replace('north', [held('A', 'delete'), held('B', 'update'), held('C', 'delete')], now)
        expect(await holds.openApprovals('north', now)).toEqual([])
        expect(await holds.revoke('north', 'Bob', now)).toBe(0)
        await holds.approve('north', 'Ada', now, now + day)
        const open = { by: 'Ada', at: now, expires: now + day }
        expect(await holds.openApprovals('north', now)).toEqual([{ ...open, changes: 3 }])
        expect(await holds.openApprovals('north', now + day)).toEqual([])
        expect(await holds.openApprovals('south', now)).toEqual([])
        await holds.use('north', 'delete', ['A'])
        expect(await holds.openApprovals('north', now)).toEqual([{ ...open, changes: 2 }])
        expect(await holds.revoke('south', 'Bob', now + 1)).toBe(0)
        expect(await holds.revoke('north', 'Bob', now + 1)).toBe(2)
        expect(await holds.openApprovals('north', now + 1)).toEqual([])
        expect(await holds.approved('north', now + 1)).toEqual(new Set())
        expect(await holds.revoke('north', 'Bob', now + 2)).toBe(0)
        expect(await holds.approve('north', 'Ada', now + 3, now + day)).toBe(3)
        expect(await holds.approved('north', now + 3)).toEqual(new Set(['delete A', 'update B', 'delete C']))
      })

      it('can be approved again after an approval was used', async () => {
        await holds.replace('north', [held('A', 'delete')], now)
        await holds.approve('north', 'Ada', now, now + day)
        await holds.use('north', 'delete', ['A'])
        await holds.approve('north', 'Ada', now + hour, now + day)
        expect(await holds.approved('north', now + hour)).toEqual(new Set(['delete A']))
      })
    })

    describe('what was learnt', () => {
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
        await learnt.setSettings(chatbot, new Map([['RateLimitCount', 6]]), now + hour)
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
      await ledger.begin(chatbot, 'north', 'create', ['H'], now, false)
      expect(await snapshot.figures(chatbot, 'north')).toEqual({
        listings: 5,
        cities: 3,
        minPrice: { amount: 189_000.5, currency: '$' },
      })
      expect((await snapshot.figures('SN-2002', 'north')).listings).toBe(0)
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
        await ledger.begin(chatbot, 'north', 'update', ['D'], now + day, false)
        expect(await snapshot.latest(chatbot, 'north', 2)).toEqual(['B', 'C'])
        expect(await snapshot.latest(chatbot, 'north', 9)).toEqual(['B', 'C', 'A'])
        expect(await snapshot.latest('SN-2002', 'north', 9)).toEqual([])
      })

      it('are the deletes, but not of what is there again, nor of copies', async () => {
        await snapshot.confirm(
          chatbot,
          ['A', 'B', 'C'].map((key) => confirmation(key)),
        )
        for (const [key, at] of [
          ['A', now],
          ['B', now + 1],
          ['C', now + 2],
        ] as const) {
          await ledger.begin(chatbot, 'north', 'delete', [key], at, false)
          await snapshot.forget(chatbot, [key], null)
        }
        await ledger.countDelete(chatbot, 'north', 'A (ID 7)', now + 3)
        await snapshot.confirm(chatbot, [confirmation('B')])
        expect(await ledger.latest(chatbot, 'north', now - 1, 9)).toEqual(['C', 'A'])
        expect(await ledger.latest(chatbot, 'north', now - 1, 1)).toEqual(['C'])
        expect(await ledger.latest(chatbot, 'north', now, 9)).toEqual(['C'])
        expect(await ledger.latest(chatbot, 'south', now - 1, 9)).toEqual([])
      })

      it('is an address while somebody offers it', async () => {
        const at = (key: string, Address: string, changes = {}) =>
          confirmation(key, { sent: { listing: house(key, { Address, ...changes }), moving: {} } })
        await snapshot.confirm(chatbot, [at('A', '1 Elm St', { Status: 'Sold' }), at('B', '2 Elm St')])
        const offered = ['1 Elm St', '2 Elm St', '3 Elm St'].map((one) => snapshot.hasAddress(chatbot, one))
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
