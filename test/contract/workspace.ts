/** What every workspace must do. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compareKeys } from '../../src/core/listing.ts'
import type { Delivered, Shown } from '../../src/core/listing.ts'
import type { Bookkeeping } from '../../src/plan/change.ts'
import type { NewDelivered, Workspace } from '../../src/workspace/workspace.ts'
import {
  adoptOf,
  createOf,
  deleteAbsentOf,
  deleteOf,
  forgetAbsentOf,
  forgetOf,
  holdOf,
  updateOf,
  wholeSides,
} from '../support/changes.ts'
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
        workspace.addChanges([updateOf('A'), createOf('B', { lookUp: true })], wholeSides)
        workspace.addChanges([updateOf('C')], wholeSides)
        const all = [...workspace.changes()]
        expect(all.map(({ change }) => change.mlsNumber)).toEqual(['A', 'B', 'C'])
        expect(all[0]).toEqual({ seq: all[0].seq, change: updateOf('A'), heldSince: null, outcome: null })
        expect([...workspace.changes('update')].map((one) => one.seq)).toEqual([all[0].seq, all[2].seq])
        expect([...workspace.changes('delete')]).toEqual([])
      })

      it('takes outcomes, changes and bookkeeping while it is read', () => {
        workspace.addChanges(
          Array.from({ length: 1600 }, (_, i) => updateOf(`K${i}`)),
          wholeSides,
        )
        const seen: string[] = []
        for (const { seq, change } of workspace.changes('update')) {
          seen.push(change.mlsNumber)
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

      it('lets the guard hold changes, with the action that each would have been', () => {
        workspace.addChanges(
          Array.from({ length: 1300 }, (_, i) => (i % 2 ? deleteOf(`K${i}`) : updateOf(`K${i}`))),
          wholeSides,
          new Map([['K1', 7]]),
        )
        workspace.hold((one) => (one.kind === 'delete' ? holdOf(one, `too many deletes, ${one.mlsNumber} too`) : null))
        expect([...workspace.changes('delete')]).toEqual([])
        expect([...workspace.changes('update')]).toHaveLength(650)
        const holds = [...workspace.changes('hold')]
        expect(holds).toHaveLength(650)
        expect(holds[0]).toEqual({
          seq: holds[0].seq,
          change: holdOf(deleteOf('K1'), 'too many deletes, K1 too'),
          heldSince: 7,
          outcome: null,
        })
        expect(holds[1].heldSince).toBeNull()
        expect([...workspace.changes()].map(({ change }) => change.mlsNumber)).toEqual(
          Array.from({ length: 1300 }, (_, i) => `K${i}`),
        )
      })

      it('lets the guard hold what calls nothing, too; a hold stays as it is', () => {
        const found = holdOf(updateOf('C'), 'two of them')
        workspace.addChanges([forgetOf('A'), adoptOf('B'), found], wholeSides)
        workspace.hold((one) => holdOf(one, 'a stranger'))
        expect([...workspace.changes('hold')].map(({ change }) => [change.action?.kind, change.why])).toEqual([
          ['forget', 'a stranger'],
          ['adopt', 'a stranger'],
          ['update', 'two of them'],
        ])
      })
    })

    describe('changes by absence', () => {
      const gone = [deleteAbsentOf('A'), forgetAbsentOf('B'), holdOf(deleteAbsentOf('C'))]

      it('come back as they were where the rows prove them', () => {
        workspace.addDelivered([arrived(0, listingOf('D'))])
        workspace.addChanges(gone, wholeSides)
        expect([...workspace.changes()].map(({ change }) => change)).toEqual(gone)
        expect([...workspace.changes()].map(({ change }) => change.mlsNumber)).toEqual(['A', 'B', 'C'])
      })

      it.each([
        ['the delivery is incomplete', { delivery: { complete: false, reasons: ['it was cut'] } }],
        ['the list is incomplete', { remote: { complete: false, reasons: ['page 3 failed'] } }],
        ['a record could not be read', { unreadable: 1 }],
        ['the delivery is a delta', { mode: 'delta' as const }],
      ])('do not come back where %s', (_, sides) => {
        for (const change of gone) {
          const again = open()
          again.addChanges([change], { ...wholeSides, ...sides })
          expect(() => [...again.changes()]).toThrow('by absence without a proof')
          again.close()
        }
      })

      it('do not come back for what was delivered, as a record or by its bytes', () => {
        workspace.addChanges([deleteAbsentOf('A', 7)], wholeSides)
        expect([...workspace.changes('delete')]).toHaveLength(1)
        workspace.addSeen(7)
        expect(() => [...workspace.changes('delete')]).toThrow('it was delivered')
        const again = open()
        again.addChanges([deleteAbsentOf('A', 8)], wholeSides)
        again.addDelivered([arrived(0, { kind: 'reject', at: 'record 1', mlsNumber: 'A', problems: [] })])
        expect(() => [...again.changes('delete')]).toThrow('it was delivered')
        again.close()
      })
    })

    it('knows which rows of the snapshot were delivered by their bytes', () => {
      expect([workspace.addSeen(3), workspace.addSeen(90_000), workspace.addSeen(3)]).toEqual([true, true, false])
      expect([2, 3, 4, 90_000, 200_000].map((id) => workspace.isSeen(id))).toEqual([false, true, false, true, false])
      workspace.addAllSeen()
      expect(workspace.isSeen(200_000)).toBe(true)
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
