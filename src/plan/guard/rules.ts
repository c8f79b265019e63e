/** The guard's rules, in the order in which people are told: what is too much at once, in which words, and what is held then. */
import { optionalFields } from '../../core/listing.ts'
import type { DeliverySummary, FieldName } from '../../core/listing.ts'
import type { Action } from '../change.ts'
import type { PlanSettings } from '../inputs.ts'
import { sharedKeys } from '../key-hashes.ts'
import type { PlanFacts } from '../plan.ts'
import { allowance, isFight, isForeign, isShrunk, usual } from './measures.ts'
import { isSetBack } from './older.ts'
import type { Older } from './older.ts'
import type { Limits, Past, RuleName, Trip } from './rule.ts'
import { lostFields } from './tally.ts'
import type { Tally } from './tally.ts'

/** All that the rules may look at. */
export interface Seen {
  readonly tally: Tally
  readonly facts: PlanFacts
  readonly past: Past
  readonly delivery: Pick<DeliverySummary, 'records' | 'listings' | 'filtered'>
  readonly settings: Pick<PlanSettings, 'delivery' | 'remote' | 'mode'>
}

/** `Numbers`: what an accident comes to, worked out once for its message and its holds. */
interface Rule<Numbers> {
  readonly name: RuleName
  /** The limit that governs it; null: none does. Its message is handed the name, as people write it. */
  readonly setting: keyof Limits | null
  /** The numbers of each accident: one for each lost field, say. */
  trips(seen: Seen, limits: Limits): readonly Numbers[]
  message(numbers: Numbers, setting: string): string
  /** null: it holds nothing and is told all the same. */
  readonly holds: ((action: Action, numbers: Numbers) => boolean) | null
}

/** A rule without the numbers between its parts: it gives whole accidents. */
type Bound = (seen: Seen, limits: Limits) => readonly Trip[]

function rule<Numbers>(it: Rule<Numbers>): Bound {
  return (seen, limits) =>
    it.trips(seen, limits).map((numbers) => ({
      rule: it.name,
      sentence: it.message(numbers, `limits.${it.setting}`),
      always: it.holds === null,
      holds: (action) => it.holds?.(action, numbers) ?? false,
    }))
}

const delivery = rule<{ reasons: string }>({
  name: 'delivery',
  setting: null,
  trips: ({ settings }) => (settings.delivery.complete ? [] : [{ reasons: settings.delivery.reasons.join('; ') }]),
  message: ({ reasons }) => `the delivery is incomplete (${reasons}): nothing is deleted because it is absent`,
  holds: null,
})

const remote = rule<{ reasons: string }>({
  name: 'remote',
  setting: null,
  trips: ({ settings }) => (settings.remote.complete ? [] : [{ reasons: settings.remote.reasons.join('; ') }]),
  message: ({ reasons }) =>
    `the service's list is incomplete (${reasons}): nothing is deleted because it is absent, and each create is looked up first`,
  holds: null,
})

const older = rule<Older>({
  name: 'older',
  setting: null,
  trips: ({ past, tally }) => (past.older !== null && isSetBack(past.older, tally) ? [past.older] : []),
  message: ({ sentence }) => sentence,
  holds: ({ kind }, { proven }) => proven || kind === 'update' || kind === 'delete',
})

const overlap = rule<{ shared: number; delivered: number; percent: number }>({
  name: 'overlap',
  setting: 'overlap',
  trips({ facts, past, settings, tally }, { overlap: percent }) {
    if (past.lastKeys === null || facts.keys.length === 0 || settings.mode === 'delta') return []
    const shared = sharedKeys(facts.keys, past.lastKeys)
    const { creates, absent } = tally.approved
    const isOther = isForeign(shared + creates, facts.keys.length, past.lastKeys.length - absent, percent)
    return isOther ? [{ shared, delivered: facts.keys.length, percent }] : []
  },
  message: ({ shared, delivered, percent }, setting) =>
    `only ${shared} of the delivery's ${delivered} MLSNumbers were in the last one, less than ${percent} % (${setting}): is this another customer's feed?`,
  holds: () => true,
})

const shrink = rule<Pick<Seen, 'past' | 'facts'> & { records: number; percent: number; approved: number }>({
  name: 'shrink',
  setting: 'shrink',
  trips({ delivery: { records }, facts, past, settings, tally }, limits) {
    const approved = tally.approved.absent
    const isLess = settings.mode === 'full' && isShrunk(records, past, limits, approved, facts.ours)
    return isLess ? [{ records, facts, past, percent: limits.shrink, approved }] : []
  },
  message({ records, facts, past, percent, approved }, setting) {
    const letGo = approved > 0 ? `, ${approved} approved deletes apart` : ''
    const median = usual(past)
    const measure =
      median === null
        ? `${facts.ours} listings that are ours (no earlier delivery is known${letGo}; ${setting})`
        : `${median} usual (the median of the last ${past.deliveries.length}${letGo}; ${setting})`
    return `the delivery has ${records} records, less than ${percent} % of the ${measure}`
  },
  holds: ({ kind, cause }) => kind === 'delete' && cause === 'absent',
})

interface OverShare {
  count: number
  allowed: number
  of: number
  limit: { percent: number; floor: number }
}

/** Whether so many are more than a share allows, and its numbers. */
function overShare(count: number, limit: OverShare['limit'], of: number): OverShare[] {
  const allowed = allowance(limit, of)
  return count > allowed ? [{ count, allowed, of, limit }] : []
}

const deletes = rule<OverShare & { planned: number; before: number }>({
  name: 'delete',
  setting: 'delete',
  trips({ facts, past, tally }, limits) {
    const { deletes: planned } = tally
    const { deletes24h: before } = past
    if (planned === 0) return []
    const over = overShare(before + planned, limits.delete, facts.ours - facts.leaving + before)
    return over.map((numbers) => ({ ...numbers, planned, before }))
  },
  message({ planned, before, allowed, of, limit }, setting) {
    const earlier = before > 0 ? ` after ${before} in the last 24 hours` : ''
    return `${planned} deletes${earlier} are more than the ${allowed} allowed in 24 hours (${limit.percent} % of ${of} listings, at least ${limit.floor}; ${setting})`
  },
  holds: ({ kind }) => kind === 'delete',
})

const updates = rule<OverShare & { mapped: number }>({
  name: 'update',
  setting: 'update',
  trips: ({ facts, tally }, limits) =>
    overShare(tally.updates, limits.update, facts.ours).map((over) => ({ ...over, mapped: facts.mappingUpdates })),
  message({ count, allowed, of, limit, mapped }, setting) {
    const mapping = mapped > 0 ? `; the mapping changed: ${mapped} updates` : ''
    return `${count} updates are more than the ${allowed} allowed in a run (${limit.percent} % of ${of} listings, at least ${limit.floor}; ${setting})${mapping}`
  },
  holds: ({ kind }) => kind === 'update',
})

const nothingLeft = rule<{ records: number }>({
  name: 'nothingLeft',
  setting: null,
  trips: ({ delivery: { records, listings, filtered }, settings }) =>
    settings.mode === 'full' && listings === 0 && filtered > 0 ? [{ records }] : [],
  message: ({ records }) => `\`where\` leaves none of the ${records} records over: is it what was meant?`,
  holds: ({ kind }) => kind === 'delete',
})

const recreate = rule<OverShare & { isForeignList: boolean }>({
  name: 'recreate',
  setting: 'recreate',
  // Other keys may be another customer's: nothing new belongs there either.
  trips: ({ facts, past, tally }, limits) =>
    overShare(tally.recreates, limits.recreate, facts.ours).map((over) => ({
      ...over,
      isForeignList: past.otherKeys && over.count * 2 > over.of,
    })),
  message: ({ count, allowed, of, limit, isForeignList }, setting) =>
    `${count} of our listings are gone from the service, more than ${allowed} (${limit.percent} % of ${of}, at least ${limit.floor}; ${setting}): ` +
    (isForeignList
      ? 'its keys were changed since: are they those of another customer?'
      : 'is its index being rebuilt?'),
  // What is forgotten on the word of the same list would, delivered again, be created beside a listing that is there.
  holds: ({ kind, cause }, { isForeignList }) =>
    (kind === 'create' && (isForeignList || cause === 'gone-from-service')) ||
    (kind === 'forget' && cause !== 'other-feed'),
})

const spelling = rule<{ gone: number; unknown: number }>({
  name: 'spelling',
  setting: null,
  trips: ({ facts, tally }) =>
    tally.recreates > 0 && facts.unknownMarks > 0 ? [{ gone: tally.recreates, unknown: facts.unknownMarks }] : [],
  message: ({ gone, unknown }) =>
    `${gone} of our listings are gone from the service while ${unknown} with this feed's mark are there ` +
    'under MLSNumbers that the store does not know: does the service spell them its own way?',
  holds: (action) =>
    (action.kind === 'create' && action.cause === 'gone-from-service') ||
    (action.kind === 'delete' && action.cause === 'absent' && action.snapshot === null),
})

const writers = rule<{ again: number }>({
  name: 'writers',
  setting: null,
  trips: ({ facts, tally: { again } }) => (isFight(again, facts.ours) ? [{ again }] : []),
  message: ({ again }) =>
    `${again} listings were changed on the service once more after they had been sent again: ` +
    "does another program write this chatbot's listings, such as a second daemon with a store of its own?",
  holds: (action) => action.kind === 'update' && action.again,
})

const lostField = rule<{ field: FieldName; had: number; lost: number; percent: number }>({
  name: 'lostField',
  setting: 'lostField',
  trips: ({ facts, tally }, { lostField: { percent, floor } }) =>
    optionalFields.flatMap((field, bit) => {
      const { [bit]: had } = facts.had
      const lost = tally.lost[field] ?? 0
      const isLost = had * 2 > facts.matched && lost > Math.max(floor, (had * percent) / 100)
      return isLost ? [{ field, had, lost, percent }] : []
    }),
  message: ({ field, had, lost, percent }, setting) =>
    `${lost} of the ${had} listings that had ${field} now lack it, more than ${percent} % (${setting}): was a column renamed?`,
  holds: (action, { field }) => lostFields(action).includes(field),
})

export const rules: readonly Bound[] = [
  delivery,
  remote,
  older,
  overlap,
  shrink,
  deletes,
  updates,
  nothingLeft,
  recreate,
  spelling,
  writers,
  lostField,
]
