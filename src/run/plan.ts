import { outranks } from '../apply/context.ts'
import { batches } from '../core/batches.ts'
import { breathe, createBreath } from '../core/breath.ts'
import { listingAt } from '../core/listing.ts'
import { passedSince } from '../core/turn.ts'
import { hold, isUnwritten, noCounts, reasonOf } from '../plan/change.ts'
import type { Action, Change, Counts, Create, Planned, Update } from '../plan/change.ts'
import { factsBroken } from '../plan/guard/facts.ts'
import { contentOf, contentsBefore } from '../plan/guard/hold.ts'
import type { Remembered } from '../plan/guard/hold.ts'
import { Scales } from '../plan/guard/scales.ts'
import type { Figures, Policy } from '../plan/guard/scales.ts'
import type { PlanInputs, PlanSettings } from '../plan/inputs.ts'
import { noFacts, planChanges } from '../plan/plan.ts'
import type { PlanFacts } from '../plan/plan.ts'
import { homesLeft } from './homes-left.ts'
import type { Listed } from './observe.ts'
import { othersIn } from './others.ts'
import type { Others } from './others.ts'
import type { Past } from './recall.ts'
import type { Delivery } from './delivery.ts'
import { deletesBeside, isSaid, isWaiting, namingHolders, unnamedOf } from './named.ts'
import type { Unnamed } from './named.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Feed, Mode, Readers } from './tools.ts'

/** The plan of a run in figures. Its changes are in the workspace. */
export interface Plan {
  delivery: Delivery
  listed: Listed
  settings: PlanSettings
  facts: PlanFacts
  /** What decides which earlier holds go now. */
  policy: Policy
  /** What the guard's rules measure in its changes. */
  figures: Figures
  /** Only `unchanged` and `reject`. The guard counts the kinds of changes, as it turns some into holds. */
  counts: Counts
  /** When the store was lost, if it was lately, in milliseconds. */
  lostAt: number | null
  /** What the marks tell of other stores. */
  others: Others
  /** The list lacks some of ours and may lack others, or another program may be at work: every create is looked up first. */
  isDoubtful: boolean
  unnamed: Unnamed
  /** Of new homes that a feed which left the chatbot has there, as sentences. */
  homesLeft: readonly string[]
}

/** How long a store is doubted after its loss, in milliseconds. */
const day = 86_400_000

/** The change with a look-up before it, as the list may hide the listing. If another feed had it, it is not new. */
function doubted(planned: Create | Update, { wasElsewhere }: Remembered): Create | Update {
  const change = { ...planned, lookUp: true }
  return change.kind === 'create' && wasElsewhere ? { ...change, isBack: true } : change
}

function leftToRival(create: Create): Change {
  return hold(create, 'rival', 'another program fills this chatbot, too: one of the two has to be stopped')
}

/** Makes refusals cover any content. Only the feed ends one, and a new mapping may make other content of what the feed says as before. */
function withRefusals(remembered: Remembered): Remembered {
  const holds = remembered.holds.map((held) => (held.decision === 'refused' ? { ...held, content: null } : held))
  return { ...remembered, holds }
}

/** What a plan is made from. */
export interface Known {
  past: Past
  delivery: Delivery
  listed: Listed
  mode: Mode
}

export function planSettings(feed: Feed, { past, delivery, listed, mode }: Known, lostAt: number | null): PlanSettings {
  const { name, mapping, plan } = feed
  const { now, today, timezone } = past.moment
  return {
    ...plan,
    feed: name,
    now,
    today,
    timezone,
    delivery: delivery.summary,
    keyless: delivery.keyless,
    remote: listed,
    lookUps: listed.lookUps,
    remoteStartedAt: listed.startedAt,
    mode: delivery.mode,
    agrees: delivery.agrees,
    deletes: mode !== 'backfill',
    mapping: mapping.version,
    forms: past.forms,
    outranks: (other) => outranks(feed, other),
    configured: feed.configured,
    unmarked: feed.unmarked,
    // For a day and `settle`, and until a run has succeeded: before that nothing of what was lost is known again.
    lostUntil: lostAt !== null && (past.isNew || now < lostAt + plan.settle + day) ? lostAt + plan.settle : null,
  }
}

/** Whether delivery and list are both whole. */
export const areComplete = ({ delivery, listed }: Pick<Known, 'delivery' | 'listed'>): boolean =>
  delivery.summary.complete && listed.complete

/** `arrived`: MLSNumbers of ours under which homes came when the deletes of their old ones were held. */
function policyOf(feed: Feed, known: Known, workspace: Workspace, arrived: ReadonlySet<string>): Policy {
  const { past, delivery, listed, mode } = known
  const { now, today } = past.moment
  const wanted = (action: Action) => {
    if (!('wanted' in action)) return null
    // undefined: the listing was not delivered anew, so it is not in the workspace.
    return 'delivered' in action.wanted
      ? listingAt(workspace.deliveredAt(action.wanted.delivered), now, today)
      : undefined
  }
  // Its record may not be readable.
  const hasCome = (key: string): boolean =>
    arrived.has(key) || isSaid(workspace, key, true) || (workspace.isDelivered(key) && !workspace.isReadable(key))
  const isComplete = areComplete(known)
  const { confirm, isOff } = feed.plan.limits
  return {
    now,
    confirm: isOff ? null : (confirm ?? Infinity),
    isWhole: isComplete && listed.lookUps === null,
    endsNone: !isOff && (mode === 'backfill' || !isComplete),
    healed: new Set(),
    isListedAgain: !past.otherKeys && confirm !== null,
    saysItself: (mlsNumber) => delivery.own === null || !workspace.isDelivered(mlsNumber, delivery.own),
    contentOf(action, part, record) {
      const noted = record?.content ?? null
      if (action.kind === 'delete') {
        const { becomes } = action
        // A refusal is of the home, whatever its number. If several come, nothing tells that it is another one.
        const isSame = !noted || becomes === '' || record?.decision === 'refused'
        return noted !== null && (isSame || (becomes === undefined && hasCome(noted))) ? noted : (becomes ?? '')
      }
      const listing = wanted(action)
      const broken = 'broken' in action ? action.broken : []
      const content =
        listing !== undefined
          ? contentOf(part, listing, feed.plan.volatile.fields, broken)
          : 'whole' in action && action.whole !== undefined
            ? action.whole
            : reasonOf(action)
      if (noted === null || noted === content) return content
      // Versions before 27 November 2026 noted the reason where the listing came from the snapshot.
      const isSame = noted === reasonOf(action) || contentsBefore(part, listing ?? null, content).includes(noted)
      return isSame ? noted : content
    },
  }
}

/** The sides of a plan as the run has them. */
export function inputsOf(
  { chatbot, name }: Feed,
  { store, workspace }: Pick<Readers, 'store' | 'workspace'>,
  now: number,
  isPutBack = false,
): PlanInputs {
  return {
    delivered: workspace.delivered(),
    snapshot: store.snapshot.inBrief(chatbot, name),
    rows: (keys) => store.snapshot.rowsOf(chatbot, keys),
    shown: workspace.shown(),
    history: store.history.rows(chatbot, name, now, isPutBack),
    seen: (id) => workspace.isSeen(id),
    shownAsBefore: (id) => workspace.isShownAsBefore(id),
    recall: (ids) => store.snapshot.recall(ids),
  }
}

/** Pairs of homes that the store is asked about at once. */
const pairsAtOnce = 500

/** Pairs homes. What comes under another number is compared with what was sent under the old one: a wrong price counts under any. */
async function pairHomes(
  { chatbot, name, plan }: Feed,
  { store, workspace }: Pick<Readers, 'store' | 'workspace'>,
  { now, today }: Past['moment'],
): Promise<void> {
  const { confirm } = plan.limits
  const believedSince = confirm === null ? null : passedSince(confirm, now)
  for (const pairs of batches(workspace.pairs(believedSince), () => pairsAtOnce)) {
    const gone = pairs.map((pair) => pair.gone)
    const before = await store.snapshot.confirmed(chatbot, name, gone)
    const broken = pairs.flatMap((pair) => {
      const [was, { wanted }] = [before.get(pair.gone)?.listing, pair.create]
      if (was === undefined || !('delivered' in wanted)) return []
      const kinds = factsBroken(was, listingAt(workspace.deliveredAt(wanted.delivered), now, today))
      return kinds.length > 0 ? { ...pair, broken: kinds } : []
    })
    if (broken.length > 0) workspace.noteBroken(broken)
    if (pairs.length === pairsAtOnce) await breathe()
  }
}

/** Walks delivery, snapshot and list once, writes the plan into the workspace, and adds up what the guard's rules measure. */
export async function decide(feed: Feed, { store, workspace, signal }: Readers, known: Known): Promise<Plan> {
  const { past, delivery, listed } = known
  const { now } = past.moment
  // A run without a list learns nothing of other stores.
  const stores = listed.lookUps === null ? past : { ...past, writers: new Map() }
  const others = othersIn(listed.writers, listed.startedAt, stores, now, feed.plan.settle)
  // A feed that a restored store knows nothing of may have run after the backup was made.
  const isPutBack = past.lastLostAt !== null && now < past.lastLostAt + feed.plan.settle
  const isUnknown = past.isEmpty && past.lostAt === null && (listed.marked > 0 || isPutBack)
  const isLost = isUnknown || others.isBehind || others.found.length > 0
  const lostAt = isLost ? now : past.lostAt
  const settings = planSettings(feed, known, lostAt)
  // Deltas don't say again what the lost store knew, so its listings stay unknown for good.
  const tellsOnce = lostAt !== null && delivery.mode === 'delta'
  const counts: Counts = { ...noCounts }
  const arrived = new Set<string>()
  const policy = policyOf(feed, known, workspace, arrived)
  // Homes are paired only if something leaves and something new comes.
  const moves = { leaving: 0, arriving: 0 }
  const isRestored = past.isBehind || others.isBehind
  const isTired = createBreath()
  const asDoubted = ({ change: planned, remembered: before }: Planned): Planned => {
    const remembered = past.isNewMapping ? withRefusals(before) : before
    const isNew = planned.cause === 'new' || planned.cause === 'never-sent'
    const remembering = isNew && (remembered.heldSince !== null || tellsOnce) ? doubted(planned, remembered) : planned
    const change = others.rival !== null && remembering.kind === 'create' ? leftToRival(remembering) : remembering
    const isLeaving = change.kind === 'delete' || change.kind === 'forget' || change.cause === 'grace'
    if (isLeaving || isUnwritten(change)) moves.leaving++
    else if (change.kind === 'create' || change.kind === 'hold') moves.arriving++
    return { change, remembered }
  }
  const facts = noFacts()
  const inputs = inputsOf(feed, { store, workspace }, now, isRestored)
  for await (const { asks, changes, notes, unchanged } of planChanges(inputs, settings, facts)) {
    if (asks.length > 0) throw new Error(`The plan asks for ${asks[0].key}, which was not looked up for it`)
    counts.unchanged += unchanged
    if (notes.length > 0) workspace.addBookkeeping(notes)
    if (notes.some(({ op }) => op === 'unreadable')) moves.arriving++
    const named = await namingHolders(feed, { store, workspace }, changes, now)
    if (named.length > 0) workspace.addChanges(named.map(asDoubted), settings)
    const held = named.flatMap(({ remembered }) => remembered.holds)
    const become = held.flatMap(({ part, content }) => (part === 'delete' && content) || [])
    for (const [key, { owned }] of become.length === 0 ? [] : await store.snapshot.rowsOf(feed.chatbot, become))
      if (owned) arrived.add(key)
    if (!isTired(unchanged + changes.length + notes.length)) continue
    await breathe()
    // The plan of a large office takes minutes, and a container has ten seconds.
    signal.throwIfAborted()
  }
  if (moves.arriving > 0) {
    const beside = await deletesBeside(feed, { store, workspace }, delivery.mode === 'full', now)
    moves.leaving += beside.length
    workspace.addBookkeeping(beside)
  }
  if (moves.leaving > 0 && moves.arriving > 0) await pairHomes(feed, { store, workspace }, past.moment)
  const scales = new Scales(policy, facts.counted)
  for (const stored of workspace.changes()) {
    scales.add(stored)
    if (isTired()) await breathe()
  }
  const { summary } = delivery
  summary.duplicates += facts.duplicates
  summary.listings -= facts.duplicates
  counts.reject = summary.rejects
  const isDoubtful = scales.doubts > 0 || others.isSuspect
  const unnamed = await unnamedOf(feed, { store, workspace }, delivery, policy)
  for (const holds of unnamed.standing) scales.addStanding(holds.filter(isWaiting))
  // Where the chatbot is this feed's alone, they go.
  const left = feed.plan.ownership === 'mirror' ? [] : await homesLeft(feed, { store, workspace })
  return {
    delivery,
    listed,
    settings,
    facts,
    policy,
    figures: scales.figures,
    counts,
    lostAt,
    others,
    isDoubtful,
    unnamed,
    homesLeft: left,
  }
}
