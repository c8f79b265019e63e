/**
 * The whole cross product of one MLSNumber: every way a feed, our memory, the service and the settings can stand to each
 * other. Each world ends where the table of docs/design.md says, breaks none of its rules, is held or let go by the guard,
 * and comes to rest.
 */
import { expect, test } from 'vitest'
import type { Change, Update } from '../../src/plan/change.ts'
import { factKinds } from '../../src/plan/guard/facts.ts'
import { judge } from '../../src/plan/guard/guard.ts'
import { tripsOf } from '../../src/plan/guard/rules.ts'
import type { Limits, Seen } from '../../src/plan/guard/rules.ts'
import { looksUp, nothing } from '../support/changes.ts'
import { policy, quiet } from '../support/plan-world.ts'
import { expected, mayStand, violations } from './cross-oracle.ts'
import { carriedOut, feedSides, itemHash, planOf, settingsOf, wantedContent } from './cross-world.ts'
import type { Item, Planned, Row, Setting, Spelling, Tag, World } from './cross-world.ts'

const limits: Limits = { share: 20, growth: 75 }
const many = Object.fromEntries(factKinds.map((kind) => [kind, 50]))
/** Too much of everything but what is new; and a site of which nothing would stay as it is. */
const accident: Seen = { ...quiet, counts: { ...quiet.counts, ...many, delete: 50 }, missing: 50, editedAgain: 50 }
const wreck: Seen = { ...quiet, outlook: { ...quiet.outlook, delete: 100, gone: 100 } }

const tags: Tag[] = [null, 'north', 'south']

function shownSides(): Item[][] {
  const sides: Item[][] = [[]]
  for (const tag of tags) {
    for (const content of ['old', 'new', 'edited'] as const) sides.push([{ content, tag }])
    sides.push([
      { content: 'old', tag },
      { content: 'old', tag: 'north' },
    ])
  }
  return sides
}

function rows(ownership: Setting['ownership']): Record<string, Row | null> {
  const tag = ownership === 'snapshot' ? null : 'north'
  const bare: Row = {
    feed: 'north',
    owned: false,
    content: null,
    baseline: null,
    flight: null,
    young: false,
    suspect: false,
    refused: null,
    undone: 0,
    ignored: false,
  }
  const unseen: Row = { ...bare, owned: true, content: 'old' }
  const confirmed: Row = { ...unseen, baseline: itemHash({ content: 'old', tag }) }
  return {
    none: null,
    confirmed,
    unseen,
    'unseen, an attempt may land': { ...unseen, suspect: true },
    'content not known': { ...unseen, content: null },
    'create under way': { ...bare, flight: 'create', young: true },
    'create long ago': { ...bare, flight: 'create' },
    'create long ago, missed lately': { ...bare, flight: 'create', missed: 'lately' },
    'create long ago, missed long ago': { ...bare, flight: 'create', missed: 'long ago' },
    'update under way': { ...confirmed, flight: 'update', young: true },
    'update long ago': { ...confirmed, flight: 'update' },
    'delete under way': { ...confirmed, flight: 'delete', young: true },
    'delete long ago': { ...confirmed, flight: 'delete' },
    'deleted, an attempt may land': { ...bare, flight: 'delete', young: true },
    'deleted long ago': { ...bare, flight: 'delete' },
    'confirmed, and ignored': { ...confirmed, ignored: true },
    'put right three times': { ...confirmed, undone: 3 },
    refused: { ...bare, refused: 'new' },
    'confirmed, a change refused': { ...confirmed, refused: 'new' },
    "the other feed's": { ...confirmed, feed: 'south' },
    "the other feed's create under way": { ...bare, feed: 'south', flight: 'create', young: true },
    "the other feed's create long ago": { ...bare, feed: 'south', flight: 'create' },
    'refused to the other feed': { ...bare, feed: 'south', refused: 'new' },
  }
}

const flags = [true, false]

function* settings(ownership: Setting['ownership']): Generator<Setting> {
  for (const deliveryComplete of flags)
    for (const unreadable of [0, 1] as const)
      for (const remoteComplete of flags)
        for (const mode of ['full', 'delta'] as const)
          for (const deletes of flags)
            for (const drift of ['overwrite', 'keep', 'report'] as const)
              for (const outranks of flags)
                for (const graceRuns of [1, 2] as const)
                  yield {
                    deliveryComplete,
                    unreadable,
                    remoteComplete,
                    mode,
                    deletes,
                    ownership,
                    graceRuns,
                    drift,
                    outranks,
                  }
}

/** What the feed said last time is the very bytes of a row that is ours, and says the same as it. */
const canBe = ({ feed, row }: World): boolean =>
  feed !== 'seen' || (row !== null && row.feed === 'north' && row.owned && row.content === 'old')

/**
 * Absence is met with every value of every setting. Where the feed says something, those that speak of absence only move
 * together, in step with another: they must not matter, and a wrong one shows all the same.
 */
function isDistinct({ feed, row, items, absentRuns }: World, setting: Setting): boolean {
  const { drift, outranks, graceRuns, deliveryComplete, unreadable, mode, deletes } = setting
  if (outranks && row?.feed !== 'south' && !items.some(({ tag }) => tag === 'south')) return false
  if (feed === 'absent') return drift === 'overwrite' && (graceRuns === 2 || absentRuns === 0)
  if (deliveryComplete !== (unreadable === 0) || graceRuns !== 2) return false
  if (feed === 'removal' || feed === 'filtered') return drift === 'overwrite' && absentRuns === 0
  if (mode !== (deletes ? 'full' : 'delta')) return false
  return wantedContent(feed) === null ? drift === 'overwrite' : absentRuns === (drift === 'keep' ? 1 : 0)
}

const inWords = ({ feed, items, absentRuns }: World, row: string, setting: Setting): string =>
  `feed: ${feed}; row: ${row}; shown: ${items.map(itemHash).join(' and ') || 'nothing'}; absent before: ${absentRuns}; ${JSON.stringify(setting)}`

const labelOf = (change: Change): string => {
  const look = change.cause === 'new' && change.unsettled ? ' after a first look-up' : ' after a look-up'
  return `${change.kind} ${change.cause}${looksUp(change) ? look : ''}`
}

function labels({ changes, unchanged }: Planned): string[] {
  const all = [...changes.map(labelOf), ...Array.from({ length: unchanged }, () => 'unchanged')]
  return all.length === 0 ? ['nothing'] : all
}

/** Of what was there before, or was edited on the service, the feed says nothing new. */
const isNews = ({ cause, broken, again }: Update): boolean =>
  cause === 'changed' || cause === 'mapping' || broken.length > 0 || again

/** What the guard makes of the plan where nothing trips, where every rule about changes does, and where nothing would stay. */
function guardFailures({ changes }: Planned): string[] {
  const beside = { remembered: nothing, pair: null, heldBeside: null }
  const failures: string[] = []
  for (const [name, seen] of Object.entries({ quiet, accident, wreck })) {
    const trips = tripsOf(seen, limits)
    for (const change of changes) {
      if (change.kind === 'hold') continue
      const heldParts = judge(change, beside, trips, policy)?.weighed.heldParts ?? []
      const isHeld = heldParts.length > 0
      const isAbout =
        change.kind === 'delete' ||
        (change.kind === 'update' && isNews(change) && change.fields.length > 0) ||
        change.cause === 'gone-from-service' ||
        (change.kind === 'forget' && change.cause !== 'other-feed')
      const isDue = seen === wreck || (seen === accident && isAbout)
      if (isHeld !== isDue) failures.push(`${labelOf(change)} is ${isHeld ? '' : 'not '}held in: ${name}`)
    }
  }
  return failures
}

/** Runs until a plan changes nothing; what is wrong with where it ends, or null. */
async function restlessness(
  first: World,
  setting: Setting,
  spelling: Spelling,
  ends: Map<string, string | null>,
): Promise<string | null> {
  const settings = settingsOf(setting)
  const isSeen = first.feed === 'seen'
  let world = first
  const passed: string[] = []
  // One run writes, the next finds nothing left; grace costs one more, a number of the service's own form another.
  const runs = 2 + (first.feed === 'absent' ? setting.graceRuns - 1 : 0) + (spelling === 'number' ? 1 : 0)
  let end: string | null = `still not at rest after ${runs} runs`
  for (let run = 0; run < runs; run++) {
    const name = JSON.stringify(world)
    const known = ends.get(name)
    if (known !== undefined) {
      end = known
      break
    }
    passed.push(name)
    const planned = await planOf(world, settings)
    if (planned.changes.every(({ kind }) => kind === 'hold')) {
      const wrong = planned.changes.find(({ cause }) => cause !== 'grace' && !mayStand(cause, world, setting))
      if (!planned.changes.some(({ cause }) => cause === 'grace')) {
        end = wrong === undefined ? null : `held for ever: ${wrong.cause}`
        break
      }
    }
    world = carriedOut(world, planned, setting, spelling)
    // The row is gone, so its bytes are no longer known: the record is parsed.
    if (isSeen && world.row === null) world = { ...world, feed: 'same' }
  }
  for (const name of passed) ends.set(name, end)
  return end
}

/** Every world under every setting; what `judge` finds wrong with it, for the first twenty that are wrong, in words. */
async function walk(
  ownership: Setting['ownership'],
  judge: (world: World, setting: Setting, ends: Map<string, string | null>) => Promise<string[]>,
): Promise<{ worlds: number; failures: string[] }> {
  const failures: string[] = []
  let worlds = 0
  const sides = shownSides()
  const memories = Object.entries(rows(ownership))
  for (const setting of settings(ownership)) {
    const ends = new Map<string, string | null>()
    for (const feed of feedSides)
      for (const [name, row] of memories)
        for (const items of sides)
          for (const absentRuns of [0, 1]) {
            const world: World = { feed, row, items, absentRuns }
            if (!canBe(world) || !isDistinct(world, setting)) continue
            worlds++
            const wrong = await judge(world, setting, ends)
            if (wrong.length > 0 && failures.length < 20)
              failures.push(`${wrong.join('; ')} — ${inWords(world, name, setting)}`)
          }
  }
  return { worlds, failures }
}

const ownerships = ['tag', 'snapshot', 'mirror'] as const

test.each(ownerships)('every world ends where the design says (ownership: %s)', async (ownership) => {
  const { worlds, failures } = await walk(ownership, async (world, setting, ends) => {
    const real = settingsOf(setting)
    const planned = await planOf(world, real)
    const wrong = violations(world, setting, planned)
    const due = expected(world, setting).join(', ')
    const found = labels(planned).join(', ')
    if (found !== due) wrong.push(`${found} instead of ${due}`)
    if (planned.changes.length === 0) return wrong
    const end = await restlessness(world, setting, undefined, ends)
    return [...wrong, ...guardFailures(planned), ...(end === null ? [] : [end])]
  })
  expect(failures).toEqual([])
  expect(worlds).toBe(116_808)
})

test.each(ownerships)(
  'and comes to rest where the service has its own form of what it is sent (ownership: %s)',
  async (ownership) => {
    for (const spelling of ['text', 'number'] as const) {
      const { worlds, failures } = await walk(ownership, async (world, setting, ends) => {
        const { deliveryComplete, remoteComplete, mode, deletes } = setting
        if (!(deliveryComplete && remoteComplete && mode === 'full' && deletes)) return []
        const end = await restlessness(world, setting, spelling, ends)
        return end === null ? [] : [`${spelling}: ${end}`]
      })
      expect(failures).toEqual([])
      expect(worlds).toBe(116_808)
    }
  },
)
