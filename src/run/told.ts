/** Of what a delivery says nothing, or too little, though it is whole: what is held of it neither ends nor is said again. */
import { batches } from '../core/batches.ts'
import type { Action } from '../plan/change.ts'
import { hasPart } from '../plan/guard/guard.ts'
import { nothingRemembered } from '../plan/guard/hold.ts'
import type { Remembered } from '../plan/guard/hold.ts'
import { standingOf } from '../plan/guard/scales.ts'
import type { Policy } from '../plan/guard/scales.ts'
import type { DeliveryMode } from '../plan/proof.ts'
import type { Held, Pending } from '../store/store.ts'
import type { Feed, Readers } from './tools.ts'

/** MLSNumbers that the store is asked about at once. */
const batchSize = 1000

type Tools = Pick<Readers, 'store' | 'workspace'>

/** A rule of the guard holds it, and no approval lets it go. */
export const isWaiting = ({ rules, decision }: Pick<Held, 'rules' | 'decision'>): boolean =>
  rules.length > 0 && decision?.is !== 'approved'

/** It waits for a record without MLSNumber, and nobody has let it go. */
const isNameless = ({ part, rules, decision }: Held): boolean =>
  part === 'delete' && rules.length === 0 && decision?.is !== 'approved'

/** Of these MLSNumbers those of which the delivery says something: a record that can't be read says nothing. */
async function toldOf(
  { name, chatbot }: Pick<Feed, 'name' | 'chatbot'>,
  { store, workspace }: Tools,
  keys: readonly string[],
): Promise<Set<string>> {
  const ids = await store.snapshot.ids(chatbot, name, keys)
  const isSeen = (key: string): boolean => ids.has(key) && workspace.isSeen(ids.get(key)!)
  return new Set(keys.filter((key) => isSeen(key) || workspace.isReadable(key)))
}

/** What earlier deltas said and no run has carried out, in pages: of what this delivery says something, and the rest. */
export async function* pendingBeside(
  feed: Pick<Feed, 'name' | 'chatbot'>,
  tools: Tools,
): AsyncGenerator<{ told: Pending[]; untold: Pending[] }> {
  for await (const page of tools.store.deliveries.pending(feed.name)) {
    const keys = await toldOf(
      feed,
      tools,
      page.map(({ key }) => key),
    )
    yield { told: page.filter(({ key }) => keys.has(key)), untold: page.filter(({ key }) => !keys.has(key)) }
  }
}

/** MLSNumbers that the last full delivery lacked, and of which a person let the delete go: this delta says nothing of them. */
export async function approvedBeside(
  feed: Pick<Feed, 'name' | 'chatbot'>,
  tools: Tools,
  held: readonly Held[],
): Promise<string[]> {
  const { chatbot, name } = feed
  const isLetGo = ({ part, decision }: Held): boolean => part === 'delete' && decision?.is === 'approved'
  const keys = held.filter(isLetGo).map(({ mlsNumber }) => mlsNumber)
  const told = await toldOf(feed, tools, keys)
  const absent: string[] = []
  for (const key of keys)
    if (!told.has(key) && (await tools.store.history.isAbsent(chatbot, name, key))) absent.push(key)
  return absent
}

export interface Untold {
  /** MLSNumbers of which something is held and told; null: all is told. */
  readonly told: ReadonlySet<string> | null
  /** What is held of listings of which too little is told to end it. */
  readonly unclear: readonly Held[]
  /** The same by listing, and what is held of those of which the create or update waits for another reason than the guard's. */
  readonly standing: readonly (readonly HeldPart[])[]
  /** How many deletes that wait for a record without MLSNumber are not told: they go on waiting. */
  readonly nameless: number
  /** Of how many listings something that waits is not told: it stays held. */
  readonly waiting: number
  /** Of how many listings a delta does not tell what else is left of them: it waits for a full delivery, or one that names them. */
  readonly resting: number
}

/**
 * Of what is held a delta tells only what it names, a live source without a walk over its keys nothing that it lacks, and a delivery
 * without a table beside it nothing of updates that it does not plan: they may be about what comes from there. One that was written
 * before the last one tells nothing of what was refused and it does not plan.
 */
export async function untoldOf(
  feed: Feed,
  tools: Tools,
  { mode, lacksTable, older }: { mode: DeliveryMode; lacksTable: boolean; older: object | null },
  policy: Policy,
): Promise<Untold> {
  const { now } = policy
  const { unclear, standing } = await unclearOf(feed, tools, policy)
  const waiting = (some: readonly Held[]): number =>
    new Set(some.filter(isWaiting).map(({ mlsNumber }) => mlsNumber)).size
  if (mode === 'full' && !lacksTable && older === null)
    return { told: null, unclear, standing, nameless: 0, waiting: waiting(unclear), resting: 0 }
  const held = await tools.store.holds.held(feed.name, now)
  const keys = held.map(({ mlsNumber }) => mlsNumber)
  const told = mode === 'full' ? new Set(keys) : await toldOf(feed, tools, keys)
  const isOpen = ({ part, decision }: Held): boolean =>
    (lacksTable && part?.startsWith('update') === true) || (older !== null && decision?.is === 'refused')
  const unplanned = new Set(held.filter(isOpen).map(({ mlsNumber }) => mlsNumber))
  if (unplanned.size > 0) for (const { change } of tools.workspace.changes()) unplanned.delete(change.mlsNumber)
  for (const key of unplanned) told.delete(key)
  const untold = held.filter(({ mlsNumber }) => !told.has(mlsNumber))
  const nameless = untold.filter(isNameless).length
  const resting = mode === 'delta' && older === null ? untold.filter((one) => !isWaiting(one) && !isNameless(one)) : []
  return {
    told,
    unclear,
    standing,
    nameless,
    waiting: waiting([...untold, ...unclear]),
    resting: new Set(resting.map(({ mlsNumber }) => mlsNumber)).size,
  }
}

type HeldPart = Held & { readonly part: NonNullable<Held['part']> }
const isOfPart = (held: Held): held is HeldPart => held.part !== null

const isLeaving = ({ part }: Held): boolean => part === 'delete' || part === 'forget'

/**
 * A listing of which nobody can say what is wanted, or which of several is meant that the service shows: only that it is there, or
 * gone. `waiting`: the create or update that is wanted, but held for another reason than the guard's, as a call before it got no answer.
 */
interface Unclear {
  readonly mlsNumber: string
  readonly isGone: boolean
  readonly waiting: Action | null
  readonly remembered: Remembered
}

function* unclearIn(workspace: Tools['workspace']): Generator<Unclear> {
  for (const { mlsNumber } of workspace.rejects())
    if (mlsNumber !== null) yield { mlsNumber, isGone: false, waiting: null, remembered: nothingRemembered }
  for (const { change, remembered } of workspace.changes('hold')) {
    const { cause, mlsNumber, held } = change
    const waiting = held === 'create' || held === 'update' ? change.action : null
    const isUnclear = waiting !== null || cause === 'twice-delivered' || cause === 'twice-shown'
    if (isUnclear && remembered.holds.length > 0) yield { mlsNumber, isGone: held === 'delete', waiting, remembered }
  }
}

async function unclearOf({ name }: Feed, { store, workspace }: Tools, policy: Policy) {
  const [unclear, standing]: [Held[], HeldPart[][]] = [[], []]
  if ((await store.holds.count(name)) === 0) return { unclear, standing }
  const known = new Set<string>()
  for (const some of batches(unclearIn(workspace), () => batchSize)) {
    const keys = some.map(({ mlsNumber }) => mlsNumber)
    const heldOf = Map.groupBy(await store.holds.held(name, policy.now, { keys }), ({ mlsNumber }) => mlsNumber)
    for (const { mlsNumber, isGone, waiting, remembered } of some) {
      // Each of its records is rejected, or held.
      if (!heldOf.has(mlsNumber) || known.has(mlsNumber)) continue
      known.add(mlsNumber)
      // Of records that differ, one may say that it is gone.
      const mayBeGone = isGone || workspace.deliveredAs(mlsNumber).some(({ kind }) => kind !== 'listing')
      const isMeant = (held: HeldPart): boolean =>
        (isLeaving(held) ? mayBeGone : !isGone) && (waiting === null || hasPart(waiting, held.part))
      const parts = heldOf.get(mlsNumber)!.filter(isOfPart).filter(isMeant)
      standing.push(parts)
      // What waits is no hold of the guard's now, but a person has decided about it for whenever it is one, and its clock goes on.
      const isSame = ({ part }: HeldPart): boolean =>
        waiting !== null && standingOf(remembered, waiting, part, policy).record !== null
      unclear.push(...parts.filter((held) => waiting === null || held.decision !== null || isSame(held)))
    }
  }
  return { unclear, standing }
}
