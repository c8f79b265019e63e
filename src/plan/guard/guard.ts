/** The guard: an accident becomes holds. What a tripped rule is about is held back, and the rest goes on. Pure. */
import type { FieldName } from '../../core/listing.ts'
import { hold, weighed } from '../change.ts'
import type { Action, Change, Remembered } from '../change.ts'
import { fieldsOfFact } from './facts.ts'
import type { FactKind } from './facts.ts'
import { asking } from './hold.ts'
import type { Counted, HeldPart, Pair, PartHeld } from './hold.ts'
import { isNews } from './rules.ts'
import type { Trip } from './rules.ts'
import { isFree, partOf, standingOf } from './scales.ts'
import type { Policy } from './scales.ts'

interface Holding {
  part: HeldPart
  /** null: a person refused it, or the other one of its pair, and no rule asks any more. */
  trip: Trip | null
  /** null: the whole action. */
  fields: readonly FieldName[] | null
}

/** What became of an action under the guard. */
export interface Verdict {
  readonly change: Change
  /** The accidents that hold it, wholly or in part. */
  readonly heldBy: readonly Trip[]
  /** When the earliest clock of what holds it began, in milliseconds; null: no clock runs. */
  readonly clock: number | null
}

/**
 * `isBesideHeld`: the other action of the pair is held, and so is this one, whatever was let go of it. null: it goes as it was
 * planned, and nothing about it is remembered.
 */
export function judge(
  action: Action,
  pair: Pair | null,
  remembered: Remembered,
  trips: readonly Trip[],
  policy: Policy,
  isBesideHeld = false,
): Verdict | null {
  const isRenumbered = pair === 'renumbered'
  const holding = holdingOf(action, pair, remembered, trips, policy, isBesideHeld)
  if (holding.length === 0) {
    const released = releasedOf(action, remembered, policy)
    if (released.length === 0 && !isRenumbered) return null
    const counts = countsOf(action, isRenumbered).filter((what) => !released.some((part) => isCountOf(part, what)))
    return { change: weighed(action, { counts, released }), heldBy: [], clock: null }
  }
  const parts = Array.from(
    Map.groupBy(holding, ({ part }) => part),
    ([part, held]): PartHeld => {
      const by = held.flatMap(({ trip }) => trip ?? [])
      return {
        part,
        content: policy.contentOf(action, part),
        rules: [...new Set(by.map(({ rule }) => rule))],
        ends: by.some(({ ends }) => ends === 'confirmed') ? 'confirmed' : (by[0]?.ends ?? 'never'),
      }
    },
  )
  const heldBy = holding.flatMap(({ trip }) => trip ?? [])
  const clocks = parts.flatMap(({ part, ends }) =>
    // Under other keys nothing that the list lacks goes by itself.
    ends === 'never' || (ends === 'listed again' && policy.otherKeys)
      ? []
      : [standingOf(remembered, action, part, policy).record?.clock ?? policy.now],
  )
  const clock = clocks.length === 0 || heldBy.some(({ rule }) => asking.has(rule)) ? null : Math.min(...clocks)
  const released = releasedOf(action, remembered, policy).filter((part) => !parts.some((held) => held.part === part))
  return { change: withheld(action, holding, parts, released), heldBy, clock }
}

function holdingOf(
  action: Action,
  pair: Pair | null,
  remembered: Remembered,
  trips: readonly Trip[],
  policy: Policy,
  isBesideHeld: boolean,
): Holding[] {
  const holding: Holding[] = []
  for (const trip of trips) {
    const held = trip.holds(action, pair)
    if (held === false || (held !== true && held.length === 0)) continue
    const part = partOf(action, trip)
    const { standing, record } = standingOf(remembered, action, part, policy)
    // Another list of the chatbot says nothing of the feed.
    const isOfList = record?.ends === 'listed again' && trip.ends === 'confirmed'
    const isLetGo = standing === 'approved' || (standing === 'confirmed' && trip.ends !== 'never' && !isOfList)
    if (!isLetGo || isBesideHeld) holding.push({ part, trip, fields: held === true ? null : held })
  }
  for (const { part, decision } of remembered.holds) {
    if (decision !== 'refused' || holding.some((other) => other.part === part)) continue
    if (standingOf(remembered, action, part, policy).standing !== 'refused') continue
    const fields = fieldsOfPart(action, part)
    if (fields === null || fields.length > 0) holding.push({ part, trip: null, fields })
  }
  if (isBesideHeld && holding.length === 0) holding.push({ part: action.kind, trip: null, fields: null })
  return holding
}

/** The fields of an action that a part is about: null for all of it, none where it is another's. */
function fieldsOfPart(action: Action, part: HeldPart): readonly FieldName[] | null {
  const [kind, fact] = part.split(' ')
  if (kind !== action.kind) return []
  if (fact === undefined || action.kind !== 'update') return null
  return isNews(action, fact as FactKind) ? fieldsOfFact(fact as FactKind, action.fields) : []
}

function releasedOf(action: Action, remembered: Remembered, policy: Policy): HeldPart[] {
  return remembered.holds
    .map(({ part }) => part)
    .filter((part) => {
      const fields = fieldsOfPart(action, part)
      const isAbout = fields === null || fields.length > 0
      return isAbout && isFree(standingOf(remembered, action, part, policy).standing)
    })
}

function countsOf(action: Action, isRenumbered: boolean): readonly Counted[] {
  if (!isRenumbered) return action.counts
  return action.kind === 'delete' ? ['renumber'] : []
}

function isCountOf(part: HeldPart, what: Counted): boolean {
  return part === `update ${what}` || part === what || (part === 'delete' && what === 'renumber')
}

/** The action as a hold, or the update without the fields that are held where something else of it is left. */
function withheld(
  action: Action,
  holding: readonly Holding[],
  parts: readonly PartHeld[],
  released: readonly HeldPart[],
): Change {
  const labels = [...new Set(holding.map(({ trip }) => trip?.label ?? 'it was refused'))]
  const why = `${action.why}; held: ${labels.join(', ')}`
  if (action.kind === 'update' && holding.every(({ fields }) => fields !== null)) {
    const fields = [...new Set(holding.flatMap((held) => held.fields ?? []))]
    const goesOn = action.fields.some(({ field }) => !fields.includes(field))
    if (goesOn) {
      const apart = [...parts.map(({ part }) => part), ...released]
      const counts = action.counts.filter((what) => !apart.some((part) => isCountOf(part, what)))
      const clear = action.clear.filter((field) => !fields.includes(field))
      const why = `${action.why}; held of it: ${labels.join(', ')}`
      return { ...action, why, counts, released, clear, withheld: { fields, parts } }
    }
  }
  // What was let go of it is not carried out either, and must not be asked about anew.
  return hold(weighed(action, { counts: action.counts, released }), 'guard', why, { parts })
}
