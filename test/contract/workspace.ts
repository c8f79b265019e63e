/** What every workspace must do. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compareKeys } from '../../src/core/listing.ts'
import type { Delivered, Glimpse, Shown } from '../../src/core/listing.ts'
import { DeleteAbsent, hold } from '../../src/plan/change.ts'
import type { Bookkeeping, Change } from '../../src/plan/change.ts'
import type { Beside } from '../../src/plan/guard/guard.ts'
import { unweighed } from '../../src/plan/guard/hold.ts'
import type { Decision, Remembered, Weighed } from '../../src/plan/guard/hold.ts'
import type { Sides } from '../../src/plan/proof.ts'
import type { NewDelivered, Stored, Workspace } from '../../src/workspace/workspace.ts'
import {
  adoptOf,
  createOf,
  deleteAbsentOf,
  deleteOf,
  forgetAbsentOf,
  forgetOf,
  holdOf,
  nothing,
  updateOf,
  wholeSides,
} from '../support/changes.ts'
import { house } from './store.ts'

function arrived(position: number, delivered: Delivered, changes: Partial<NewDelivered> = {}): NewDelivered {
  return { position, delivered, content: null, raw: null, parts: 1, home: null, movesAt: null, ...changes }
}

const listingOf = (mlsNumber: string, at = `record of ${mlsNumber}`): Delivered => ({
  kind: 'listing',
  at,
  listing: house(mlsNumber),
  moving: { listedOn: '2026-11-01' },
})

const glimpse = (mlsNumber: string, id: number): Glimpse => {
  const shown = item(mlsNumber, id)
  return { ...shown, whole: () => shown }
}

function item(mlsNumber: string, id: number): Shown {
  return { mlsNumber, id, fields: house(mlsNumber), unreadable: ['Images'], owner: 'north', hash: `hash ${id}` }
}

/** It was changed lately, or is held since. */
const memory = (changes: Partial<Remembered> = {}): Remembered => ({ ...nothing, heldSince: 7, ...changes })

/** What a person decided about a delete that is held. */
const decided = (decision: Decision | null): Remembered =>
  memory({ holds: [{ part: 'delete', content: '', since: 7, ends: 'confirmed', clock: 7, isOfRule: true, decision }] })

/** What the guard makes of an action that it lets go, and of one that it holds. */
const letGo: Weighed = { heldParts: [], counts: ['renumber'], released: ['delete'] }
const heldWhole: Weighed = {
  heldParts: [{ part: 'delete', content: '', rules: ['leaving'], ends: 'confirmed' }],
  counts: [],
  released: [],
}
const turnedTo = (change: Change, weighed = unweighed) => ({ change, weighed })

export function workspaceContract(name: string, open: () => Workspace): void {
  describe(`workspace contract: ${name}`, () => {
    let workspace: Workspace
    beforeEach(() => {
      workspace = open()
    })
    afterEach(() => workspace.close())
    const add = (changes: readonly Change[], remembered = nothing, sides: Sides = wholeSides, to = workspace): void =>
      to.addChanges(
        changes.map((change) => ({ change, remembered })),
        sides,
      )
    const keys = (): string[] => [...workspace.changes()].map(({ change }) => change.mlsNumber)

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
          arrived(0, listingOf('L'), { content: 'c', raw: 'r', parts: 2, home: 'home', movesAt: 1234 }),
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
          home: 'home',
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
          home: null,
          movesAt: null,
          listing: house('A'),
          moving: { listedOn: '2026-11-01' },
        })
        expect(workspace.deliveredAt(8).at).toBe('again')
        expect(() => workspace.deliveredAt(9)).toThrow(/holds no listing/)
      })

      it('is read by MLSNumber, without what could not be read', () => {
        const filtered = { kind: 'filtered', at: 'record 3', mlsNumber: 'A', why: 'another town' } as const
        const reject = { kind: 'reject' as const, at: 'record 4', mlsNumber: 'B', problems: [] }
        workspace.addDelivered([
          arrived(9, filtered),
          arrived(7, listingOf('A')),
          arrived(8, reject),
          arrived(10, listingOf('C')),
        ])
        expect([...workspace.deliveredAs('A')]).toEqual([listingOf('A'), filtered])
        expect([...workspace.deliveredAs('B'), ...workspace.deliveredAs('D')]).toEqual([])
        expect(['A', 'B', 'D'].map((key) => workspace.isDelivered(key))).toEqual([true, true, false])
        expect(['A', 'B', 'D'].map((key) => workspace.isReadable(key))).toEqual([true, false, false])
      })

      it('lets records of another document replace what was said of their MLSNumbers, but for what was said later', () => {
        const broken = (mlsNumber: string | null): Delivered => ({ kind: 'reject', at: 'bad', mlsNumber, problems: [] })
        workspace.addDelivered([
          ...['A', 'B', 'C', 'D'].map((key, at) => arrived(at + 1, listingOf(key))),
          ...['A', 'C', null, 'E'].map((key, at) => arrived(at + 5, broken(key))),
          arrived(9, listingOf('A', 'of the same document')),
        ])
        const isLater = (position: number): boolean => [4, 5, 8].includes(position)
        const records = ['A', 'B', 'C', 'D', 'E', 'F'].map((key) => ({ key, isReadable: key !== 'C' }))
        expect(workspace.replace(records, 8, isLater)).toEqual([['listing'], ['listing'], [], null, [], []])
        const left = () => [...workspace.delivered()].map(({ key, position }) => `${key}${position}`)
        expect(left()).toEqual(['A5', 'A9', 'C3', 'C6', 'D4', 'E8'])
        expect([...workspace.rejects()].map(({ mlsNumber }) => mlsNumber)).toEqual(['A', 'C', null, 'E'])
        expect(() => workspace.deliveredAt(1)).toThrow(/holds no listing/)
        expect(workspace.replace([{ key: 'C', isReadable: true }], 8, isLater)).toEqual([['listing', 'reject']])
        expect([...workspace.rejects()].map(({ mlsNumber }) => mlsNumber)).toEqual(['A', null, 'E'])
        const dropped = workspace.drop([
          [3, 5],
          [6, 7],
        ])
        expect(dropped.toSorted()).toEqual(['listing', 'reject', 'reject'])
        expect(left()).toEqual(['A9', 'E8'])
        expect([...workspace.rejects()].map(({ mlsNumber }) => mlsNumber)).toEqual(['E'])
        expect(() => workspace.deliveredAt(4)).toThrow(/holds no listing/)
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
          { item: glimpse('B', 1), keep: true },
          { item: glimpse('A', 2), keep: false },
          { item: glimpse('B', 3), keep: false },
          { item: { ...glimpse('', 4), owner: null }, keep: true },
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

      it('notes an item by its snapshot row, once', () => {
        expect([workspace.addShownAsBefore(20_000), workspace.addShownAsBefore(20_000)]).toEqual([true, false])
        expect([20_000, 20_001].map((id) => workspace.isShownAsBefore(id))).toEqual([true, false])
        expect([...workspace.shown()]).toEqual([])
        expect(workspace.isSeen(20_000)).toBe(false)
        workspace.clearShown()
        expect(workspace.isShownAsBefore(20_000)).toBe(false)
      })

      it('can be thrown away and begun again, and walked more than once', () => {
        workspace.addShown([{ item: glimpse('A', 1), keep: true }])
        workspace.clearShown()
        expect([...workspace.shown()]).toEqual([])
        workspace.addShown(
          Array.from({ length: 2500 }, (_, i) => ({ item: glimpse(`K${10_000 - i}`, i), keep: false })),
        )
        for (let walk = 0; walk < 2; walk++) expect([...workspace.shown()]).toHaveLength(2500)
        expect([...workspace.shown()].every((row) => row.shown() === null)).toBe(true)
      })
    })

    describe('plan', () => {
      it('comes back in order, whole or of one kind, with when each was first held', () => {
        add([updateOf('A'), createOf('B', { lookUp: true })])
        add([updateOf('C')], memory())
        const all = [...workspace.changes()]
        expect(keys()).toEqual(['A', 'B', 'C'])
        expect(all[0]).toEqual({
          seq: all[0].seq,
          change: updateOf('A'),
          weighed: unweighed,
          remembered: nothing,
          pair: null,
          outcome: null,
        })
        expect(all[2]).toEqual({
          seq: all[2].seq,
          change: updateOf('C'),
          weighed: unweighed,
          remembered: memory(),
          pair: null,
          outcome: null,
        })
        expect([...workspace.changes('update')].map((stored) => stored.seq)).toEqual([all[0].seq, all[2].seq])
        expect([...workspace.changes('delete')]).toEqual([])
      })

      it('takes outcomes, changes and bookkeeping while it is read', () => {
        add(Array.from({ length: 1600 }, (_, i) => updateOf(`K${i}`)))
        const seen: string[] = []
        for (const { seq, change } of workspace.changes('update')) {
          seen.push(change.mlsNumber)
          workspace.recordOutcomes([
            { seq, outcome: { result: seq % 2 ? 'failed' : 'done', error: seq % 2 ? 'no' : null } },
          ])
          if (seen.length === 10) workspace.addBookkeeping([{ op: 'absent', key: 'A' }])
        }
        expect(seen).toHaveLength(1600)
        const outcomes = [...workspace.changes()].map(({ seq, outcome }) => ({ seq, outcome }))
        for (const { seq, outcome } of outcomes)
          expect(outcome).toEqual(seq % 2 ? { result: 'failed', error: 'no' } : { result: 'done', error: null })
      })

      it('lets the guard hold changes, with the action that each would have been', async () => {
        const planned = Array.from({ length: 1300 }, (_, i) => (i % 2 ? deleteOf(`K${i}`) : updateOf(`K${i}`)))
        workspace.addChanges(
          planned.map((change) => ({ change, remembered: change.mlsNumber === 'K1' ? memory() : nothing })),
          wholeSides,
        )
        await workspace.turn('all', (action) =>
          action.kind === 'delete'
            ? turnedTo(holdOf(action, `too many deletes, ${action.mlsNumber} too`), heldWhole)
            : null,
        )
        expect([...workspace.changes('delete')]).toEqual([])
        expect([...workspace.changes('update')]).toHaveLength(650)
        const holds = [...workspace.changes('hold')]
        expect(holds).toHaveLength(650)
        expect(holds[0]).toEqual({
          seq: holds[0].seq,
          change: holdOf(deleteOf('K1'), 'too many deletes, K1 too'),
          weighed: heldWhole,
          remembered: memory(),
          pair: null,
          outcome: null,
        })
        expect(holds[1].remembered).toEqual(nothing)
        expect(keys()).toEqual(Array.from({ length: 1300 }, (_, i) => `K${i}`))
      })

      it('lets the guard hold what calls nothing, too; a hold stays as it is', async () => {
        add([forgetOf('A'), adoptOf('B'), holdOf(updateOf('C'), 'two of them')])
        await workspace.turn('all', (action) => turnedTo(holdOf(action, 'a stranger')))
        expect([...workspace.changes('hold')].map(({ change }) => [change.action?.kind, change.why])).toEqual([
          ['forget', 'a stranger'],
          ['adopt', 'a stranger'],
          ['update', 'two of them'],
        ])
      })

      it('is turned with what is remembered of each, or only where something is', async () => {
        const held = decided('refused')
        const changedLately = { ...nothing, counted: ['price'] as const }
        add([updateOf('A')])
        add([updateOf('B')], changedLately)
        add([updateOf('C'), holdOf(updateOf('D'))], held)
        add([deleteOf('E', { home: 'h' }), createOf('F', { home: 'h' })])
        void [...workspace.pairs(null)]
        const turned = async (which: 'all' | 'remembered'): Promise<[string, Beside][]> => {
          const found: [string, Beside][] = []
          await workspace.turn(which, (action, about) => {
            found.push([action.mlsNumber, about])
            return null
          })
          return found
        }
        const remembered = [
          ['B', { remembered: changedLately, pair: null, heldBeside: null }],
          ['C', { remembered: held, pair: null, heldBeside: null }],
          ['E', { remembered: nothing, pair: 'renumbered', heldBeside: null }],
          ['F', { remembered: nothing, pair: 'renumbered', heldBeside: null }],
        ]
        expect(await turned('remembered')).toEqual(remembered)
        expect(await turned('all')).toEqual([
          ['A', { remembered: nothing, pair: null, heldBeside: null }],
          ...remembered,
        ])
        expect(keys()).toEqual(['A', 'B', 'C', 'D', 'E', 'F'])
      })

      it('leaves time for what else is due while it is turned, also where nothing is held', async () => {
        const planned = Array.from({ length: 3100 }, (_, i) => ({ change: updateOf(`K${i}`), remembered: nothing }))
        workspace.addChanges(planned, wholeSides)
        const looks: number[] = []
        let seen = 0
        const end = new AbortController()
        const other = (async () => {
          for (; !end.signal.aborted; looks.push(seen)) await new Promise((resolve) => setImmediate(resolve))
        })()
        await workspace.turn('all', () => {
          seen++
          return null
        })
        end.abort()
        await other
        expect(new Set(looks).size).toBeGreaterThanOrEqual(3)
      })

      it('is turned over many pages of it, to holds and to other actions', async () => {
        const planned = Array.from({ length: 2600 }, (_, i) => updateOf(`K${i}`))
        workspace.addChanges(
          planned.map((change, i) => ({ change, remembered: i % 2 ? memory() : nothing })),
          wholeSides,
        )
        await workspace.turn('remembered', (action) => turnedTo(action, letGo))
        await workspace.turn('remembered', (action) =>
          Number(action.mlsNumber.slice(1)) % 4 === 1 ? turnedTo(holdOf(action), heldWhole) : null,
        )
        const wanted = planned.map((change, i) => {
          if (i % 2 === 0) return turnedTo(change)
          return i % 4 === 1 ? turnedTo(holdOf(change), heldWhole) : turnedTo(change, letGo)
        })
        expect([...workspace.changes()].map(({ change, weighed }) => ({ change, weighed }))).toEqual(wanted)
      })
    })

    describe('homes under another MLSNumber', () => {
      function renumbered(): Stored[] {
        void [...workspace.pairs(null)]
        return [...workspace.changes()].filter(({ pair }) => pair === 'renumbered')
      }
      const paired = (): [string, Remembered][] =>
        renumbered().map(({ change, remembered }) => [change.mlsNumber, remembered])
      const pairedKeys = (): string[] => paired().map(([key]) => key)

      it('end the grace of a listing whose home comes again, and of no other', () => {
        const inGrace = (key: string, home: string) => hold(deleteOf(key, { home }), 'grace', 'it is kept')
        add([inGrace('D1', 'one'), inGrace('D2', 'two'), createOf('C', { home: 'one' })])
        expect(renumbered().map(({ change }) => [change.kind, change.mlsNumber])).toEqual([
          ['delete', 'D1'],
          ['create', 'C'],
        ])
        expect([...workspace.changes()].map(({ change }) => [change.kind, change.mlsNumber])).toEqual([
          ['delete', 'D1'],
          ['hold', 'D2'],
          ['create', 'C'],
        ])
      })

      it.each([
        [
          ['D1', 'D2', 'D3', 'C1', 'C2'],
          ['D1', 'D2', 'C1', 'C2'],
        ],
        [
          ['C1', 'D1', 'C2', 'C3'],
          ['C1', 'D1'],
        ],
        [
          ['C1', 'D1', 'C2', 'D2'],
          ['C1', 'D1', 'C2', 'D2'],
        ],
        [['D1', 'D2'], []],
        [['C1', 'C2'], []],
      ])('are paired one by one: of %j these: %j', (planned, wanted) => {
        add(planned.map((key) => (key[0] === 'D' ? deleteOf : createOf)(key, { home: 'one' })))
        expect(pairedKeys()).toEqual(wanted)
      })

      it('are paired with deletes that lack their proof after all others, and these with nothing that the list lacks', async () => {
        const unproven = (key: string, home: string) =>
          hold({ mlsNumber: key, held: 'delete' }, 'unproven', 'the delivery is incomplete', { home })
        add([unproven('D1', 'one'), deleteOf('D2', { home: 'one' }), createOf('C1', { home: 'one' })])
        add([unproven('D3', 'two'), createOf('C2', { home: 'two' })])
        add([unproven('D4', 'three'), createOf('C3', { home: 'three', cause: 'gone-from-service' })])
        expect(pairedKeys()).toEqual(['D2', 'C1', 'D3', 'C2'])
        const beside = new Map<string, string | null>()
        await workspace.turn('all', (action, { heldBeside }) => {
          beside.set(action.mlsNumber, heldBeside)
          return null
        })
        expect(Object.fromEntries(beside)).toEqual({
          D2: null,
          C1: null,
          C2: 'D3: the delivery is incomplete',
          C3: null,
        })
        expect([...workspace.changes()].map(({ change }) => change)[0]).toEqual(unproven('D1', 'one'))
      })

      it('wait where what comes waits, comes twice or is a record that can not be read, one for one', async () => {
        const refused = hold(createOf('C1', { home: 'one' }), 'refused-before', 'it was refused')
        const twice = hold({ mlsNumber: 'C2' }, 'twice-delivered', 'it came twice', { home: 'two' })
        add([refused, twice, deleteOf('D1', { home: 'one' }), deleteOf('D2', { home: 'two' })])
        add([deleteOf('D3', { home: 'three' }), deleteOf('D4', { home: 'three' }), deleteOf('D5', { home: 'four' })])
        workspace.addBookkeeping([{ op: 'unreadable', key: 'C3', home: 'three', why: 'who knows' }])
        paired()
        const beside = new Map<string, string | null>()
        await workspace.turn('all', (action, { heldBeside }) => {
          beside.set(action.mlsNumber, heldBeside)
          return null
        })
        const wanted = { D1: 'C1: it was refused', D2: 'C2: it came twice', D3: 'C3: who knows', D4: null, D5: null }
        expect(Object.fromEntries(beside)).toEqual(wanted)
        expect(keys()).toEqual(['C1', 'C2', 'D1', 'D2', 'D3', 'D4', 'D5'])
        expect([...workspace.changes('hold')].map(({ change }) => change)).toEqual([refused, twice])
        expect([...workspace.bookkeeping()]).toEqual([])
      })

      it('are not there yet until what comes is created', () => {
        add([deleteOf('D1', { home: 'one' }), deleteOf('D2', { home: 'one' }), createOf('C', { home: 'one' })])
        paired()
        const [first, second, comes] = [...workspace.changes()].map(({ seq }) => seq)
        const waiting = () => [first, second].map((seq) => workspace.isNotThereYet(seq))
        expect(waiting()).toEqual([true, false])
        const end = (result: 'unknown' | 'failed' | 'done') =>
          workspace.recordOutcomes([{ seq: comes, outcome: { result, error: null } }])
        for (const result of ['unknown', 'failed'] as const) {
          end(result)
          expect(waiting()).toEqual([true, false])
        }
        end('done')
        expect(waiting()).toEqual([false, false])
      })

      it('are those of the same home, with what is remembered of each', () => {
        add([deleteOf('D1', { home: 'one' }), deleteOf('D2', { home: 'two' }), createOf('C1', { home: 'three' })])
        add([createOf('C2', { home: 'one' })], memory())
        expect(paired()).toEqual([
          ['D1', nothing],
          ['C2', memory()],
        ])
      })

      it('are deletes of any cause, but creates of something new alone', async () => {
        const absent = deleteAbsentOf('A', 1, 'absent')
        add([
          absent,
          createOf('B', { home: 'absent' }),
          deleteOf('C', { home: 'made again' }),
          createOf('D', { home: 'made again', cause: 'gone-from-service' }),
          deleteOf('E'),
          createOf('F'),
          deleteOf('G', { home: 'held' }),
          holdOf(createOf('H', { home: 'held' })),
          forgetOf('I', 'missing'),
          updateOf('J'),
          createOf('K', { home: 'missing' }),
        ])
        const changes = renumbered().map(({ change }) => change)
        const waiting = [deleteOf('G', { home: 'held', becomes: 'H' }), holdOf(createOf('H', { home: 'held' }))]
        const leaves = Object.assign(deleteAbsentOf('A', 1, 'absent'), { becomes: 'B' })
        expect(changes).toEqual([leaves, createOf('B', { home: 'absent' }), ...waiting])
        expect(changes[0]).toBeInstanceOf(DeleteAbsent)
        const pairs = new Map<string, unknown>()
        await workspace.turn('all', (action, about) => {
          pairs.set(action.mlsNumber, about.pair)
          return null
        })
        const paired = Object.entries({
          A: 'renumbered',
          B: 'renumbered',
          C: 'missing',
          D: 'missing',
          G: 'renumbered',
          I: 'missing',
          K: 'missing',
        })
        expect([...pairs].filter(([, pair]) => pair !== null)).toEqual(paired)
      })

      it('are told in plan order, over many pages', () => {
        const some = Array.from({ length: 700 }, (_, i) => i)
        add(some.map((i) => createOf(`N${i}`, { home: `home ${i}` })))
        add(some.map((i) => deleteOf(`O${699 - i}`, { home: `home ${699 - i}` })))
        expect(pairedKeys()).toEqual([...some.map((i) => `N${i}`), ...some.map((i) => `O${699 - i}`)])
      })
    })

    describe('changes by absence', () => {
      const gone = [deleteAbsentOf('A'), forgetAbsentOf('B'), holdOf(deleteAbsentOf('C'))]
      const absentSince = (since: number): Remembered => ({ ...nothing, absence: { runs: 1, since } })
      /** Fails where one does not come back as it was. */
      function expectBack(changes: readonly Change[], remembered: Remembered, sides: Partial<Sides>): void {
        const again = open()
        try {
          add(changes, remembered, { ...wholeSides, ...sides }, again)
          expect([...again.changes()].map(({ change }) => change)).toEqual(changes)
        } finally {
          again.close()
        }
      }

      it('come back as they were where the rows prove them', () => {
        workspace.addDelivered([arrived(0, listingOf('D'))])
        add(gone)
        expect([...workspace.changes()].map(({ change }) => change)).toEqual(gone)
        expect(keys()).toEqual(['A', 'B', 'C'])
      })

      it('stay proven when the guard weighs, holds and lets go of them', async () => {
        add(gone, memory())
        await workspace.turn('all', (action) => turnedTo(action.kind === 'forget' ? holdOf(action) : action, letGo))
        const [weighed, isHeld] = [...workspace.changes()]
        expect(weighed).toMatchObject({ change: deleteAbsentOf('A'), weighed: letGo })
        expect(isHeld).toMatchObject({ change: holdOf(forgetAbsentOf('B')), weighed: letGo })
        expect(weighed.change).toBeInstanceOf(DeleteAbsent)
        workspace.addSeen(1)
        expect(() => [...workspace.changes()]).toThrow('it was delivered')
      })

      it.each([
        ['the delivery is incomplete', { delivery: { complete: false, reasons: ['it was cut'] } }],
        ['the list is incomplete', { remote: { complete: false, reasons: ['page 3 failed'] } }],
        [
          'a record came without MLSNumber when they went',
          { keyless: [{ identity: 'x', home: null, since: 1, notedAt: 1 }] },
        ],
        ['the delivery is a delta', { mode: 'delta' as const }],
      ])('do not come back where %s', (_, sides) => {
        for (const change of gone)
          expect(() => expectBack([change], absentSince(1), sides)).toThrow('by absence without a proof')
      })

      it('do not come back where a record without MLSNumber may be them: of the same delivery, or later at their address, and no other home', () => {
        const keyless = (home: string | null, since: number) => ({
          keyless: [{ identity: 'x', home, since, notedAt: since }],
        })
        const at = (home: string) => deleteAbsentOf('A', 1, home)
        const unreadable = 'without a readable MLSNumber'
        expect(() => expectBack([at('one')], absentSince(1), keyless('one', 1))).toThrow(unreadable)
        expect(() => expectBack([at('one')], absentSince(1), keyless(null, 1))).toThrow(unreadable)
        expect(() => expectBack(gone, absentSince(1), keyless('one', 1))).toThrow(unreadable)
        expectBack([at('one')], absentSince(1), keyless('two', 1))
        expect(() => expectBack([at('one')], absentSince(1), keyless('one', 2))).toThrow(unreadable)
        expectBack([at('one')], absentSince(1), keyless('two', 2))
        expectBack([at('one')], absentSince(2), keyless('one', 1))
        expectBack(gone, absentSince(1), keyless(null, 2))
        expect(() => expectBack([deleteAbsentOf('A')], absentSince(2), keyless(null, 2))).toThrow(unreadable)
      })

      it('come back where a person said that they go, whichever record may be them', () => {
        const sides = { keyless: [{ identity: 'x', home: null, since: 1, notedAt: 1 }] }
        const absent = { absence: { runs: 1, since: 1 } }
        expectBack(gone, { ...decided('approved'), ...absent }, sides)
        for (const remembered of [decided('refused'), decided(null), memory()])
          for (const change of gone)
            expect(() => expectBack([change], { ...remembered, ...absent }, sides)).toThrow(
              'without a readable MLSNumber',
            )
        const cut = { delivery: { complete: false, reasons: ['it was cut'] } }
        expect(() => expectBack(gone, decided('approved'), cut)).toThrow('it was cut')
      })

      it('do not come back for what was delivered, as a record or by its bytes', () => {
        add([deleteAbsentOf('A', 7)])
        expect([...workspace.changes('delete')]).toHaveLength(1)
        workspace.addSeen(7)
        expect(() => [...workspace.changes('delete')]).toThrow('it was delivered')
        const again = open()
        add([deleteAbsentOf('A', 8)], nothing, wholeSides, again)
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

    it('keeps the rows of second tables, and tells which record has too many', () => {
      const row = (key: string, rank: number, cell: string) => ({ key, rank, cells: [cell] })
      workspace.addJoined('media', [row('A', 2, 'a2'), row('B', Infinity, 'b'), row('A', 10, 'a10')])
      workspace.addJoined('media', [row('A', 1, 'a1'), row('A', 2, 'a2 later')])
      workspace.addJoined('rooms', [row('A', 1, 'kitchen')])
      expect(workspace.joinedBeyond('media', 100)).toBe(null)
      expect(workspace.joinedBeyond('media', 20)).toBe('A')
      expect(workspace.joinedOf('media', 'A')).toEqual([['a1'], ['a2'], ['a2 later'], ['a10']])
      expect(workspace.joinedOf('media', 'C')).toEqual([])
      workspace.dropJoined('media')
      expect(workspace.joinedOf('media', 'A')).toEqual([])
      expect(workspace.joinedOf('rooms', 'A')).toEqual([['kitchen']])
    })

    it('keeps bookkeeping in order', () => {
      const entries: Bookkeeping[] = [
        { op: 'touch', snapshot: 4, position: 2 },
        { op: 'baseline', key: 'B', hash: 'h' },
        { op: 'absent', key: 'C' },
        { op: 'forget-flight', key: 'A' },
      ]
      workspace.addBookkeeping(entries)
      expect([...workspace.bookkeeping()]).toEqual(entries)
      workspace.addBookkeeping(Array.from({ length: 1200 }, (_, i) => ({ op: 'absent' as const, key: `K${i}` })))
      expect([...workspace.bookkeeping()]).toHaveLength(1204)
    })
  })
}
