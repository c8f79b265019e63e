/** Finds the listings of which a whole delivery says nothing, or too little. Their holds neither end nor are confirmed by it. */
import { batches } from '../core/batches.ts'
import type { Action, Bookkeeping, Planned } from '../plan/change.ts'
import { facts } from '../plan/guard/facts.ts'
import { hasPart } from '../plan/guard/guard.ts'
import { factOf, nothingRemembered } from '../plan/guard/hold.ts'
import type { Remembered, RuleName } from '../plan/guard/hold.ts'
import { standingOf } from '../plan/guard/scales.ts'
import type { Policy } from '../plan/guard/scales.ts'
import type { Held, Pending } from '../store/store.ts'
import type { Delivery } from './delivery.ts'
import type { Feed, Readers } from './tools.ts'

/** MLSNumbers that the store is asked about at once. */
const batchSize = 1000

type Tools = Pick<Readers, 'store' | 'workspace'>

/** A hold that a person can approve. */
export type Approvable = Held & { readonly part: NonNullable<Held['part']> }

export const isApprovable = (held: Held): held is Approvable => held.part !== null

/** Whether a rule of the guard holds it, and no approval covers it. */
export const isWaiting = (held: Held): held is Approvable =>
  isApprovable(held) && held.rules.length > 0 && held.decision?.is !== 'approved'

/** Whether the rule `older` holds it, and nobody has approved it. */
export const waitsAsOlder = (held: Held): boolean => held.rules.includes('older' satisfies RuleName) && isWaiting(held)

/** Whether it is a delete that waits for a record without MLSNumber, and nobody has approved it. */
const isNameless = ({ part, rules, decision }: Held): boolean =>
  part === 'delete' && rules.length === 0 && decision?.is !== 'approved'

/** Of these MLSNumbers, those of which the delivery says something. A record that can't be read says nothing. */
async function namedOf(
  { name, chatbot }: Pick<Feed, 'name' | 'chatbot'>,
  { store, workspace }: Tools,
  keys: readonly string[],
): Promise<Set<string>> {
  const ids = await store.snapshot.ids(chatbot, name, keys)
  const isSeen = (key: string): boolean => ids.has(key) && workspace.isSeen(ids.get(key)!)
  return new Set(keys.filter((key) => isSeen(key) || workspace.isReadable(key)))
}

/** Whether a record of this MLSNumber says that the listing is there, or that it is not. */
export function isSaid(workspace: Tools['workspace'], key: string, isThere: boolean): boolean {
  for (const { kind } of workspace.deliveredAs(key)) if ((kind === 'listing') === isThere) return true
  return false
}

/** What is pending of earlier deltas, in pages. `named`: this delivery says something of the MLSNumber itself. */
export async function* pendingBeside(
  feed: Pick<Feed, 'name' | 'chatbot'>,
  tools: Tools,
): AsyncGenerator<{ named: Pending[]; unnamed: Pending[] }> {
  for await (const page of tools.store.deliveries.pending(feed.name)) {
    const keys = await namedOf(
      feed,
      tools,
      page.map(({ key }) => key),
    )
    yield { named: page.filter(({ key }) => keys.has(key)), unnamed: page.filter(({ key }) => !keys.has(key)) }
  }
}

/** MLSNumbers that the last full delivery lacked, whose delete a person approved, and of which this delta says nothing. */
export async function approvedBeside(
  feed: Pick<Feed, 'name' | 'chatbot'>,
  tools: Tools,
  held: readonly Held[],
): Promise<string[]> {
  const { chatbot, name } = feed
  const isLetGo = ({ part, decision }: Held): boolean => part === 'delete' && decision?.is === 'approved'
  const keys = held.filter(isLetGo).map(({ mlsNumber }) => mlsNumber)
  const named = await namedOf(feed, tools, keys)
  const absent: string[] = []
  for (const key of keys)
    if (!named.has(key) && (await tools.store.history.isAbsent(chatbot, name, key))) absent.push(key)
  return absent
}

/**
 * Deletes that are held, or wait for the end of a grace, and of which this run can't tell: those of the other feeds of the chatbot and,
 * unless the delivery is a full one, those of listings that it does not name. A home that comes under another number must wait with
 * them, or it would be on the site twice.
 */
export async function deletesBeside(
  feed: Pick<Feed, 'name' | 'chatbot' | 'configured'>,
  tools: Tools,
  isFull: boolean,
  now: number,
): Promise<Extract<Bookkeeping, { home: string }>[]> {
  const { history, holds, snapshot } = tools.store
  const beside: Extract<Bookkeeping, { home: string }>[] = []
  for (const name of new Set([feed.name, ...feed.configured])) {
    const isOwn = name === feed.name
    if (isOwn && isFull) continue
    const held = (await holds.held(name, now)).filter(({ part }) => part === 'delete' || part === null)
    const keys = held.map(({ mlsNumber }) => mlsNumber)
    const named = isOwn ? await namedOf(feed, tools, keys) : new Set<string>()
    const unnamed = held.filter(({ mlsNumber }) => !named.has(mlsNumber))
    for (const some of batches(unnamed, () => batchSize)) {
      const rows = await snapshot.rowsOf(
        feed.chatbot,
        some.map(({ mlsNumber }) => mlsNumber),
      )
      for (const { mlsNumber: key, part, why } of some) {
        const row = rows.get(key)
        // Another feed may have taken it over meanwhile.
        const home = row?.feed === name ? row.home : null
        // What nobody can approve may be about a listing that its feed still has.
        if (home === null || (part === null && !(await history.isAbsent(feed.chatbot, name, key)))) continue
        const approve = part === null ? '' : `; now: listing-sync approve ${name}`
        beside.push({ op: 'stays-held', key, home, why: isOwn ? why : `feed ${name}: ${why}${approve}` })
      }
    }
  }
  return beside
}

/** These changes; those of listings whose delete another feed of the chatbot holds, so that this one has to wait, name that feed. */
export async function namingHolders(
  feed: Pick<Feed, 'name' | 'configured'>,
  { store }: Tools,
  changes: readonly Planned[],
  now: number,
): Promise<readonly Planned[]> {
  const keys = changes.flatMap(({ change: { kind, cause, mlsNumber } }) =>
    kind === 'hold' && cause === 'other-feed' ? mlsNumber : [],
  )
  if (keys.length === 0) return changes
  const holders = new Map<string, string>()
  for (const name of feed.configured) {
    const held = name === feed.name ? [] : await store.holds.held(name, now, { keys })
    for (const hold of held)
      if (hold.part === 'delete' && hold.decision?.is !== 'approved') holders.set(hold.mlsNumber, name)
  }
  return changes.map((planned) => {
    const holder = holders.get(planned.change.mlsNumber)
    if (holder === undefined || planned.change.cause !== 'other-feed') return planned
    const why = `also in ${holder}, a feed of this chatbot where the delete is held: what moved here goes on when that hold ends, or after listing-sync approve ${holder}`
    return { ...planned, change: { ...planned.change, why } }
  })
}

export interface Unnamed {
  /** Held MLSNumbers of which this delivery says enough; null: all of them. */
  readonly named: ReadonlySet<string> | null
  /** Holds of listings that are delivered, but of which too little is told to end the holds. */
  readonly unclear: readonly Held[]
  /** The same by listing, with all holds of listings whose create or update waits for another reason than the guard. */
  readonly standing: readonly (readonly Approvable[])[]
  /** How many deletes wait for a record without MLSNumber and are not told of: they go on waiting. */
  readonly nameless: number
  /** Of how many listings something is held by a rule and not told of: it stays held. */
  readonly waiting: number
  /** How many listings wait for anything else, as the end of a grace, and are not in this delta: they wait for a delivery with them. */
  readonly resting: number
}

/**
 * Finds the holds of which this delivery tells nothing, or too little. A delta tells only of what it names, and a live source
 * without a walk over its keys only of what it has. What is held of fields whose table beside the feed (`join`) is lacking stays, unless
 * it is planned. An older delivery tells nothing of refusals that it does not plan.
 */
export async function unnamedOf(
  feed: Feed,
  tools: Tools,
  { mode, lacking, older, written, summary }: Pick<Delivery, 'mode' | 'lacking' | 'older' | 'written' | 'summary'>,
  policy: Policy,
): Promise<Unnamed> {
  const { now } = policy
  const { unclear, standing } = await unclearOf(feed, tools, policy)
  const waiting = (some: readonly Held[]): number =>
    new Set(some.filter(isWaiting).map(({ mlsNumber }) => mlsNumber)).size
  const isWhole = mode === 'full' && summary.complete
  const namesAll = mode === 'full' && lacking.length === 0 && older === null
  const held = namesAll && isWhole ? [] : await tools.store.holds.held(feed.name, now)
  if (mode === 'full' && !isWhole) standing.push(...createsBeside(held, tools))
  if (namesAll) return { named: null, unclear, standing, nameless: 0, waiting: waiting(unclear), resting: 0 }
  const keys = held.map(({ mlsNumber }) => mlsNumber)
  const named = mode === 'full' ? new Set(keys) : await namedOf(feed, tools, keys)
  if (mode === 'delta' && older === null && written !== null)
    for (const key of await outdated(feed, tools, held)) named.add(key)
  const isLacking = ({ part }: Approvable): boolean => {
    const fact = factOf(part)
    if (fact === null) return part === 'update' && lacking.length > 0
    return facts[fact].fields.some((field) => lacking.includes(field))
  }
  const needsPlan = (hold: Approvable): boolean =>
    named.has(hold.mlsNumber) && (isLacking(hold) || (older !== null && hold.decision?.is === 'refused'))
  const unplanned = Map.groupBy(held.filter(isApprovable).filter(needsPlan), ({ mlsNumber }) => mlsNumber)
  if (unplanned.size > 0)
    for (const { change } of tools.workspace.changes()) {
      const holds = unplanned.get(change.mlsNumber) ?? []
      unplanned.delete(change.mlsNumber)
      // An update of other fields tells nothing of what the table says, nor one of an older delivery of a refusal.
      if (change.kind === 'update') unclear.push(...holds.filter(({ part }) => !isStill(change, part)))
    }
  for (const [key, holds] of unplanned)
    if (holds.every(isLacking)) unclear.push(...holds)
    else named.delete(key)
  const unnamed = held.filter(({ mlsNumber }) => !named.has(mlsNumber))
  const nameless = unnamed.filter(isNameless).length
  const resting =
    mode === 'delta' && older === null ? unnamed.filter((hold) => !isWaiting(hold) && !isNameless(hold)) : []
  return {
    named,
    unclear,
    standing,
    nameless,
    waiting: waiting([...unnamed, ...unclear]),
    resting: new Set(resting.map(({ mlsNumber }) => mlsNumber)).size,
  }
}

/** Creates that are held, and may be in what an incomplete delivery lacks. Of a record that can't be read `unclearIn` tells. */
function createsBeside(held: readonly Held[], { workspace }: Tools): Approvable[][] {
  const isBeside = ({ part, mlsNumber }: Held): boolean => part === 'create' && !workspace.isDelivered(mlsNumber)
  return held.filter(isApprovable).flatMap((hold) => (isBeside(hold) ? [[hold]] : []))
}

/**
 * What a whole full delivery said that was older than the one before it, and nobody approved: a newer delta shows that the feed goes on
 * from there. What an older delta said is pending instead, as a delta says it once.
 */
async function outdated({ name }: Feed, { store }: Tools, held: readonly Held[]): Promise<string[]> {
  const keys = held.flatMap((hold) => (waitsAsOlder(hold) ? hold.mlsNumber : []))
  const pending = await store.deliveries.pendingOf(name, keys)
  return keys.filter((key) => !pending.has(key))
}

/** Whether the action would still do what is held as this part. */
export function isStill(action: Action, part: Approvable['part']): boolean {
  const fact = factOf(part)
  return fact !== null && 'broken' in action ? action.broken.includes(fact) : hasPart(action, part)
}

const isLeaving = ({ part }: Held): boolean => part === 'delete' || part === 'forget'

/**
 * A listing of which this run knows only that the feed has it, or that it is gone: not what is wanted, or which of its copies on the
 * service is meant. `waiting`: the create or update that is held for another reason than the guard, as an earlier call without answer.
 */
interface Unclear {
  readonly mlsNumber: string
  /** null: nobody can tell, as the delivery or the list is incomplete. */
  readonly isGone: boolean | null
  /** Only the next delivery proves that it is gone. */
  readonly isUnproven: boolean
  readonly waiting: Action | null
  readonly remembered: Remembered
}

function* unclearIn(workspace: Tools['workspace']): Generator<Unclear> {
  for (const { mlsNumber } of workspace.rejects())
    if (mlsNumber !== null)
      yield { mlsNumber, isGone: false, isUnproven: false, waiting: null, remembered: nothingRemembered }
  for (const { change, remembered } of workspace.changes('hold')) {
    const { cause, mlsNumber, held } = change
    const waiting = held === 'create' || held === 'update' ? change.action : null
    const isUnknown = cause === 'unproven' && change.isConflict
    const isUnproven = cause === 'unproven' && !isUnknown
    const isUnclear = waiting !== null || cause === 'twice-delivered' || cause === 'twice-shown' || cause === 'unproven'
    if (isUnclear && remembered.holds.length > 0)
      yield { mlsNumber, isGone: isUnknown ? null : held === 'delete', isUnproven, waiting, remembered }
  }
}

/** Refused deletes of listings that the list lacks, too: it may be wrong, and only the feed or a person ends a refusal. */
function* refusedIn(workspace: Tools['workspace']): Generator<string> {
  for (const { change, remembered } of workspace.changes('forget'))
    if (change.cause !== 'other-feed' && remembered.holds.some(({ decision }) => decision === 'refused'))
      yield change.mlsNumber
}

async function unclearOf({ name }: Feed, { store, workspace }: Tools, policy: Policy) {
  const [unclear, standing]: [Held[], Approvable[][]] = [[], []]
  if ((await store.holds.count(name)) === 0) return { unclear, standing }
  const known = new Set<string>()
  for (const some of batches(unclearIn(workspace), () => batchSize)) {
    const keys = some.map(({ mlsNumber }) => mlsNumber)
    const heldOf = Map.groupBy(await store.holds.held(name, policy.now, { keys }), ({ mlsNumber }) => mlsNumber)
    for (const { mlsNumber, isGone, isUnproven, waiting, remembered } of some) {
      // It comes here once for each of its records.
      if (!heldOf.has(mlsNumber) || known.has(mlsNumber)) continue
      known.add(mlsNumber)
      // Of records that differ, one may say that it is gone.
      const mayBeGone = isGone !== false || isSaid(workspace, mlsNumber, false)
      const isMeant = (held: Approvable): boolean =>
        (isLeaving(held) ? mayBeGone : isGone !== true) && (waiting === null || hasPart(waiting, held.part))
      const meant = heldOf.get(mlsNumber)!.filter(isApprovable).filter(isMeant)
      // The plan counts it as leaving already.
      if (!isUnproven) standing.push(meant)
      // The guard does not hold what waits. But once it does again, a person's decision still counts, and the clock has gone on.
      const isSame = ({ part }: Approvable): boolean =>
        waiting !== null && standingOf(remembered, waiting, part, policy).record !== null
      unclear.push(...meant.filter((held) => waiting === null || held.decision !== null || isSame(held)))
    }
  }
  for (const keys of batches(refusedIn(workspace), () => batchSize)) {
    const held = (await store.holds.held(name, policy.now, { keys })).filter(isApprovable)
    unclear.push(...held.filter(({ part, decision }) => part === 'delete' && decision?.is === 'refused'))
  }
  return { unclear, standing }
}
