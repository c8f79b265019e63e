/** The guard: an accident becomes holds. What a tripped rule is about is held back, and the rest goes on. Pure. */
import type { FieldName } from '../../core/listing.ts'
import { hold, weighed } from '../change.ts'
import type { Action, ActionKind, Change, Remembered } from '../change.ts'
import { fieldsOfFact } from './facts.ts'
import type { FactKind } from './facts.ts'
import { partOf } from './hold.ts'
import type { Counted, HeldPart, Pair, PartHeld } from './hold.ts'
import type { Trip } from './rules.ts'
import { isLetGo, standingOf } from './scales.ts'
import type { Policy } from './scales.ts'

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
  const standing = (part: HeldPart) => standingOf(remembered, action, part, policy)
  const holding: { part: HeldPart; trip?: Trip }[] = trips
    .filter((trip) => trip.holds(action, pair))
    .map((trip) => ({ part: trip.fact === undefined ? action.kind : partOf(trip.fact), trip }))
    .filter(({ part, trip }) => isOf(action, part) && (isBesideHeld || !isLetGo(standing(part), trip.ends)))
  // A person refused it, and no rule need ask any more; or the other one of its pair is held.
  for (const { part, decision } of remembered.holds)
    if (decision === 'refused' && standing(part).is === 'refused' && isOf(action, part)) {
      if (!holding.some((other) => other.part === part)) holding.push({ part })
    }
  if (isBesideHeld && holding.length === 0) holding.push({ part: action.kind })

  const heldBy = holding.flatMap(({ trip }) => trip ?? [])
  const parts = Array.from(
    Map.groupBy(holding, ({ part }) => part),
    ([part, held]): PartHeld => {
      const by = held.flatMap(({ trip }) => trip ?? [])
      const ends = by.some((trip) => trip.ends === 'confirmed') ? 'confirmed' : (by[0]?.ends ?? 'never')
      return { part, content: policy.contentOf(action, part), rules: [...new Set(by.map(({ name }) => name))], ends }
    },
  )
  const released = remembered.holds
    .map(({ part }) => part)
    .filter((part) => isOf(action, part) && isLetGo(standing(part), 'listed again'))
    .filter((part) => !parts.some((held) => held.part === part))
  const apart = [...parts.map(({ part }) => part), ...released]
  const counts = countsOf(action, pair).filter((what) => !apart.includes(partOf(what)))
  const change = weighed(action, { counts, released })
  if (holding.length === 0)
    return released.length === 0 && pair !== 'renumbered' ? null : { change, heldBy, clock: null }
  const clocks = parts.flatMap(({ part, ends }) =>
    // Under other keys nothing that the list lacks goes by itself.
    ends === 'never' || (ends === 'listed again' && policy.otherKeys)
      ? []
      : [standing(part).record?.clock ?? policy.now],
  )
  const isAsking = heldBy.some(({ ends }) => ends === 'never')
  const clock = clocks.length === 0 || isAsking ? null : Math.min(...clocks)
  const labels = [...new Set(holding.map(({ trip }) => trip?.label ?? 'it was refused'))].join(', ')
  return { change: held(change, parts, labels), heldBy, clock }
}

const countsOf = ({ kind, counts }: Action, pair: Pair | null): readonly Counted[] =>
  pair !== 'renumbered' ? counts : kind === 'delete' ? ['renumber'] : []

/** The fields of an action that a part is about: null for all of it, none where it is another's. */
function fieldsOf(action: Action, part: HeldPart): readonly FieldName[] | null {
  const [kind, fact] = part.split(' ') as [ActionKind, FactKind?]
  if (kind !== action.kind) return []
  if (fact === undefined || action.kind !== 'update') return null
  // Of a listing that was there before, or was edited on the service, the feed says nothing new.
  const isNews = action.cause === 'changed' || action.cause === 'mapping' || action.broken.includes(fact)
  return isNews ? fieldsOfFact(fact, action.fields) : []
}

const isOf = (action: Action, part: HeldPart): boolean => fieldsOf(action, part)?.length !== 0

/** The action as a hold, or the update without the fields that are held where something else of it is left. */
function held(action: Action, parts: readonly PartHeld[], labels: string): Change {
  const all = parts.map(({ part }) => fieldsOf(action, part))
  if (action.kind === 'update' && !all.includes(null)) {
    const fields = [...new Set(all.flatMap((some) => some ?? []))]
    const isHeld = (field: FieldName): boolean => fields.includes(field)
    if (action.fields.some(({ field }) => !isHeld(field))) {
      const clear = action.clear.filter((field) => !isHeld(field))
      return { ...action, why: `${action.why}; held of it: ${labels}`, clear, withheld: { fields, parts } }
    }
  }
  // What was let go of it is not carried out either, and must not be asked about anew.
  return hold(action, 'guard', `${action.why}; held: ${labels}`, { parts })
}
