import { createHash } from 'node:crypto'
import { callsToLookAgain } from '../apply/context.ts'
import type { Orders } from '../apply/context.ts'
import { freshFor } from '../apply/look-again.ts'
import { breathe, createBreath } from '../core/breath.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import type { FieldName } from '../core/listing.ts'
import { andMore, many } from '../core/text.ts'
import { reasonOf } from '../plan/change.ts'
import type { Action, ActionKind, Counts } from '../plan/change.ts'
import { judge, waitOf } from '../plan/guard/guard.ts'
import type { Beside, Verdict } from '../plan/guard/guard.ts'
import { askingRules, isPartOf } from '../plan/guard/hold.ts'
import type { Ends, HeldPart, RuleName } from '../plan/guard/hold.ts'
import { tripsOf } from '../plan/guard/rules.ts'
import type { Policy } from '../plan/guard/scales.ts'
import type { Seen, Trip } from '../plan/guard/rules.ts'
import { countsInWords, createsWait, holdsWait, letGoSentence, sentenceOf, total } from './hold-sentences.ts'
import type { About, LetGoVerb } from './hold-sentences.ts'
import type { HeldInBrief } from '../report/report.ts'
import type { Finding } from '../store/store.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Listed } from './observe.ts'
import { areComplete } from './plan.ts'
import type { Plan } from './plan.ts'
import { saidBefore } from './put-back.ts'
import type { Past } from './recall.ts'
import { isSaidOnce } from './files.ts'
import type { Delivery } from './delivery.ts'
import { isStill } from './named.ts'
import type { Feed, Readers } from './tools.ts'

/** An accident that holds something, with what a person is told of it. */
interface Accident extends Finding {
  trip: Trip
}

/** The plan as it will be carried out, in figures. In the workspace the accidents have become holds. */
export interface Guarded extends Orders {
  /** The accidents that hold something, in the order of the rules. */
  accidents: readonly Accident[]
  /** Changes that the guard holds, wholly or in part. */
  held: number
  /** The same, and what else can be approved, as the first line of a report tells it. */
  inBrief: HeldInBrief
  /** What somebody has to put right: holds that wait for it, 1 for an incomplete delivery or list or for deltas that are not read, 1 for another program. */
  conflicts: number
  /** The delivery is whole, and no rule holds all of it. */
  isAccepted: boolean
  /** It is older than the last one, even if nothing of it is held. */
  isOlder: boolean
  /** Accepted, and not older. If not, what is refused or has a clock stays held. */
  isBelieved: boolean
  /** The plan tells whether earlier holds still stand; that of a delta tells it only of what it names. */
  isWhole: boolean
  /** What is absent from this delivery is surely gone. */
  absenceProven: boolean
  estimate: { calls: number; seconds: number }
  /** Equal digests are equal plans. */
  digest: string
  /** What a person should know, as sentences. */
  notes: string[]
  /** Of what was held before and goes now, as sentences. */
  letGo: (verb: LetGoVerb) => string[]
  listed: Listed
}

/** Milliseconds without a complete delivery after which twice as much may change, as more has happened meanwhile. */
const rareAfter = 60 * 3_600_000

/** Turns what the tripped rules are about into holds in the workspace, and counts the plan as it stands then. */
export async function guard(feed: Feed, { workspace, runtime }: Readers, past: Past, plan: Plan): Promise<Guarded> {
  const { delivery, listed, settings, others, isDoubtful } = plan
  const { summary } = delivery
  const { limits } = feed.plan
  const saysOnce = isSaidOnce(feed, delivery.mode)
  // After the loss of a store it is no first load, however long ago that was, if the chatbot shows what the lost store had loaded.
  const wasLoaded = plan.lostAt !== null && past.last.loaded === null && plan.facts.ours > 0
  const isAfterLoss = settings.lostUntil !== null || wasLoaded
  const isFirstLoad = past.isFirstLoad && !isAfterLoss
  const seen = seenIn(feed, past, plan, isFirstLoad)
  const outdated = saidBefore(delivery, others.lacksRuns, plan.policy)
  const found = limits.isOff ? [] : [...tripsOf(seen, limits), ...(outdated === null ? [] : [outdated])]
  const policy = {
    ...plan.policy,
    healed: found.length === 0 ? await healedOf(workspace, past, plan) : new Set<HeldPart>(),
  }
  const { holding, refused, kept, letGo } = await holdBack(workspace, found, policy, saysOnce)
  const about: About = { feed: feed.name, timezone: feed.timezone, confirm: limits.confirm, now: past.moment.now }
  const isIncomplete = !areComplete(plan)
  const isWhole = settings.deletes && !isIncomplete
  const asksOfAll = ({ name, isOfEarlier }: Trip): boolean => askingRules.has(name) && isOfEarlier !== true
  const isAccepted = summary.complete && ![...holding.keys()].some(asksOfAll)
  const isOlder = found.some(({ name, isOfEarlier }) => name === 'older' && isOfEarlier !== true)
  const isBelieved = isAccepted && !isOlder
  const unclear = new Set(plan.unnamed.unclear.map(({ mlsNumber }) => mlsNumber))
  const stays = (mlsNumber: string): boolean => !isWhole || unclear.has(mlsNumber)
  const { counts, lookUps, elsewhere, ...counted } = await count(workspace, feed, plan, { isWhole, isBelieved }, stays)
  const nameless = counted.nameless + plan.unnamed.nameless
  const notes = [
    ...(feed.notes ?? []),
    ...delivery.notes,
    ...incomplete(summary, listed),
    ...notesOf(counted, counts, past, plan, feed),
  ]
  for (const [why, { listings, examples }] of elsewhere) notes.push(elsewhereSentence(why, listings, examples))
  notes.push(...plan.homesLeft)
  // A new mapping is the likeliest cause, but not of what was held before, nor of what earlier deltas said, which another one read,
  // nor of what is on the chatbot.
  const cause = past.isNewMapping ? 'The mapping changed since the last run: ' : ''
  const accidents = Array.from(holding, ([trip, held]): Accident => {
    const because = held.hasNew && trip.isOfEarlier !== true && trip.name !== 'chatbot' ? cause : ''
    const [found, sentence] = [because + trip.sentence, because + sentenceOf(trip, held, about)]
    return { trip, rule: trip.name, fact: trip.fact, found, sentence }
  })
  notes.push(...accidents.map(({ sentence }) => sentence))
  if (total(refused) > 0)
    notes.push(`Still held, as refused: ${countsInWords(refused)}; now: listing-sync approve ${feed.name}`)
  if (nameless > 0) notes.push(namelessSentence(nameless, feed.name))
  // If this run is not whole, all earlier holds still stand, but for those that it let go; if it is not believed, most of them do.
  const gone = Array.from(letGo.values(), ({ counts }) => total(counts)).reduce((sum, some) => sum + some, 0)
  const surviving = isBelieved ? 0 : past.surviving.listings - counted.survivors
  const stillHeld = isWhole ? Math.max(plan.unnamed.waiting, surviving) : Math.max(0, past.waiting - gone)
  // What this run's own rules hold their sentences tell; the note is for what is held beside that.
  const hasUntold = stillHeld > (isWhole ? 0 : counted.held - kept)
  if (limits.isOff)
    notes.push(`limits: off, so the guard holds nothing${hasUntold || total(refused) > 0 ? ' new' : ''}`)
  if (hasUntold)
    notes.push(
      `${stillHeld} held by earlier runs ${stillHeld === 1 ? 'stays' : 'stay'} held, as this run can't tell whether ${stillHeld === 1 ? 'it is' : 'they are'} over; now: listing-sync approve ${feed.name}`,
    )
  const { waitingForOther } = counted
  if (waitingForOther > 0) {
    const [go, other] = waitingForOther === 1 ? ['goes', 'MLSNumber of its home'] : ['go', 'MLSNumbers of their homes']
    notes.push(`${waitingForOther} held before ${go} together with the other ${other}, which can't change yet`)
  }
  const { resting } = plan.unnamed
  if (isWhole && resting > 0) notes.push(restingSentence(resting, feed))
  const { held, heldInPart, own, stillNameless, digest } = counted
  // What `approve` shows: earlier holds that stand, and of this run what is not among them.
  const approvable = stillHeld + own + nameless + stillNameless
  const isClockLeft = past.surviving.timed > 0 && stillHeld > 0
  const goes = isClockLeft || waitingForOther > 0 || [...holding.values()].some(({ clock }) => clock !== null)
  return {
    held: isWhole ? own + stillHeld : Math.max(held, stillHeld),
    inBrief: {
      whole: approvable - heldInPart,
      inPart: heldInPart,
      goes: isWhole || stillHeld === 0 ? goes && limits.confirm !== null : null,
      others: counted.others,
    },
    letGo: (verb) =>
      [...letGo].map(([ends, { counts: gone, since }]) => letGoSentence(gone, since, ends, verb, about, saysOnce)),
    conflicts:
      counted.conflicts +
      plan.unnamed.nameless +
      (isIncomplete || delivery.passedBy > 0 ? 1 : 0) +
      (others.rival === null ? 0 : 1),
    counts,
    digest,
    accidents,
    isAccepted,
    isOlder,
    isBelieved,
    isWhole,
    // Without the list, absences of listings that only their mark makes ours are not noted again.
    absenceProven: isWhole && settings.mode === 'full' && listed.lookUps === null,
    estimate: estimated(feed, past, counts, lookUps, listed, runtime.clock.now()),
    notes,
    today: past.moment.today,
    lookUpCreates: isDoubtful,
    createsNothing: others.rival !== null,
    takesOffCopies: settings.deletes,
    isFirstLoad,
    saysOnce,
    forms: past.forms,
    listed,
    deleteBatch: past.deleteBatch,
  }
}

/** The numbers that the rules ask for. */
function seenIn(feed: Feed, past: Past, { delivery, facts, policy, figures }: Plan, isFirstLoad: boolean): Seen {
  const { last, moment, otherKeys, waitingByRule } = past
  const { summary } = delivery
  return {
    ...figures,
    ours: facts.ours,
    isRare: last.completeAt !== null && moment.now - last.completeAt > rareAfter,
    isFirstLoad,
    isMirror: feed.plan.ownership === 'mirror',
    isEmpty: summary.complete && summary.records === 0,
    older: delivery.older,
    saysItself: policy.saysItself,
    wasOlder: waitingByRule.has('older' satisfies RuleName),
    wasUnrecognisable: waitingByRule.has('unrecognisable' satisfies RuleName),
    strange: facts.strange,
    otherKeys,
  }
}

/** Why nothing is deleted for being absent, where a side is not whole. */
function* incomplete(delivery: Delivery['summary'], listed: Listed): Generator<string> {
  const why = ({ reasons }: { reasons: readonly string[] }): string => reasons.join('; ')
  if (!delivery.complete) yield `the delivery is incomplete (${why(delivery)}): nothing is deleted because it is absent`
  if (!listed.complete)
    yield `the service's list is incomplete (${why(listed)}): nothing is deleted because it is absent, and each create is looked up first`
}

type Held = Record<ActionKind, number>

const noneHeld = (): Held => ({ create: 0, delete: 0, update: 0, adopt: 0, forget: 0 })

/**
 * The parts in which the feed is right again: of nearly all listings of which such a part is held this delivery says otherwise.
 * What is left of them is as good as any other change. A listing that leaves, or that would still change beyond belief, in
 * whatever way, is not put right. With `confirm: never` a person decides about all that was held.
 */
async function healedOf(workspace: Workspace, past: Past, { policy, unnamed, delivery }: Plan): Promise<Set<HeldPart>> {
  const isTimed = !policy.endsNone && Number.isFinite(policy.confirm)
  const clocks = isTimed && delivery.mode === 'full' ? [...past.clocks] : []
  const still = new Map<HeldPart, number>()
  if (clocks.length > 0)
    await workspace.turn('remembered', (action, { remembered }) => {
      const isGone = action.kind === 'delete' || action.kind === 'forget'
      for (const { part } of remembered.holds)
        if (isStill(action, part) || (isGone && part.startsWith('update'))) still.set(part, (still.get(part) ?? 0) + 1)
      return null
    })
  const isFew = (left: number, held: number): boolean => left * 4 <= held || (left <= 2 && left * 2 <= held)
  return new Set(clocks.flatMap(([part, held]) => (isFew((still.get(part) ?? 0) + unnamed.waiting, held) ? part : [])))
}

/** Makes the holds, and counts what each accident holds, in the order of the rules. */
async function holdBack(workspace: Workspace, found: readonly Trip[], policy: Policy, saysOnce: boolean) {
  const noHolding = () => ({
    counts: noneHeld(),
    clock: null as number | null,
    last: 0,
    refused: 0,
    asking: 0,
    absent: 0,
    /** Some of it was not held before. */
    hasNew: false,
  })
  /** By accident, or by part where it is held until its time has come, though no rule asks for it any more. */
  const held = new Map<Trip | HeldPart, ReturnType<typeof noHolding>>(found.map((trip) => [trip, noHolding()]))
  /** Held without a rule: as it was refused, or as this run ends no hold. */
  const refused = noneHeld()
  let kept = 0
  const letGo = new Map<Ends, { counts: Held; since: number }>()
  const count = ({ kind, cause }: Action, verdict: Verdict): Verdict => {
    const { change, weighed, heldBy } = verdict
    for (const { trip, part, wait, isNew } of heldBy) {
      const isRefused = wait === 'whoever refused it'
      if (trip === null && isRefused) continue
      const holding = held.get(trip ?? part) ?? noHolding()
      held.set(trip ?? part, holding)
      holding.hasNew ||= isNew
      // A create that goes on without what is held of it counts like an update.
      holding.counts[change.kind === 'hold' ? kind : 'update']++
      if (kind === 'delete' && cause === 'absent' && saysOnce) holding.absent++
      if (isRefused) holding.refused++
      else if (wait === 'a person') holding.asking++
      else if (wait !== 'other number') {
        holding.clock = Math.min(holding.clock ?? wait, wait)
        holding.last = Math.max(holding.last, wait)
      }
    }
    if (heldBy.some(({ trip, wait }) => trip === null && wait === 'whoever refused it')) refused[kind]++
    if (policy.endsNone && heldBy.length === 0 && weighed.heldParts.length > 0) kept++
    const [first] = verdict.letGo
    if (first !== undefined) {
      const byFeed = first.record.ends === 'listed again' ? 'listed again' : 'confirmed'
      // Of a hold that only asked, and so has no clock, nobody knows that the feed said it each night: deltas don't. Nor did the
      // feed say for long enough what goes at once since its home is there twice (`heldOf` in record.ts).
      const { clock, since } = first.record
      const ends = first.is === 'confirmed' && clock !== null && clock >= since ? byFeed : 'never'
      const gone = letGo.get(ends) ?? { counts: noneHeld(), since: Infinity }
      gone.counts[kind]++
      gone.since = Math.min(gone.since, ...verdict.letGo.map(({ record }) => record.since))
      letGo.set(ends, gone)
    }
    return verdict
  }
  // Both halves of a renumbered home go, or none. So halves that nothing holds are judged again once all others are.
  const waitsForOther = ({ pair }: Beside, verdict: Verdict): boolean => pair !== null && verdict.change.kind !== 'hold'
  await workspace.turn(found.length > 0 ? 'all' : 'remembered', (action, beside) => {
    const verdict = judge(action, beside, found, policy)
    return verdict === null || waitsForOther(beside, verdict) ? null : count(action, verdict)
  })
  await workspace.turn('paired', (action, beside) => {
    const verdict = judge(action, beside, found, policy)
    return verdict && count(action, verdict)
  })
  const holding = [...held].flatMap(([of, holding]): [Trip, typeof holding][] => {
    const listings = total(holding.counts)
    return listings === 0 ? [] : [[typeof of === 'string' ? waitOf(of, listings) : of, holding]]
  })
  return { holding: new Map(holding), refused, kept, letGo }
}

/** MLSNumbers of which an accident holds something. */
export function* keysHeldBy(trip: Trip, workspace: Workspace): Generator<string> {
  for (const { change, weighed } of workspace.changes()) {
    const isHeld = weighed.heldParts.some(({ part, rules }) => rules.includes(trip.name) && isPartOf(part, trip.fact))
    // One rule may find two accidents, which their labels tell apart.
    if (isHeld && change.why.includes(trip.label)) yield change.mlsNumber
  }
}

/** What the plan comes to with its holds. */
const noFigures = () => ({
  lookUps: 0,
  /** Changes that the guard holds; of them, those that go on in part, and those that are not among the earlier holds that stay. */
  held: 0,
  heldInPart: 0,
  own: 0,
  /** Listings of which an earlier hold would survive a delivery that is not believed, and that this run holds or lets go itself. */
  survivors: 0,
  conflicts: 0,
  /** Updates that go out because the mapping changed. */
  mapped: 0,
  /** Updates that change only what stands behind the `?` in addresses of photos. */
  signed: 0,
  /** Deletes that wait for a record without MLSNumber: as of this run, and as of an earlier one. */
  nameless: 0,
  stillNameless: 0,
  /** New listings that are held, for whatever reason; of them, those that this delivery itself has. */
  heldNew: 0,
  heldOwn: 0,
  /** What waits for something else than an approval; what the guard let go of, and waits for the other number of its home. */
  others: 0,
  waitingForOther: 0,
  /** Listings that another feed has, by the sentence that says so. */
  elsewhere: new Map<string, { listings: number; examples: string[] }>(),
})

/**
 * Counts the plan with its holds. `stays`: whether earlier holds of an MLSNumber stay, unless this run holds it itself; those of all do
 * if it is not whole.
 */
async function count(
  workspace: Workspace,
  { plan: { volatile } }: Feed,
  { counts: planned, isDoubtful, policy: { saysItself } }: Plan,
  { isWhole, isBelieved }: Pick<Guarded, 'isWhole' | 'isBelieved'>,
  stays: (mlsNumber: string) => boolean,
) {
  const counts = { ...planned }
  const figures = noFigures()
  const digest = createHash('sha256')
  const isTired = createBreath()
  for (const { change, weighed, remembered } of workspace.changes()) {
    if (isTired()) await breathe()
    counts[change.kind]++
    const holds = remembered.holds.filter(({ decision }) => decision !== 'approved')
    const wasHeld = holds.some(({ isOfRule }) => isOfRule)
    const isSent = change.kind === 'create' || change.kind === 'update'
    if (isSent && (change.lookUp || (isDoubtful && change.kind === 'create'))) figures.lookUps++
    // An Update that finds nothing, and another look-up.
    if (change.kind === 'create' && change.cause === 'gone-from-service') figures.lookUps += 2
    // The guard let go of it, and it waits for the other number of its home: its hold stays on record.
    const isLetGo = change.cause === 'other-number' && wasHeld && weighed.released.length > 0
    if (isLetGo) figures.waitingForOther++
    const isHeld = isLetGo || (change.kind === 'hold' ? change.cause === 'guard' : weighed.heldParts.length > 0)
    if (isHeld) figures.held++
    if (isHeld && (isWhole ? !stays(change.mlsNumber) : !wasHeld)) figures.own++
    const survives = holds.some(({ isOfRule, clock, decision }) => isOfRule && (clock !== null || decision !== null))
    if (survives && (isHeld ? !stays(change.mlsNumber) : weighed.released.length > 0)) figures.survivors++
    if (isHeld && change.kind !== 'hold') figures.heldInPart++
    if (change.kind === 'update' && change.cause === 'mapping') figures.mapped++
    if (change.kind === 'update' && isSignature(change.fields, volatile.fields)) figures.signed++
    if (change.kind === 'hold' && change.isConflict) figures.conflicts++
    if (change.kind === 'hold' && change.held === 'create') {
      figures.heldNew++
      if (saysItself(change.mlsNumber)) figures.heldOwn++
    }
    if (change.kind === 'hold' && change.cause === 'unreadable') figures.nameless++
    else if (change.kind === 'hold' && !isHeld && change.cause !== 'other-feed') {
      const isLeft = stays(change.mlsNumber) || (survives && !isBelieved)
      if (isLeft && !wasHeld && holds.some(({ part }) => part === 'delete')) figures.stillNameless++
      else if (!isLeft || !wasHeld) figures.others++
    }
    if (change.kind === 'hold' && change.cause === 'other-feed') {
      const those = figures.elsewhere.get(change.why) ?? { listings: 0, examples: [] }
      figures.elsewhere.set(change.why, those)
      if (those.listings++ < examplesShown) those.examples.push(change.mlsNumber)
    }
    digest.update(`${change.kind} ${change.mlsNumber} ${reasonOf(change)}\n`)
  }
  return { ...figures, counts, digest: digest.digest('hex').slice(0, 32) }
}

function namelessSentence(deletes: number, feed: string): string {
  const wait = deletes === 1 ? '1 delete waits' : `${deletes} deletes wait`
  const which = deletes === 1 ? 'this listing' : 'one of these listings'
  return `${wait}, as a record without MLSNumber may be ${which}: give the record its number in the feed; or, if ${deletes === 1 ? 'it is' : 'all are'} gone, now: listing-sync approve ${feed}`
}

function restingSentence(listings: number, { name, mapping }: Feed): string {
  const wait = listings === 1 ? '1 listing waits' : `${listings} listings wait`
  // With that setting a file that says itself that it is a change would be taken for the whole feed.
  const how =
    mapping.deliveryOf === undefined
      ? 'give the whole feed once with delivery: full'
      : 'the next whole transfer will do'
  return `${wait} for a full delivery, or for one that names ${listings === 1 ? 'it' : 'them'}, as a delta says nothing of what is not in it: ${how}; listing-sync status ${name} says why`
}

const examplesShown = 3

function elsewhereSentence(why: string, listings: number, examples: readonly string[]): string {
  return `${listings === 1 ? '1 listing is' : `${listings} listings are`} ${why}: ${andMore(examples, listings)}`
}

function estimated(
  { rate }: Feed,
  { deleteBatch }: Past,
  counts: Counts,
  lookUps: number,
  listed: Listed,
  now: number,
): Guarded['estimate'] {
  const before = counts.create + counts.update + lookUps
  const age = now - listed.startedAt + (before / rate) * 1000
  const pages = listed.complete ? listed.pages : Infinity
  const looksAgain = age > freshFor || !listed.complete ? callsToLookAgain(counts.delete, pages) : 0
  const looksAfter = callsToLookAgain(counts.create + counts.update, listed.pages)
  const calls = before + looksAgain + Math.ceil(counts.delete / deleteBatch) + looksAfter
  return { calls, seconds: Math.ceil(calls / rate) }
}

function* storeNotes(past: Past, { lostAt, others, listed }: Plan, feed: Feed): Generator<string> {
  const wait = createsWait(feed.plan.settle)
  if (others.rival !== null)
    yield `Another program fills this chatbot: its store (${others.rival}) goes on writing listings of this feed. Nothing is created until it has written nothing for a day. Stop one of the two`
  // `record.ts` has told that already.
  if (past.isBehind) return
  if (others.isBehind)
    yield `The service shows listings that a later state of this store wrote: it was put back from a backup. ${wait}, ${holdsWait}`
  else if (past.isEmpty && lostAt !== past.lostAt && listed.marked === 0)
    yield `The store was lost or put back a moment ago, and knows nothing of this feed. ${wait}`
  else if (past.isEmpty && lostAt !== past.lostAt)
    yield `The store is empty, but the service shows ${many(listed.marked, 'listing')} of this feed: ${listed.marked === 1 ? 'it is' : 'they are'} adopted. ${wait}`
  else if (others.found.length > 0)
    yield `Listings of this feed were written by another store (${others.found.join(', ')}): one that was lost, or that of another program. ${wait}`
}

/** Fewer may be photos that were made anew. */
const leastSigned = 3

/** Whether nothing but signatures in the addresses of photos changes, and fields that move by themselves, of which photos are none yet. */
function isSignature(fields: readonly FieldChange[], volatile: ReadonlySet<FieldName>): boolean {
  const bare = (images: unknown) =>
    Array.isArray(images) && images.map((image) => String(image).split('?', 1)[0]).join('\n')
  const [images, ...others] = fields.filter(({ field }) => field === 'Images' || !volatile.has(field))
  const isOnly = images?.field === 'Images' && others.length === 0 && !volatile.has('Images')
  return isOnly && bare(images.from) === bare(images.to)
}

function* notesOf(
  { mapped, signed, heldNew, heldOwn }: Record<'mapped' | 'signed' | 'heldNew' | 'heldOwn', number>,
  counts: Counts,
  past: Past,
  plan: Plan,
  feed: Feed,
): Generator<string> {
  const { facts, delivery, settings } = plan
  // Another preset may have made deltas of what was a full feed.
  const named = counts.unchanged + counts.update + counts.adopt + counts.delete + counts.hold - heldNew + counts.reject
  // Some of ours left within a day.
  const there = facts.ours - facts.counted.delete
  // That is said on, while it names none of ours and many others are held as new.
  const isOther = past.isNewMapping ? there > named : named === 0 && there > 2 && heldOwn * 2 >= there
  if (isOther && delivery.mode === 'delta' && settings.deletes) {
    const because = past.isNewMapping ? 'the mapping changed, and ' : ''
    const [are, stay, they] = there - named === 1 ? ['is', 'stays', 'it is'] : ['are', 'stay', 'they are']
    yield `${because}at least ${there - named} of ${many(there, 'listing')} ${are} not in this delivery: as it is a delta, ${they} not gone and ${stay} on the site; if it is the whole inventory, say delivery: full`
  }
  // Or so many updates would look like an accident. Those left for later runs tell their reason themselves.
  if (mapped > 0 && past.isNewMapping) {
    const calls = mapped === 1 ? '1 update, 1 call' : `${mapped} updates, as many calls`
    const minutes = Math.round(mapped / feed.rate / 60)
    const time = mapped / feed.rate < 60 ? 'less than a minute' : `about ${many(minutes, 'minute')}`
    yield `the mapping changed: ${calls}, ${time} at ${feed.rate} a second`
  }
  if (signed >= leastSigned && signed * 2 >= facts.ours)
    yield `${signed} updates change only what stands behind the ? in the addresses of photos; if each delivery does so, spare them with volatile: { fields: [${[...feed.plan.volatile.fields, 'Images'].join(', ')}] }`
  if (facts.driftKept > 0) {
    const [were, stay] =
      facts.driftKept === 1
        ? ['listing was', 'stays so until the feed changes it']
        : ['listings were', 'stay so until the feed changes them']
    yield `${facts.driftKept} ${were} edited on the service and ${stay} (drift: keep)`
  }
  yield* storeNotes(past, plan, feed)
}
