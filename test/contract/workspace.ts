/** What every workspace must do. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compareKeys } from '../../src/core/listing.ts'
import type { Delivered, Shown } from '../../src/core/listing.ts'
import type { Bookkeeping, Change } from '../../src/plan/change.ts'
import type { NewDelivered, Workspace } from '../../src/workspace/workspace.ts'
import { house } from './store.ts'

function arrived(position: number, delivered: Delivered, changes: Partial<NewDelivered> = {}): NewDelivered {
  return { position, delivered, content: null, raw: null, parts: 1, filled: 0, movesAt: null, ...changes }
}

const listingOf = (mlsNumber: string, at = `record of ${mlsNumber}`): Delivered => ({
  kind: 'listing',
  at,
  listing: house(mlsNumber),
  moving: { listedOn: '2026-11-01' },
})

function item(mlsNumber: string, id: number): Shown {
  return { mlsNumber, id, fields: house(mlsNumber), unreadable: ['Images'], owner: 'north', hash: `hash ${id}` }
}

export function change(mlsNumber: string, changes: Partial<Change> = {}): Change {
  return {
    kind: 'update',
    mlsNumber,
    why: 'changed in the feed: Bedrooms',
    fields: [{ field: 'Bedrooms', from: 3, to: 4 }],
    cause: 'changed',
    shownHash: null,
    position: 1,
    snapshot: 2,
    clear: ['Description'],
    lost: 4,
    lookUp: false,
    reason: 'reason',
    ...changes,
  }
}

export function workspaceContract(name: string, open: () => Workspace): void {
  describe(`workspace contract: ${name}`, () => {
    let workspace: Workspace
    beforeEach(() => {
      workspace = open()
    })
    afterEach(() => workspace.close())

    describe('delivery', () => {
      it('comes back sorted by key, then position, over many pages', () => {
        const keys = Array.from({ length: 3000 }, (_, i) => `K${(i * 7919) % 1500}`)
        workspace.addDelivered(keys.map((key, position) => arrived(position, listingOf(key))))
        workspace.addDelivered([arrived(3000, listingOf('\u{1F3E0}')), arrived(3001, listingOf('\uFF21'))])
        const wanted = [...keys, '\u{1F3E0}', '\uFF21']
          .map((key, position) => ({ key, position }))
          .sort((a, b) => compareKeys(a.key, b.key) || a.position - b.position)
        expect([...workspace.delivered()].map(({ key, position }) => ({ key, position }))).toEqual(wanted)
      })

      it('keeps every kind with its words', () => {
        workspace.addDelivered([
          arrived(0, listingOf('L'), { content: 'c', raw: 'r', parts: 2, filled: 9, movesAt: 1234 }),
          arrived(1, { kind: 'removal', at: 'record 2', mlsNumber: 'G', why: 'Status is Withdrawn' }),
          arrived(2, { kind: 'filtered', at: 'record 3', mlsNumber: 'F', why: 'City is not Springfield' }),
          arrived(3, {
            kind: 'reject',
            at: 'record 4, line 9',
            mlsNumber: 'B',
            problems: [
              { field: 'Bedrooms', value: 'three', problem: 'is not a number' },
              { field: 'Url', value: null, problem: 'is missing' },
            ],
          }),
          arrived(4, {
            kind: 'reject',
            at: 'record 5',
            mlsNumber: null,
            problems: [{ field: 'MLSNumber', value: '', problem: 'is empty' }],
          }),
        ])
        const rows = [...workspace.delivered()]
        expect(rows.map(({ key, kind, why }) => ({ key, kind, why }))).toEqual([
          { key: 'B', kind: 'reject', why: "Bedrooms: 'three' is not a number; Url: is missing" },
          { key: 'F', kind: 'filtered', why: 'City is not Springfield' },
          { key: 'G', kind: 'removal', why: 'Status is Withdrawn' },
          { key: 'L', kind: 'listing', why: null },
        ])
        expect(rows[3]).toMatchObject({
          key: 'L',
          position: 0,
          at: 'record of L',
          kind: 'listing',
          why: null,
          content: 'c',
          raw: 'r',
          parts: 2,
          filled: 9,
          movesAt: 1234,
        })
        expect(rows[3].listing()).toEqual({ listing: house('L'), moving: { listedOn: '2026-11-01' } })
        expect(() => rows[0].listing()).toThrow(/holds no listing/)
        expect([...workspace.rejects()]).toEqual([
          {
            at: 'record 4, line 9',
            mlsNumber: 'B',
            problems: ["Bedrooms: 'three' is not a number", 'Url: is missing'],
          },
          { at: 'record 5', mlsNumber: null, problems: ["MLSNumber: '' is empty"] },
        ])
      })

      it('is read by position', () => {
        workspace.addDelivered([arrived(7, listingOf('A'), { content: 'c' }), arrived(8, listingOf('A', 'again'))])
        expect(workspace.deliveredAt(7)).toEqual({
          key: 'A',
          position: 7,
          at: 'record of A',
          kind: 'listing',
          why: null,
          content: 'c',
          raw: null,
          parts: 1,
          filled: 0,
          movesAt: null,
          listing: house('A'),
          moving: { listedOn: '2026-11-01' },
        })
        expect(workspace.deliveredAt(8).at).toBe('again')
        expect(() => workspace.deliveredAt(9)).toThrow(/holds no listing/)
      })

      it('gives rejects in the order of the delivery, over many pages', () => {
        const rejects = Array.from({ length: 2100 }, (_, i) => `record ${i}`)
        workspace.addDelivered(
          rejects.map((at, position) =>
            arrived(position, { kind: 'reject', at, mlsNumber: `Z${-position}`, problems: [] }),
          ),
        )
        expect([...workspace.rejects()].map((row) => row.at)).toEqual(rejects)
      })
    })

    describe('what the service shows', () => {
      it('comes back sorted, twice where it was shown twice, with the items that were kept', () => {
        workspace.addShown([
          { shown: item('B', 1), keep: true },
          { shown: item('A', 2), keep: false },
          { shown: item('B', 3), keep: false },
          { shown: { ...item('', 4), owner: null }, keep: true },
        ])
        const rows = [...workspace.shown()]
        expect(rows.map(({ key, hash, owner }) => ({ key, hash, owner }))).toEqual([
          { key: '', hash: 'hash 4', owner: null },
          { key: 'A', hash: 'hash 2', owner: 'north' },
          { key: 'B', hash: 'hash 1', owner: 'north' },
          { key: 'B', hash: 'hash 3', owner: 'north' },
        ])
        expect(rows.map((row) => row.shown()?.id ?? null)).toEqual([4, null, 1, null])
        expect(rows[2].shown()).toEqual(item('B', 1))
        expect(workspace.shownAs('B').map(({ hash }) => hash)).toEqual(['hash 1', 'hash 3'])
        expect(workspace.shownAs('C')).toEqual([])
      })

      it('can be thrown away and begun again, and walked more than once', () => {
        workspace.addShown([{ shown: item('A', 1), keep: true }])
        workspace.clearShown()
        expect([...workspace.shown()]).toEqual([])
        workspace.addShown(Array.from({ length: 2500 }, (_, i) => ({ shown: item(`K${10_000 - i}`, i), keep: false })))
        for (let walk = 0; walk < 2; walk++) expect([...workspace.shown()]).toHaveLength(2500)
        expect([...workspace.shown()].every((row) => row.shown() === null)).toBe(true)
      })
    })

    describe('plan', () => {
      it('comes back in order, whole or of one kind', () => {
        workspace.addChanges([change('A'), change('B', { kind: 'create', position: null, lookUp: true })])
        workspace.addChanges([change('C')])
        const all = [...workspace.changes()]
        expect(all.map((one) => one.mlsNumber)).toEqual(['A', 'B', 'C'])
        expect(all[0]).toEqual({ ...change('A'), seq: all[0].seq, outcome: null })
        expect([...workspace.changes('update')].map((one) => one.seq)).toEqual([all[0].seq, all[2].seq])
        expect([...workspace.changes('delete')]).toEqual([])
      })

      it('takes outcomes, changes and bookkeeping while it is read', () => {
        workspace.addChanges(Array.from({ length: 1600 }, (_, i) => change(`K${i}`)))
        const seen: string[] = []
        for (const { seq, mlsNumber } of workspace.changes('update')) {
          seen.push(mlsNumber)
          workspace.recordOutcomes([
            { seq, outcome: { result: seq % 2 ? 'failed' : 'done', error: seq % 2 ? 'no' : null } },
          ])
          if (seen.length === 10) workspace.addBookkeeping([{ op: 'steady', snapshot: 1 }])
        }
        expect(seen).toHaveLength(1600)
        const outcomes = [...workspace.changes()].map(({ seq, outcome }) => ({ seq, outcome }))
        for (const { seq, outcome } of outcomes)
          expect(outcome).toEqual(seq % 2 ? { result: 'failed', error: 'no' } : { result: 'done', error: null })
      })

      it('lets the guard hold changes, saying what they were', () => {
        workspace.addChanges(
          Array.from({ length: 1300 }, (_, i) =>
            change(`K${i}`, { kind: i % 2 ? 'delete' : 'update', cause: 'absent' }),
          ),
        )
        workspace.hold((one) => (one.kind === 'delete' ? `too many deletes, ${one.mlsNumber} too` : null))
        expect([...workspace.changes('delete')]).toEqual([])
        expect([...workspace.changes('update')]).toHaveLength(650)
        const holds = [...workspace.changes('hold')]
        expect(holds).toHaveLength(650)
        expect(holds[0]).toEqual({
          ...change('K1', { kind: 'hold', held: 'delete', cause: 'guard', why: 'too many deletes, K1 too' }),
          seq: holds[0].seq,
          outcome: null,
        })
        expect([...workspace.changes()].map((one) => one.mlsNumber)).toEqual(
          Array.from({ length: 1300 }, (_, i) => `K${i}`),
        )
      })

      it('lets the guard hold what calls nothing, too; a hold stays as it is', () => {
        const found = change('C', { kind: 'hold', cause: 'twice-shown', why: 'two of them' })
        workspace.addChanges([change('A', { kind: 'forget' }), change('B', { kind: 'adopt' }), found])
        workspace.hold(() => 'a stranger')
        expect([...workspace.changes('hold')].map(({ held, why }) => [held, why])).toEqual([
          ['forget', 'a stranger'],
          ['adopt', 'a stranger'],
          [undefined, 'two of them'],
        ])
      })
    })

    it('keeps bookkeeping in order', () => {
      const entries: Bookkeeping[] = [
        { op: 'touch', snapshot: 4, position: 2 },
        { op: 'first-sight', uncleared: [], first: true, snapshot: 5, hash: 'h', echo: { City: null, Images: ['a'] } },
        { op: 'steady', snapshot: 6 },
        { op: 'forget-flight', key: 'A' },
      ]
      workspace.addBookkeeping(entries)
      expect([...workspace.bookkeeping()]).toEqual(entries)
      workspace.addBookkeeping(Array.from({ length: 1200 }, (_, i) => ({ op: 'steady' as const, snapshot: i })))
      expect([...workspace.bookkeeping()]).toHaveLength(1204)
    })
  })
}
