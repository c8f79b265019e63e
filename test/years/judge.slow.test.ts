/** The judge of `npm run years` sees what it is for: damage, holds in ordinary life, holds that don't end. */
import { describe, expect, test } from 'vitest'
import { Chance } from './chance.ts'
import { spoiled } from './incidents.ts'
import { Damage } from './judge.ts'
import { Office, day } from './office.ts'
import type { Entry } from './office.ts'
import { defaultSetting, playTrials, playYears } from './play.ts'
import type { Setting, TrialTold, YearsTold } from './play.ts'
import { defaultLimits } from './program.ts'
import { linesOf } from './table.ts'
import { loadWorld } from './world.ts'

const world = loadWorld()
const setting = defaultSetting(world, 5)
const from = Date.UTC(2026, 2, 1)
const entriesOf = (size: number): Entry[] => new Office(world, size, 5, from).entries(from)

async function trialsOf(kind: string, changes: Partial<Setting> = {}): Promise<TrialTold[]> {
  const trials: TrialTold[] = []
  for await (const trial of playTrials({ ...setting, ...changes }, 40, [kind])) trials.push(trial)
  return trials
}

describe('damage', () => {
  const entries = entriesOf(40)
  const shownAs = (all: readonly Entry[]) =>
    new Map(all.map(({ listing }) => [listing.MLSNumber, { listing }] as const))
  const shown = shownAs(entries)
  const changed = (changes: Partial<Entry['listing']>): Entry[] =>
    entries.map(({ listing, listedOn }) => ({ listing: { ...listing, ...changes }, listedOn }))

  test('is a listing that was never so, one that nobody has, and one that is missing', () => {
    const damage = new Damage(shown, entries)
    damage.look(shown)
    expect(damage).toMatchObject({ worst: 0, isVisible: false })
    damage.look(shownAs(changed({ Bedrooms: 99 })))
    expect(damage).toMatchObject({ worst: 40, isVisible: true })
    for (const few of [entries.slice(3), [...entries, ...entriesOf(43).slice(40)]]) {
      const other = new Damage(shown, entries)
      other.look(shownAs(few))
      expect(other).toMatchObject({ worst: 3, isVisible: true })
    }
  })

  test('is a home under another number once, not twice', () => {
    const damage = new Damage(shown, entries)
    damage.look(
      shownAs(
        changed({}).map(({ listing, listedOn }) => ({
          listing: { ...listing, MLSNumber: `X${listing.MLSNumber}` },
          listedOn,
        })),
      ),
    )
    expect(damage.worst).toBe(40)
  })

  test('is not what is late: an old price beside a new text, what left, what is new', () => {
    const damage = new Damage(shown, entries)
    damage.learn(changed({ SalePrice: 1_000_000, Description: 'New.' }).slice(2))
    damage.look(shownAs([...entries.slice(0, 20), ...changed({ Description: 'New.' }).slice(20)]))
    expect(damage.worst).toBe(0)
  })
})

test('without the guard incidents do damage, with it none', async () => {
  for (const kind of ['half missing every other night', 'prices ×100']) {
    const off = await trialsOf(kind, { limits: { ...defaultLimits, isOff: true } })
    expect(off.map(({ isVisible, alerts }) => [isVisible, alerts])).toEqual([
      [true, 0],
      [true, 0],
      [true, 0],
    ])
    const on = await trialsOf(kind)
    expect(on.map(({ isVisible, alerts }) => [isVisible, alerts > 0])).toEqual([
      [false, true],
      [false, true],
      [false, true],
    ])
    const missed = (trials: TrialTold[]): string[] =>
      linesOf({ years: [], trials, cases: [] }).flatMap(({ what, isMet }) => (isMet ? [] : [what]))
    expect(missed(off)).toHaveLength(1)
    expect(missed(on)).toEqual([])
  }
})

test('a guard that is too narrow holds in ordinary life, and what is right is let go in time', async () => {
  const quiet = { ...world, changes: [] }
  const narrow = { ...defaultLimits, share: 1 }
  const played = await playYears({ ...setting, world: quiet, limits: narrow }, 100, 1, 'weekly')
  expect(played.events.length).toBeGreaterThan(0)
  expect(played.events.every(({ because }) => because.length === 0)).toBe(true)
  expect(played.faults).toEqual([])
  const line = linesOf({ years: [played], trials: [], cases: [] }).find(({ what }) => what.includes('weekly'))
  expect(line).toMatchObject({ isMet: false })
})

test('ordinary holds are judged by the mean of all sizes; where some were not played it may be open', () => {
  const held = { because: [] } as unknown as YearsTold['events'][number]
  const years = (size: number, holds: number): YearsTold => {
    const events = Array.from({ length: holds }, () => held)
    return { size, seed: 1, schedule: 'nightly', years: 100, runs: 0, events, asking: 0, faults: [] }
  }
  const judged = (...played: YearsTold[]) =>
    linesOf({ years: played, trials: [], cases: [] }).find(({ what }) => what.startsWith('ordinary'))
  const small = [years(3, 24), years(8, 0), years(40, 0), years(100, 0)]
  expect(judged(...small, years(600, 0), years(5000, 0))).toMatchObject({ isMet: true })
  expect(judged(...small)).toMatchObject({ isMet: null, measured: expect.stringContaining('without 600, 5000') })
  expect(judged(...small, years(600, 8), years(5000, 0))).toMatchObject({ isMet: false })
  expect(judged(years(3, 31))).toMatchObject({ isMet: false })
  expect(judged(years(40, 2))).toMatchObject({ isMet: true })
})

test('a hold that nothing ends is a fault; where somebody approves it, there is none', async () => {
  const narrow = { ...defaultLimits, share: 1, confirm: null }
  const left = await playYears({ ...setting, limits: narrow }, 40, 1, 'weekly')
  expect(left.faults.join('\n')).toMatch(/held for \d+ hours/)
  const attended = await playYears({ ...setting, limits: narrow, attended: 0 }, 40, 1, 'weekly')
  expect(attended.events.length).toBeGreaterThan(0)
  expect(attended.faults).toEqual([])
})

test('a seed tells the same office twice, and every change and incident of the world can be played', () => {
  const restless = {
    ...world,
    changes: world.changes.map((change) => ({ ...change, from: 0, on: undefined, aYear: 30 })),
  }
  const lived = (): Office => {
    const office = new Office(restless, 40, 5, from)
    office.liveUntil(from + 90 * day)
    return office
  }
  const office = lived()
  expect(office.entries(from)).toEqual(lived().entries(from))
  expect(new Set(office.changed.map(({ kind }) => kind))).toEqual(new Set(world.changes.map(({ kind }) => kind)))
  const entries = entriesOf(40)
  const scene = { world, seed: 5, night: 2, before: () => entries.slice(2) }
  for (const incident of world.incidents) {
    const content = spoiled(entries, { ...incident, everyOther: false }, scene)
    expect(JSON.stringify([content.entries, content.cut, [...(content.withdrawn ?? [])]]), incident.kind).not.toBe(
      JSON.stringify([entries, undefined, []]),
    )
  }
  expect(new Chance(7).times(50)).toBeGreaterThan(20)
})
