/** What every store must do, whatever it is kept in. */
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StoreError } from '../../src/core/errors.ts'
import { compareKeys } from '../../src/core/listing.ts'
import type { Listing } from '../../src/core/listing.ts'
import type { SnapshotRow } from '../../src/plan/inputs.ts'
import type { Confirmation, RunRecord, Store } from '../../src/store/store.ts'

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
    beforeEach(() => {
      store = open()
    })
    afterEach(() => store.close())

    const rows = (): SnapshotRow[] => [...store.snapshot(chatbot)]
    function row(key: string): SnapshotRow {
      const found = rows().find((row) => row.key === key)
      if (found === undefined) throw new Error(`no row for ${key}`)
      return found
    }
    const keys = (): string[] => rows().map((row) => row.key)

    describe('snapshot', () => {
      it('is empty in a new store, and a chatbot sees only its own rows', () => {
        expect(rows()).toEqual([])
        store.confirm('SN-2002', [confirmation('A')])
        expect(rows()).toEqual([])
        expect([...store.snapshot('SN-2002')]).toHaveLength(1)
      })

      it('shows everything a confirmation told', () => {
        store.confirm(chatbot, [confirmation('A', { movesAt: now + hour, suspectUntil: now + 2 * hour, reason: 'r' })])
        const { id, ...rest } = row('A')
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
          movesAt: now + hour,
          suspectUntil: now + 2 * hour,
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

      it('is sorted as compareKeys sorts, over all planes of Unicode', () => {
        // Well-formed text without U+0000 only: neither a feed nor the service can give other keys.
        const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }).filter((text) => !text.includes('\0'))
        fc.assert(
          fc.property(fc.uniqueArray(key, { maxLength: 30 }), (some) => {
            store.forget(chatbot, keys(), null)
            store.confirm(
              chatbot,
              some.map((key) => confirmation(key)),
            )
            expect(keys()).toEqual([...some].sort(compareKeys))
          }),
          { numRuns: 60 },
        )
        store.forget(chatbot, keys(), null)
        store.confirm(
          chatbot,
          ['\u{1F3E0}', '\uFF21', 'a', 'B'].map((key) => confirmation(key)),
        )
        // By UTF-16 code units the house would come before the full-width letter.
        expect(keys()).toEqual(['B', 'a', '\uFF21', '\u{1F3E0}'])
      })

      it('can be written to while it is walked, over many pages', () => {
        const many = Array.from({ length: 2500 }, (_, i) => `K${String(i).padStart(5, '0')}`)
        store.confirm(
          chatbot,
          many.map((key) => confirmation(key)),
        )
        const seen: string[] = []
        for (const { key } of store.snapshot(chatbot)) {
          seen.push(key)
          if (seen.length % 500 === 0) store.markInFlight(chatbot, 'north', 'update', [key], now, false)
        }
        expect(seen).toEqual(many)
        expect(rows().filter((row) => row.flight === 'update')).toHaveLength(5)
      })
    })

    describe('confirm and recall', () => {
      it('gives back what was sent', () => {
        const listing = house('A', {
          Images: ['https://a.example.com/1.jpg'],
          Description: 'Ünïcode \u{1F3E0} "quoted"\n',
        })
        const moving = { openHouseUntil: now + hour, toursAfter: '3D' as const }
        store.confirm(chatbot, [confirmation('A', { sent: { listing, moving } })])
        expect(store.recall(row('A').id)).toEqual({ listing, moving, echo: {} })
      })

      it('keeps the id over updates, and never gives an old id to a new row', () => {
        store.confirm(chatbot, [confirmation('A')])
        const { id } = row('A')
        store.confirm(chatbot, [
          confirmation('A', { content: 'other', sent: { listing: house('A', { Bedrooms: 4 }), moving: {} } }),
        ])
        expect(row('A')).toMatchObject({ id, content: 'other' })
        expect(store.recall(id).listing.Bedrooms).toBe(4)
        store.forget(chatbot, ['A'], null)
        store.confirm(chatbot, [confirmation('A')])
        expect(row('A').id).toBeGreaterThan(id)
        expect(() => store.recall(id)).toThrow(StoreError)
      })

      it('clears mark, refusal and baseline', () => {
        store.confirm(chatbot, [confirmation('A', { baseline: { hash: 'first', echo: { City: 'ROME' } } })])
        expect(store.baseline(chatbot, 'A')).toBe('first')
        expect(store.recall(row('A').id).echo).toEqual({ City: 'ROME' })
        store.refuse(chatbot, 'north', 'A', { content: 'c', mapping: 'm', at: now, message: 'no' })
        store.markInFlight(chatbot, 'north', 'update', ['A'], now, false)
        store.confirm(chatbot, [confirmation('A')])
        expect(row('A')).toMatchObject({
          baseline: null,
          flight: null,
          flightAt: null,
          refusedAt: null,
          refusedMessage: null,
        })
        expect(store.baseline(chatbot, 'A')).toBeNull()
        expect(store.recall(row('A').id).echo).toEqual({})
      })

      it('counts how often the same reason comes in a row', () => {
        const streaks: [number, string | null][] = []
        for (const reason of ['a', 'a', 'a', 'b', null, null, 'b']) {
          store.confirm(chatbot, [confirmation('A', { reason })])
          streaks.push([row('A').streak, row('A').streakReason])
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
        store.steady([row('A').id])
        expect(row('A')).toMatchObject({ streak: 0, streakReason: null })
        store.confirm(chatbot, [confirmation('A', { reason: 'b' })])
        expect(row('A').streak).toBe(1)
      })

      it('notes the first sight of a listing', () => {
        store.confirm(chatbot, [confirmation('A')])
        store.firstSight([{ id: row('A').id, hash: 'seen', echo: { City: null, Bedrooms: 4 } }])
        expect(row('A').baseline).toBe('seen')
        expect(store.baseline(chatbot, 'A')).toBe('seen')
        expect(store.recall(row('A').id)).toMatchObject({ echo: { City: null, Bedrooms: 4 }, listing: house('A') })
        expect(store.baseline(chatbot, 'unknown')).toBeNull()
      })

      it('takes new bytes of the same content without touching what was sent', () => {
        store.confirm(chatbot, [confirmation('A', { baseline: { hash: 'first', echo: {} } })])
        const { id } = row('A')
        const touched = { raw: 'new raw', parts: 2, mapping: 'mapping 2', filled: 9, movesAt: now + day }
        store.touch([{ id, ...touched, moving: { listedOn: '2026-11-01' } }])
        expect(row('A')).toMatchObject({ ...touched, content: 'content of A', baseline: 'first', sentAt: now })
        expect(store.recall(id)).toEqual({ listing: house('A'), moving: { listedOn: '2026-11-01' }, echo: {} })
      })
    })

    describe('marks in flight', () => {
      it('stand on owned rows and on rows of their own', () => {
        store.confirm(chatbot, [confirmation('A')])
        store.markInFlight(chatbot, 'north', 'update', ['A'], now, false)
        store.markInFlight(chatbot, 'north', 'create', ['B'], now + 1, false)
        expect(row('A')).toMatchObject({ owned: true, flight: 'update', flightAt: now, content: 'content of A' })
        expect(row('B')).toMatchObject({
          owned: false,
          flight: 'create',
          flightAt: now + 1,
          content: null,
          feed: 'north',
        })
        expect(() => store.recall(row('B').id)).toThrow(StoreError)
      })

      it('go alone from an owned or refused row, and take a row that was only a mark with them', () => {
        store.confirm(chatbot, [confirmation('A')])
        store.refuse(chatbot, 'north', 'R', { content: null, mapping: 'm', at: now, message: 'no' })
        store.markInFlight(chatbot, 'north', 'create', ['A', 'B', 'R'], now, false)
        store.clearFlight(chatbot, ['A', 'B', 'R', 'never there'])
        expect(keys()).toEqual(['A', 'R'])
        expect(rows().map((row) => row.flight)).toEqual([null, null])
        expect(store.recall(row('A').id).listing).toEqual(house('A'))
      })

      it('stay for a delete that may still land, on a row that is ours no longer', () => {
        store.confirm(chatbot, [confirmation('A', { reason: 'r' }), confirmation('B')])
        store.markInFlight(chatbot, 'north', 'delete', ['A', 'B'], now, true)
        store.forget(chatbot, ['A'], now + hour)
        store.forget(chatbot, ['B', 'never there'], null)
        expect(keys()).toEqual(['A'])
        expect(row('A')).toMatchObject({
          owned: false,
          flight: 'delete',
          flightAt: now + hour,
          content: null,
          raw: null,
          streak: 0,
        })
        expect(store.feedState('north', chatbot, now).owned).toBe(0)
        expect(store.knownRecords('north', chatbot, 'mapping 1').find('raw of A')).toEqual([])
        expect(() => store.recall(row('A').id)).toThrow(StoreError)
      })
    })

    it('lets a mark end alone, and leaves the row and the ledger as they are', () => {
      store.confirm(chatbot, [confirmation('A')])
      store.markInFlight(chatbot, 'north', 'delete', ['A', 'B'], now, false)
      for (const key of ['A', 'B', 'never there']) store.endFlight(chatbot, key)
      expect(keys()).toEqual(['A'])
      expect(row('A')).toMatchObject({ owned: true, flight: null, flightAt: null, content: 'content of A' })
      expect(store.feedState('north', chatbot, now).deletes24h).toBe(2)
    })

    it('counts a delete under a name of its own, once, beside those of listings', () => {
      store.markInFlight(chatbot, 'north', 'delete', ['A'], now, false)
      for (const at of [now, now + hour]) store.countDelete(chatbot, 'north', 'A (ID 7)', at)
      expect(store.feedState('north', chatbot, now + hour).deletes24h).toBe(2)
      expect(store.feedState('north', chatbot, now + day).deletes24h).toBe(1)
      expect(store.feedState('south', chatbot, now).deletes24h).toBe(0)
    })

    it('remembers a refusal, for a listing that is ours and for one that is not', () => {
      store.confirm(chatbot, [confirmation('A')])
      store.markInFlight(chatbot, 'north', 'update', ['A'], now, false)
      const refusal = { content: 'c2', mapping: 'm2', at: now + 5, message: 'Url: not allowed' }
      store.refuse(chatbot, 'north', 'A', refusal)
      store.refuse(chatbot, 'north', 'B', { ...refusal, content: null })
      const noted = { refusedMapping: 'm2', refusedAt: now + 5, refusedMessage: 'Url: not allowed', flight: null }
      expect(row('A')).toMatchObject({ ...noted, refusedContent: 'c2', owned: true, content: 'content of A' })
      expect(row('B')).toMatchObject({ ...noted, refusedContent: null, owned: false, feed: 'north' })
    })

    it('counts absences of a feed from a chatbot, until they end or are not noted again', () => {
      const absences = (feed = 'north', ofChatbot = chatbot) => [...store.absences(feed, ofChatbot)]
      store.noteAbsences('north', chatbot, { absent: ['B', 'A'], returned: [] }, now)
      store.noteAbsences('north', 'another chatbot', { absent: ['A'], returned: [] }, now)
      store.noteAbsences('north', chatbot, { absent: ['A', 'C'], returned: ['B', 'never there'] }, now + hour)
      expect(absences()).toEqual([
        { key: 'A', runs: 2, since: now },
        { key: 'C', runs: 1, since: now + hour },
      ])
      expect(absences('south')).toEqual([])
      store.noteAbsences('north', chatbot, { absent: ['C'], returned: [] }, now + 2 * hour)
      store.pruneAbsences('south', chatbot, now + 2 * hour)
      store.pruneAbsences('north', chatbot, now + 2 * hour)
      expect(absences()).toEqual([{ key: 'C', runs: 2, since: now + hour }])
      expect(absences('north', 'another chatbot')).toEqual([])
    })

    it('gives the listing confirmed last, to its own feed only', () => {
      store.confirm(chatbot, [confirmation('A')])
      store.markInFlight(chatbot, 'north', 'update', ['A'], now, false)
      store.markInFlight(chatbot, 'north', 'create', ['B'], now, false)
      const { listing, moving } = store.recall(row('A').id)
      expect(store.confirmed(chatbot, 'north', 'A')).toEqual({ listing, moving })
      expect(store.confirmed(chatbot, 'south', 'A')).toBeNull()
      expect(store.confirmed('another chatbot', 'north', 'A')).toBeNull()
      expect(store.confirmed(chatbot, 'north', 'B')).toBeNull()
      expect(store.confirmed(chatbot, 'north', 'a')).toBeNull()
    })

    describe('records known by their raw hash', () => {
      it('are all the listings of one record, or none', () => {
        const twins = { record: { raw: 'two in one', parts: 2 } }
        store.confirm(chatbot, [confirmation('A', twins), confirmation('B', twins), confirmation('C')])
        const known = store.knownRecords('north', chatbot, 'mapping 1')
        expect([...known.find('two in one')].sort((a, b) => a - b)).toEqual([row('A').id, row('B').id])
        expect(known.find('raw of C')).toEqual([row('C').id])
        store.forget(chatbot, ['B'], null)
        expect(store.knownRecords('north', chatbot, 'mapping 1').find('two in one')).toEqual([])
      })

      it('are those of this feed, this chatbot and this mapping alone', () => {
        store.confirm(chatbot, [confirmation('A')])
        expect(store.knownRecords('south', chatbot, 'mapping 1').find('raw of A')).toEqual([])
        expect(store.knownRecords('north', 'another chatbot', 'mapping 1').find('raw of A')).toEqual([])
        expect(store.knownRecords('north', chatbot, 'mapping 1').find('raw of B')).toEqual([])
        expect(store.knownRecords('north', chatbot, 'mapping 2').find('raw of A')).toEqual([])
      })

      it('many of them are told apart', () => {
        const all = Array.from({ length: 5000 }, (_, i) => confirmation(`M${i}`))
        store.confirm(chatbot, all)
        const known = store.knownRecords('north', chatbot, 'mapping 1')
        for (const one of store.snapshot(chatbot)) expect(known.find(`raw of ${one.key}`)).toEqual([one.id])
        for (let i = 5000; i < 10_000; i++) expect(known.find(`raw of M${i}`)).toEqual([])
      })
    })

    describe('state of a feed', () => {
      it('of a feed never seen', () => {
        expect(store.feedState('north', chatbot, now)).toEqual({
          deliveries: [],
          lastKeys: null,
          owned: 0,
          rows: 0,
          deletes24h: 0,
          lostAt: null,
          isNew: true,
          lastRun: null,
          lastSuccess: null,
          validators: null,
          echoReported: [],
        })
      })

      it('counts the keys of unapproved deletes over 24 hours, each key once', () => {
        const deletes = (at: number): number => store.feedState('north', chatbot, at).deletes24h
        store.markInFlight(chatbot, 'north', 'delete', ['A', 'B'], now, false)
        store.markInFlight(chatbot, 'north', 'delete', ['A'], now + hour, false)
        store.markInFlight(chatbot, 'north', 'delete', ['C'], now, true)
        store.markInFlight(chatbot, 'north', 'update', ['D'], now, false)
        store.markInFlight(chatbot, 'south', 'delete', ['E'], now, false)
        expect(deletes(now + 2 * hour)).toBe(2)
        expect(store.inLedger('north', 'A', now + hour)).toBe(true)
        expect(store.inLedger('north', 'C', now + hour)).toBe(false)
        expect(deletes(now + day - 1)).toBe(2)
        expect(deletes(now + day)).toBe(1)
        expect(deletes(now + day + hour)).toBe(0)
        expect(store.inLedger('north', 'A', now + day + hour)).toBe(false)
        store.recordRun(runRecord({ finishedAt: now + 47 * hour }))
        expect(deletes(now)).toBe(2)
        store.recordRun(runRecord({ finishedAt: now + 50 * hour }))
        expect(deletes(now)).toBe(0)
      })

      it('a delete that surely had no effect leaves the ledger, an earlier one of the same listing stays', () => {
        store.markInFlight(chatbot, 'north', 'delete', ['A', 'B'], now, false)
        store.forget(chatbot, ['A'], null)
        store.markInFlight(chatbot, 'north', 'delete', ['A'], now + hour, false)
        store.markInFlight(chatbot, 'north', 'delete', ['A'], now + hour + 1, false)
        store.clearFlight(chatbot, ['A', 'B'])
        expect(store.feedState('north', chatbot, now + hour).deletes24h).toBe(1)
        expect(store.inLedger('north', 'A', now + hour)).toBe(true)
        expect(store.inLedger('north', 'B', now + hour)).toBe(false)
      })

      it('an approved delete that had no effect takes no earlier one out of the ledger', () => {
        store.markInFlight(chatbot, 'north', 'delete', ['A'], now, false)
        store.forget(chatbot, ['A'], null)
        store.confirm(chatbot, [confirmation('A')])
        store.markInFlight(chatbot, 'north', 'delete', ['A'], now + hour, true)
        store.clearFlight(chatbot, ['A'])
        expect(store.inLedger('north', 'A', now + hour)).toBe(true)
      })

      it('knows the last run and the last success, over more runs than are kept', () => {
        store.recordRun(runRecord({ result: 'failed', interrupted: true, error: 'stopped', finishedAt: now }))
        expect(store.feedState('north', chatbot, now)).toMatchObject({ isNew: true, lastSuccess: null })
        expect(store.feedState('north', chatbot, now).lastRun).toEqual(
          runRecord({ result: 'failed', interrupted: true, error: 'stopped', finishedAt: now }),
        )
        store.recordRun(runRecord({ result: 'partial', finishedAt: now + 1 }))
        for (let i = 2; i < 1010; i++) store.recordRun(runRecord({ result: 'failed', finishedAt: now + i }))
        expect(store.feedState('north', chatbot, now)).toMatchObject({ lastSuccess: now + 1, isNew: false })
        expect(store.feedState('south', chatbot, now).isNew).toBe(true)
      })

      it('keeps five deliveries, and the keys of the last', () => {
        for (let i = 1; i <= 7; i++) {
          const keys = new BigUint64Array([BigInt(i), 0xffff_ffff_ffff_ffffn])
          store.recordDelivery('north', { at: now + i, records: 100 + i, keys }, { ...saved, etag: `"${i}"` })
        }
        const state = store.feedState('north', chatbot, now)
        expect(state.deliveries).toEqual([7, 6, 5, 4, 3].map((i) => ({ at: now + i, records: 100 + i })))
        expect(state.lastKeys).toEqual(new BigUint64Array([7n, 0xffff_ffff_ffff_ffffn]))
        expect(state.validators).toEqual({ ...saved, etag: '"7"' })
        store.recordDelivery(
          'north',
          { at: now, records: 0, keys: new BigUint64Array([1n, 2n, 3n]).subarray(1, 2) },
          null,
        )
        expect(store.feedState('north', chatbot, now)).toMatchObject({
          lastKeys: new BigUint64Array([2n]),
          validators: null,
        })
      })

      it('counts what the feed owns for this chatbot, and notes a lost store and reported fields', () => {
        store.confirm(chatbot, [confirmation('A'), confirmation('B'), confirmation('C', { feed: 'south' })])
        store.confirm('SN-2002', [confirmation('D')])
        store.markInFlight(chatbot, 'north', 'create', ['E'], now, false)
        store.recordLost('north', now)
        store.reportEcho('north', ['City', 'State'])
        store.reportEcho('north', ['State', 'ZIP'])
        expect(store.feedState('north', chatbot, now)).toMatchObject({
          owned: 2,
          lostAt: now,
          echoReported: ['City', 'State', 'ZIP'],
          isNew: true,
        })
      })
    })

    describe('held and approved changes', () => {
      const held = (mlsNumber: string, kind: 'create' | 'update' | 'delete' | null, why = 'too many') => ({
        mlsNumber,
        kind,
        why,
      })

      it('keep the time of the first hold as long as they are held', () => {
        store.replaceHeld('north', [held('A', 'delete'), held('B', null)], now)
        store.replaceHeld('south', [held('Z', 'delete')], now)
        store.replaceHeld('north', [held('A', 'delete', 'still too many'), held('C', 'update')], now + hour)
        expect(store.heldCount('north')).toBe(2)
        expect(store.held('north')).toEqual([
          { ...held('A', 'delete', 'still too many'), since: now },
          { ...held('C', 'update'), since: now + hour },
        ])
        store.replaceHeld('north', [], now + 2 * hour)
        store.replaceHeld('north', [held('A', 'delete')], now + 3 * hour)
        expect(store.held('north')).toEqual([{ ...held('A', 'delete'), since: now + 3 * hour }])
        expect(store.held('south')).toHaveLength(1)
      })

      it('are replaced wholly or not at all', () => {
        store.replaceHeld('north', [held('A', 'delete')], now)
        function* broken() {
          yield held('B', 'delete')
          throw new Error('the plan could not be read')
        }
        expect(() => store.replaceHeld('north', broken(), now)).toThrow('the plan could not be read')
        expect(store.held('north').map((one) => one.mlsNumber)).toEqual(['A'])
      })

      it('are approved exactly as held, until a time, once', () => {
        store.replaceHeld('north', [held('A', 'delete'), held('B', 'update'), held('C', null)], now)
        expect(store.approve('north', 'Ada', now, now + day)).toBe(2)
        store.replaceHeld('north', [held('D', 'delete')], now + 1)
        expect(store.approved('north', now)).toEqual(new Set(['delete A', 'update B']))
        expect(store.approved('south', now)).toEqual(new Set())
        expect(store.approved('north', now + day)).toEqual(new Set())
        store.consumeApproval('north', 'delete', ['A', 'B'])
        expect(store.approved('north', now)).toEqual(new Set(['update B']))
        expect(store.approve('north', 'Ada', now + 2, now + day)).toBe(1)
        expect(store.approved('north', now + 2)).toEqual(new Set(['delete D']))
      })

      it('tell since when they are held, one by one', () => {
        store.replaceHeld('north', [held('A', 'delete')], now)
        store.replaceHeld('north', [held('A', 'delete'), held('B', null)], now + hour)
        const since = (key: string, feed = 'north'): number | null => store.heldSince(feed, key)
        expect([since('A'), since('B'), since('C'), since('A', 'south')]).toEqual([now, now + hour, null, null])
        store.replaceHeld('north', [], now + 2 * hour)
        expect(since('A')).toBeNull()
      })

      it('are open approvals until used, expired or taken back', () => {
        store.replaceHeld('north', [held('A', 'delete'), held('B', 'update'), held('C', 'delete')], now)
        expect(store.openApprovals('north', now)).toEqual([])
        expect(store.revoke('north', 'Bob', now)).toBe(0)
        store.approve('north', 'Ada', now, now + day)
        const open = { by: 'Ada', at: now, expires: now + day }
        expect(store.openApprovals('north', now)).toEqual([{ ...open, changes: 3 }])
        expect(store.openApprovals('north', now + day)).toEqual([])
        expect(store.openApprovals('south', now)).toEqual([])
        store.consumeApproval('north', 'delete', ['A'])
        expect(store.openApprovals('north', now)).toEqual([{ ...open, changes: 2 }])
        expect(store.revoke('south', 'Bob', now + 1)).toBe(0)
        expect(store.revoke('north', 'Bob', now + 1)).toBe(2)
        expect(store.openApprovals('north', now + 1)).toEqual([])
        expect(store.approved('north', now + 1)).toEqual(new Set())
        expect(store.revoke('north', 'Bob', now + 2)).toBe(0)
        expect(store.approve('north', 'Ada', now + 3, now + day)).toBe(3)
        expect(store.approved('north', now + 3)).toEqual(new Set(['delete A', 'update B', 'delete C']))
      })

      it('can be approved again after an approval was used', () => {
        store.replaceHeld('north', [held('A', 'delete')], now)
        store.approve('north', 'Ada', now, now + day)
        store.consumeApproval('north', 'delete', ['A'])
        store.approve('north', 'Ada', now + hour, now + day)
        expect(store.approved('north', now + hour)).toEqual(new Set(['delete A']))
      })
    })

    it('counts starts of a daemon until one stays up', () => {
      expect(store.starts()).toEqual({ times: 0, at: 0 })
      expect([store.noteStart(now), store.noteStart(now + 1)]).toEqual([0, 1])
      expect(store.starts()).toEqual({ times: 2, at: now + 1 })
      store.noteSteady()
      expect([store.starts().times, store.noteStart(now + 2)]).toEqual([0, 0])
    })

    it('remembers numbers learnt about the service', () => {
      expect(store.learnt(chatbot, 'deleteBatch')).toBeNull()
      store.learn(chatbot, 'deleteBatch', 25)
      store.learn(chatbot, 'deleteBatch', 12)
      expect(store.learnt(chatbot, 'deleteBatch')).toBe(12)
      expect(store.learnt('SN-2002', 'deleteBatch')).toBeNull()
    })

    it('remembers the settings that were applied to a chatbot, until they may be otherwise', () => {
      expect(store.appliedSettings(chatbot)).toEqual(new Map())
      const settings = new Map<string, string | number | boolean>([
        ['WelcomeMessage', 'Hello ☀'],
        ['RateLimitCount', 5],
        ['VerifyDomain', false],
      ])
      store.rememberSettings(chatbot, settings, now)
      store.rememberSettings(chatbot, new Map([['RateLimitCount', 6]]), now + hour)
      store.forgetSettings(chatbot, ['WelcomeMessage', 'Name'])
      expect(store.appliedSettings(chatbot)).toEqual(
        new Map<string, unknown>([
          ['RateLimitCount', 6],
          ['VerifyDomain', false],
        ]),
      )
      expect(store.appliedSettings('SN-2002')).toEqual(new Map())
    })

    it('counts what a feed offers: listings that are not sold, their cities, the lowest price', () => {
      expect(store.figures(chatbot, 'north')).toEqual({ listings: 0, cities: 0, minPrice: null })
      const put = (key: string, changes: Partial<Listing>, of: Partial<Confirmation> = {}) =>
        store.confirm(chatbot, [confirmation(key, { sent: { listing: house(key, changes), moving: {} }, ...of })])
      put('A', { City: 'Cedar Falls', SaleType: 'for_rent', RentPrice: 900, SalePrice: 5 })
      expect(store.figures(chatbot, 'north').minPrice).toEqual({ amount: 900, currency: '$' })
      put('B', { City: ' CEDAR falls', SalePrice: 250_000 })
      put('C', { City: 'Dubuque', SalePrice: 189_000.5, Status: 'PreOnMarket' })
      put('D', { City: 'Oxford', SalePrice: 100, CurrencySymbol: '£' })
      put('E', { City: 'Waterloo', SalePrice: 1, Status: 'Sold' })
      put('F', { SalePrice: 0, City: '' })
      put('G', { City: 'Elsewhere', SalePrice: 2 }, { feed: 'south' })
      store.markInFlight(chatbot, 'north', 'create', ['H'], now, false)
      expect(store.figures(chatbot, 'north')).toEqual({
        listings: 5,
        cities: 3,
        minPrice: { amount: 189_000.5, currency: '$' },
      })
      expect(store.figures('SN-2002', 'north').listings).toBe(0)
    })

    describe('what happened last', () => {
      it('are the listings confirmed last, but not what is in flight, refused, sold or of others', () => {
        store.confirm(chatbot, [
          confirmation('A', { at: now }),
          confirmation('C', { at: now + hour }),
          confirmation('B', { at: now + hour }),
          confirmation('D', { at: now + day }),
          confirmation('E', { at: now + day, feed: 'south' }),
        ])
        store.markInFlight(chatbot, 'north', 'update', ['D'], now + day, false)
        expect(store.latestConfirmed(chatbot, 'north', 2)).toEqual(['B', 'C'])
        expect(store.latestConfirmed(chatbot, 'north', 9)).toEqual(['B', 'C', 'A'])
        expect(store.latestConfirmed('SN-2002', 'north', 9)).toEqual([])
      })

      it('are the deletes, but not of what is there again, nor of copies', () => {
        store.confirm(
          chatbot,
          ['A', 'B', 'C'].map((key) => confirmation(key)),
        )
        for (const [key, at] of [
          ['A', now],
          ['B', now + 1],
          ['C', now + 2],
        ] as const) {
          store.markInFlight(chatbot, 'north', 'delete', [key], at, false)
          store.forget(chatbot, [key], null)
        }
        store.countDelete(chatbot, 'north', 'A (ID 7)', now + 3)
        store.confirm(chatbot, [confirmation('B')])
        expect(store.latestDeleted(chatbot, 'north', now - 1, 9)).toEqual(['C', 'A'])
        expect(store.latestDeleted(chatbot, 'north', now - 1, 1)).toEqual(['C'])
        expect(store.latestDeleted(chatbot, 'north', now, 9)).toEqual(['C'])
        expect(store.latestDeleted(chatbot, 'south', now - 1, 9)).toEqual([])
      })

      it('is an address while somebody offers it', () => {
        const at = (key: string, Address: string, changes = {}) =>
          confirmation(key, { sent: { listing: house(key, { Address, ...changes }), moving: {} } })
        store.confirm(chatbot, [at('A', '1 Elm St', { Status: 'Sold' }), at('B', '2 Elm St')])
        expect(['1 Elm St', '2 Elm St', '3 Elm St'].map((one) => store.hasAddress(chatbot, one))).toEqual([
          false,
          true,
          false,
        ])
        expect(store.hasAddress('SN-2002', '2 Elm St')).toBe(false)
      })

      it('is the last accepted delivery, and the last run after which the chatbot was asked', () => {
        expect([store.lastAccepted('north'), store.lastVerified('north')]).toEqual([null, null])
        const verified = { asked: 3, agreed: 1, disagreed: 1, unanswered: 1, tokens: 90 }
        store.recordRun(runRecord({ startedAt: now, finishedAt: now + 5, figures: '{"accepted":true}' }))
        store.recordVerified('north', now, verified)
        store.recordRun(runRecord({ startedAt: now + hour, finishedAt: now + hour, figures: '{"accepted":false}' }))
        store.recordVerified('north', now + hour, { ...verified, asked: 0 })
        store.recordVerified('north', now + day, verified)
        expect(store.lastAccepted('north')).toBe(now)
        expect(store.lastVerified('north')).toEqual({ ...verified, at: now + 5 })
        expect(store.lastVerified('south')).toBeNull()
      })
    })

    it('gives leases one at a time per chatbot, with a growing number', () => {
      const first = store.lease(chatbot, now)
      expect(() => store.lease(chatbot, now)).toThrow(StoreError)
      const other = store.lease('SN-2002', now)
      expect(other.token).toBeGreaterThan(first.token)
      first.release()
      const second = store.lease(chatbot, now)
      expect(second.token).toBeGreaterThan(other.token)
      first.release()
      expect(() => store.lease(chatbot, now)).toThrow(StoreError)
      second.release()
      other.release()
      store.lease(chatbot, now).release()
    })
  })
}
