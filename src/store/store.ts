/**
 * The durable side, by role: a step is handed the roles that it needs. Each role has a reading half, and a `StoreReader`
 * is made of those: what gets nothing else, as `diff`, cannot write.
 *
 * Keys are MLSNumbers, times milliseconds since the epoch. Methods work in batches, as each may be a round trip over a
 * network. All reject with `StoreError` where the store can't be used. A write is durable once its promise is resolved.
 */
import type { RunResult } from '../core/exit.ts'
import type { Home } from '../core/home.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import type { FeedFigures } from '../core/figures.ts'
import type { Delivered, DeliverySummary, FieldName, Moving, MovingListing } from '../core/listing.ts'
import type { Counted, Decision, HeldPart, PartHeld, RuleName } from '../plan/guard/hold.ts'
import type { Stamp } from '../core/mark.ts'
import type { KeptRecord, SourceProgress } from '../core/records.ts'
import type { CallKind, History, RowInBrief, SnapshotRow } from '../plan/inputs.ts'
import type { Keyless } from '../plan/proof.ts'

export interface StoreReader {
  readonly snapshot: SnapshotReader
  readonly ledger: LedgerReader
  readonly history: HistoryReader
  readonly holds: HoldsReader
  readonly runs: RunsReader
  readonly deliveries: DeliveriesReader
  readonly records: RecordsReader
  readonly learnt: LearntReader
  readonly changes: ChangesReader
  /**
   * Whether the store is a copy of another one, was put back from a backup, or lost its end. Of a store opened for writing a
   * `Lease` finds it, and it is so until that is released.
   */
  isBehind(): Promise<boolean>
  close(): Promise<void>
}

export interface Store extends StoreReader {
  readonly snapshot: Snapshot
  readonly ledger: Ledger
  readonly history: AbsenceNotes
  readonly holds: Holds
  readonly runs: Runs
  readonly deliveries: Deliveries
  readonly records: Records
  readonly learnt: Learnt
  readonly changes: Changes
  /** Takes the right to run; rejects with a `StoreError` naming the holder where another process has it. Freed when the process dies. */
  lease(chatbot: string, now: number): Promise<Lease>
}

export interface Lease {
  /** Fencing number, larger with each lease. */
  readonly token: number
  /**
   * The store is not as this program left it (`StoreReader.isBehind`): what was done last may be lost, or another program may
   * go on with the store that this is a copy of. Every feed's `lostAt` is now, none has a last delivery to compare with
   * (`lastKey`), and the store has a new name in its stamp.
   */
  readonly isBehind: boolean
  release(): Promise<void>
}

/** The snapshot: what the service confirmed last of each listing. */
export interface SnapshotReader {
  /** Every row of the chatbot, of all its feeds, in pages sorted by key (`compareKeys`). Between two pages anything may be written. */
  rows(chatbot: string): AsyncIterable<readonly SnapshotRow[]>
  /** The same rows as far as they must be known where nothing is to be done; `feed`: whose run it is. */
  inBrief(chatbot: string, feed: string): AsyncIterable<readonly RowInBrief[]>
  /** Rows by key; without those that there are none of. */
  rowsOf(chatbot: string, keys: readonly string[]): Promise<ReadonlyMap<string, SnapshotRow>>
  /** Equal for the same listings of the feed with the same content. */
  fingerprint(chatbot: string, feed: string): Promise<string>
  /** How many listings the feed has. */
  count(chatbot: string, feed: string): Promise<number>
  /** In which chatbots a feed has listings, and how many, sorted by chatbot. */
  chatbots(feed: string): Promise<{ chatbot: string; listings: number }[]>
  /** Whether the feed has no row of any sort: no listing, no call in flight, no refusal. */
  isEmpty(chatbot: string, feed: string): Promise<boolean>
  /**
   * Every record of the feed that need not be parsed again under this mapping for this chatbot; held in memory, a few bytes
   * each. What the feed filled in another chatbot before is not known here.
   */
  knownRecords(chatbot: string, feed: string, mapping: string): Promise<KnownHashes>
  /**
   * By its hash, each item of the list that is as it was after the last write of this feed; held in memory likewise. Without
   * those that `baselines` leaves out.
   */
  knownItems(chatbot: string, feed: string): Promise<KnownHashes>
  /** By id. Rejects with `StoreError` where one is not, or no longer, of an owned row whose content is known. */
  recall(ids: readonly number[]): Promise<ReadonlyMap<number, MovingListing>>
  /** Ids of the feed's listings, by key; without those that are not its. */
  ids(chatbot: string, feed: string, keys: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** What was sent last and confirmed, by key; without those of which this feed has nothing. */
  confirmed(chatbot: string, feed: string, keys: readonly string[]): Promise<ReadonlyMap<string, MovingListing>>
  /** What Create answered for a listing of this feed; null: it is not known. */
  identifier(chatbot: string, feed: string, key: string): Promise<string | null>
  /** Baseline hashes of owned rows, by key. One without, or with a call in flight, is missing: what is shown has to be looked at then. */
  baselines(chatbot: string, keys: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** MLSNumbers of listings that are confirmed as they are, the latest first. */
  latest(chatbot: string, feed: string, most: number): Promise<string[]>
  /** Whether a listing of any feed of the chatbot that is not sold has exactly this Address. */
  hasAddress(chatbot: string, address: string): Promise<boolean>
  /** Figures of what the feed has on offer, which the texts of settings may use. */
  figures(chatbot: string, feed: string): Promise<FeedFigures>
}

export interface Snapshot extends SnapshotReader {
  confirm(chatbot: string, confirmations: readonly Confirmation[]): Promise<void>
  /** Drops rows. With `unsettledAt`, a delete in flight stays marked from that time, as an attempt may still land. */
  forget(chatbot: string, keys: readonly string[], unsettledAt: number | null): Promise<void>
  /** What Create answered is of no use any more: that listing is gone, or may be. */
  forgetIdentifier(chatbot: string, key: string): Promise<void>
  /** Notes a refusal and clears the mark, unless an earlier attempt may have had an effect (`unsettled`). */
  refuse(chatbot: string, feed: string, key: string, refusal: Refusal): Promise<void>
  touch(touches: readonly Touch[]): Promise<void>
  /** Notes how the service shows listings; nothing of those that an earlier call may still change at `now`. */
  setBaselines(chatbot: string, baselines: readonly Baseline[], now: number): Promise<void>
}

/** Hashes of a feed's snapshot, as they were when it was read. */
export interface KnownHashes {
  /** The ids of the owned rows with this hash; none where a record with it gave more listings than are left. */
  find(hash: string): readonly number[]
  /** Gives its memory back at once, where a collection may leave it until the next one is made. From then on nothing is found. */
  end(): void
}

/** Everything a confirmed write tells. `bornAt` null: this write did not make it, or it came with the first load. */
export interface Confirmation extends Pick<
  SnapshotRow,
  'key' | 'feed' | 'home' | 'bornAt' | 'movesAt' | 'suspectUntil' | 'baseline' | 'ignored'
> {
  sent: MovingListing
  content: string
  /** How the record is recognised next time; null: the row keeps what it has, as the record was not parsed. */
  record: Pick<SnapshotRow, 'raw' | 'parts'> | null
  mapping: string
  at: number
  /** It undoes what somebody did on the service. */
  isPutRight: boolean
  /** What Create answered; null: the listing was made by another call; left out: it is the one that the row stands for. */
  identifier?: string | null
}

export interface Refusal {
  content: string | null
  mapping: string
  at: number
  message: string
  unsettled?: boolean
}

/** Bookkeeping of an unchanged listing whose bytes changed. */
export interface Touch extends Pick<SnapshotRow, 'id' | 'content' | 'raw' | 'parts' | 'home' | 'movesAt'> {
  mapping: string
  moving: Moving
}

export interface Baseline extends Pick<SnapshotRow, 'key' | 'ignored'> {
  /** Of the item as shown. */
  hash: string
  /** It was shown so when the run began: nothing undid the last write. */
  isAtRest: boolean
}

/** Calls that are under way, and what was carried out lately. */
export interface LedgerReader {
  /** How many listings the feed changed within 24 hours, by what the guard counts. */
  counted(chatbot: string, feed: string, what: Counted, now: number): Promise<number>
  /** MLSNumbers deleted after `since` that no row stands for again, the latest first. */
  latest(chatbot: string, feed: string, since: number, most: number): Promise<string[]>
}

/** A call to be marked. */
export interface Begun {
  key: string
  /** What the guard counts of it for 24 hours; `left`: a delete that counts for nothing, and is noted all the same. */
  counts: readonly (Counted | 'left')[]
  /** The delete is of this copy of several: it is counted beside the key, as the listing itself stays. */
  copy?: string
}

export interface Ledger extends LedgerReader {
  /** Marks calls in flight and enters what they count as, durably, before they are sent. */
  begin(chatbot: string, feed: string, kind: CallKind, calls: readonly Begun[], now: number): Promise<void>
  /** Notes that a look-up did not show what is in flight; the first time after the call counts. */
  noteMissing(chatbot: string, key: string, now: number): Promise<void>
  /**
   * Takes the marks of calls away, and rows with them that were only a mark. `none`: the calls surely had no effect, and
   * what they entered goes, too; `as-before`: they are through, and the listings are there as they were. `copy`: as begun.
   */
  end(chatbot: string, keys: readonly string[], effect: 'none' | 'as-before', copy?: string): Promise<void>
}

/** What is remembered of a feed's listings beside their rows: absences, what was changed lately, holds. */
export interface HistoryReader {
  /** In pages sorted by key (`compareKeys`). */
  rows(chatbot: string, feed: string, now: number): AsyncIterable<readonly History[]>
  /** Whether a listing was absent from the last delivery that tells absences. */
  isAbsent(chatbot: string, feed: string, key: string): Promise<boolean>
}

/** The absences of listings from deliveries are written here; the rest by `Ledger` and `Holds`. */
export interface AbsenceNotes extends HistoryReader {
  /**
   * Counts one more absence of listings, and ends those of listings that came back. Where the delete of one of these is held and
   * stays so, as in a delivery that is not believed, its clock begins again.
   */
  noteAbsences(
    chatbot: string,
    feed: string,
    keys: { absent: readonly string[]; returned: readonly string[] },
    now: number,
  ): Promise<void>
  /** Drops the absences that were not noted at `now`: they did not go on. */
  pruneAbsences(chatbot: string, feed: string, now: number): Promise<void>
}

/** What the last runs of a feed held, and what people decided about it. */
export interface HoldsReader {
  /** Sorted by MLSNumber; without those that another feed has. `only`: of these MLSNumbers, or of the first so many. */
  held(feed: string, now: number, only?: { keys?: readonly string[]; most?: number }): Promise<Held[]>
  /** Of how many listings each rule of the guard holds something that nobody has approved; without those that hold nothing. */
  waitingByRule(feed: string, now: number): Promise<ReadonlyMap<string, number>>
  /** Of how many listings anything is held; without those that another feed has. */
  count(feed: string): Promise<number>
  /** Of how many listings a rule of the guard holds something that nobody has approved. */
  waiting(feed: string, now: number): Promise<number>
  /** Of how many listings such a part is held that goes by itself once its time has come. */
  clocks(feed: string, now: number): Promise<ReadonlyMap<HeldPart, number>>
  /** Whether this rule holds any of that. */
  isHeldBy(feed: string, rule: RuleName, now: number): Promise<boolean>
  /** Tells what can be approved now from what can be at another time. */
  fingerprint(feed: string): Promise<string>
  /** What happened to a feed's holds since then, the earliest first. */
  events(feed: string, since: number): Promise<HoldEvent[]>
}

export interface Holds extends HoldsReader {
  /**
   * Takes what a run holds for what is held. Of a whole run that is all: another content is another hold, and what is not
   * named is over; only of the MLSNumbers `of`, where they are given. One that is not whole only adds to it. Where the mapping is
   * new, a refusal is for any content until a whole run names it again; where the delivery is not believed, what was
   * refused or has a clock stays as it is.
   * `letGo`, asked last: how many holds were carried out.
   */
  replace(
    feed: string,
    held: Iterable<NewHeld>,
    run: {
      now: number
      isWhole: boolean
      isNewMapping?: boolean
      isBelieved?: boolean
      of?: ReadonlySet<string> | undefined
      letGo: () => number
    },
  ): Promise<void>
  /**
   * Decides about all that can be approved; null takes the decision back. Gives about how many listings, or null where
   * `fingerprint` is no longer that of what is held, and nothing was decided.
   */
  decide(
    feed: string,
    decision: Decision | null,
    by: string,
    now: number,
    fingerprint: string | null,
  ): Promise<number | null>
  /** Forgets the holds of what was carried out. */
  use(feed: string, mlsNumber: string, parts: readonly HeldPart[]): Promise<void>
}

/** What a run holds of an MLSNumber. */
export interface NewHeld {
  mlsNumber: string
  why: string
  /** What can be approved of it; null: it lacks a proof or a decision, and no permission mends that. */
  part: PartHeld | null
  /** Which home; left out or null: nothing is known of it. */
  home?: Home | null
  /** Only its refusal holds it: the rules that held it before stay, if there were any. */
  isRefused?: boolean
  /** It was let go and is not yet carried out, or the delivery says nothing of it: what is remembered of it stays. */
  isLetGo?: boolean
  /** Nothing of it is held: another feed of the chatbot has the listing, which is remembered until it lets go. */
  isElsewhere?: boolean
}

/** What is held of an MLSNumber. Times in milliseconds. */
export interface Held {
  mlsNumber: string
  part: HeldPart | null
  /** null: nothing is known of it, as of what a version before held. */
  home: Home | null
  why: string
  rules: readonly string[]
  since: number
  /** When the clock began after which it goes by itself; null: none runs, or a person has to end what else holds it. */
  clock: number | null
  decision: { is: Decision; by: string; at: number } | null
}

/** Something that happened to the holds of a feed. */
export interface HoldEvent {
  at: number
  what: 'held' | 'ended' | 'let go' | 'approved' | 'refused' | 'revoked'
  holds: number
  /** Who did it; null: a run. */
  by: string | null
}

/** Runs of feeds, and starts of the daemon that begins them. */
export interface RunsReader {
  /** Every feed that ever ran on this store, sorted by name. */
  feeds(): Promise<string[]>
  last(feed: string): Promise<NumberedRun | null>
  /** The latest runs, the latest first; null: of all feeds. */
  latest(feed: string | null, most: number): Promise<NumberedRun[]>
  /** A run by its number; null: it is not, or no longer, on record. */
  numbered(number: number): Promise<NumberedRun | null>
  /** What is kept of a run's report, as JSON; null: the run is too long ago, or has none. */
  report(number: number): Promise<string | null>
  /** The run of a feed that has begun and is not on record; its process may have died. */
  underWay(feed: string): Promise<RunUnderWay | null>
  /** `finishedAt` of the last run whose result was ok, held or partial; null: this store has seen none. */
  lastSuccess(feed: string): Promise<number | null>
  /** When the last run began whose delivery was complete and not doubted; null: never. */
  lastAccepted(feed: string): Promise<number | null>
  /** Of the last run after which the chatbot was asked; null: never. */
  lastVerified(feed: string): Promise<Verified | null>
  /** What people were told of the feed, as it was noted; null: nothing. */
  told(feed: string): Promise<string | null>
  /** When a lost store was noticed for this feed, or last for any (null): creates wait for `settle` from then. */
  lostAt(feed: string | null): Promise<number | null>
  /** Whether what the last runs of a feed noted has other times from its next one on (`Runs.begin`): the clock was wrong, or is. */
  hadWrongClock(feed: string, now: number): Promise<boolean>
  /** The name of this store and its run under way; the next one, where it is opened for reading only. */
  stamp(): Promise<Stamp>
  /** How many daemons started on this store one after another since the last `noteSteady`, and when the last one did. */
  starts(): Promise<{ times: number; at: number }>
}

export interface Runs extends RunsReader {
  /**
   * Notes that a run of this process begins; gives its number. What a wrong clock noted counts as of then: what is later, and
   * what was noted under a clock that was behind.
   */
  begin(run: Pick<RunRecord, 'feed' | 'chatbot' | 'command' | 'startedAt'>): Promise<number>
  /** Notes how far the feed's run under way is. */
  noteProgress(feed: string, progress: string, now: number): Promise<void>
  /** `report`: what is kept of its report, as JSON; of each feed the last ones are kept. */
  record(run: RunRecord & { report?: string }): Promise<void>
  /** Adds to the feed's run that began then; nothing where that is not on record. */
  recordVerified(feed: string, startedAt: number, verified: Omit<Verified, 'at'>): Promise<void>
  recordLost(feed: string, at: number): Promise<void>
  /** Takes a text in place of `told`. */
  noteTold(feed: string, told: string): Promise<void>
  /** Gives the store a new name: what its old one wrote is another store's from now on. */
  renew(): Promise<Stamp>
  /** Notes that a daemon starts. Gives how many did before it that neither stayed up nor ended in order. */
  noteStart(now: number): Promise<number>
  /** A daemon stayed up or ends in order: the starts so far count no more. */
  noteSteady(): Promise<void>
}

/** What is remembered of a finished run. */
export interface RunRecord {
  feed: string
  chatbot: string
  command: 'sync' | 'backfill'
  startedAt: number
  finishedAt: number
  result: RunResult
  /** Stopped by a signal before it was through. */
  interrupted: boolean
  error: string | null
  /** JSON of counts, outcomes and calls, for `status`. */
  figures: string
}

/** What a rule of the guard found in a run, as its figures have it (`holds`). */
export interface Finding {
  rule: RuleName
  /** What, of how many, against which number. */
  found: string
  /** The same, with what happened next as it was known then. */
  sentence: string
}

/** Numbers grow with each run of the store, whichever the feed. */
export interface NumberedRun extends RunRecord {
  number: number
}

/** A run that has begun. */
export interface RunUnderWay extends Pick<RunRecord, 'feed' | 'chatbot' | 'command' | 'startedAt'> {
  number: number
  /** When something was last heard of it. */
  seenAt: number
  process: number
  host: string
  /** In words; null: nothing yet. */
  progress: string | null
}

/** What the chatbot said of a run's listings, in numbers; `at`: when that run ended. */
export interface Verified {
  asked: number
  agreed: number
  disagreed: number
  unanswered: number
  tokens: number
  at: number
}

/** What the next delivery of a feed is compared with, and asked for by. */
export interface DeliveriesReader {
  last(feed: string): Promise<LastDelivery>
  /** What deltas brought and no run has carried out, in pages sorted by key (`compareKeys`). */
  pending(feed: string): AsyncIterable<readonly Pending[]>
  /** The same of these MLSNumbers, by key. */
  pendingOf(feed: string, keys: readonly string[]): Promise<ReadonlyMap<string, Pending>>
}

/** What a delta says of one MLSNumber, and is still to be done. */
export interface Pending {
  key: string
  /** As its records were mapped then; none of them a reject. */
  delivered: readonly Delivered[]
  /** When it was said, in milliseconds: as its delivery was written or, where that is not told, came. */
  at: number
}

export interface Deliveries extends DeliveriesReader {
  /** Of what is left out the store keeps what it has. */
  record(feed: string, last: Partial<LastDelivery>): Promise<void>
  /** Notes what is to be done, in place of what was pending of the same MLSNumbers. */
  notePending(feed: string, pending: readonly Pending[], now: number): Promise<void>
  /** Drops what was not noted at `now`: nothing is to be done any more. */
  prunePending(feed: string, now: number): Promise<void>
  /** Drops what was carried out. */
  endPending(feed: string, keys: readonly string[]): Promise<void>
}

/** What is known of the deliveries of a feed before this one. Times in milliseconds. */
export interface LastDelivery {
  /** When a delivery was first carried over whole, and to which chatbot; null: none was, and the next one is the first load. */
  loaded: { chatbot: string; at: number } | null
  /** When the last complete one came of which a run came to its end. */
  completeAt: number | null
  /** When the last one that was carried out says that it was written; `source`: a fingerprint of where it is from. */
  written: { by: 'document' | 'server'; at: number; source: string } | null
  /** The version of the mapping that it was read by. */
  mapping: string | null
  /** Its records without a readable MLSNumber. */
  keyless: readonly Keyless[]
  /**
   * The MLSNumber of the last record of the delivery whose absences were noted last; '': it held none; null: it had an end mark,
   * or there was none.
   */
  lastKey: string | null
  /** Of the last one that left nothing to do: what the source can be asked by whether it has changed; null: there is none. */
  validators: SavedValidators | null
}

/** HTTP validators, with what the delivery came to. */
export interface SavedValidators {
  etag?: string
  lastModified?: string
  /** All that "not modified" rests on, as one value: under another one it says nothing. */
  basis: string
  summary: DeliverySummary
}

/** What is kept of live sources: their records as they were received last, and how far each was read. */
export interface RecordsReader {
  /** How far the source of a feed was read; null: it never was. */
  progress(feed: string): Promise<SourceProgress | null>
  /** The timestamps of those that are kept, by key. */
  stamps(feed: string, keys: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** In pages sorted by key. */
  rows(feed: string): AsyncIterable<readonly KeptRecord[]>
}

/** Every method writes what it is given and the progress at once, or nothing. */
export interface Records extends RecordsReader {
  /** Forgets all records of the feed. */
  begin(feed: string, progress: SourceProgress): Promise<void>
  keep(feed: string, records: readonly KeptRecord[], progress: SourceProgress): Promise<void>
  drop(feed: string, keys: readonly string[], progress: SourceProgress): Promise<void>
}

/** What was learnt about the service, and applied to its chatbots. */
export interface LearntReader {
  /** A number by its name, such as `deleteBatch`; null: it is not known. */
  number(chatbot: string, name: string): Promise<number | null>
  /** The keys that the feed's last run called the chatbot with whose list was like ours, as a number; null: they are not known. */
  keys(chatbot: string, feed: string): Promise<number | null>
  /** Other stores that wrote listings of this feed, by their names. */
  writers(chatbot: string, feed: string): Promise<ReadonlyMap<string, Writer>>
  /** Fields that the service shows in a form of its own, as far as it was reported of this feed. */
  forms(feed: string): Promise<FieldName[]>
  /** The chatbot settings that were applied last, by name; what may be otherwise on the service is not among them. */
  settings(chatbot: string): Promise<ReadonlyMap<string, SettingValue>>
  /** The latest calls that changed settings, at most 100, the latest first. */
  settingsHistory(chatbot: string): Promise<AppliedSettings[]>
}

/** `from` null: not applied before, or not known. */
export interface SettingChange {
  name: string
  from: SettingValue | null
  to: SettingValue
}

/** The settings that one call changed. */
export interface AppliedSettings {
  /** Counted over all chatbots. */
  number: number
  /** Milliseconds since the epoch. */
  at: number
  changes: SettingChange[]
}

export interface Learnt extends LearntReader {
  setNumber(chatbot: string, name: string, value: number): Promise<void>
  setKeys(chatbot: string, feed: string, keys: number): Promise<void>
  setWriters(chatbot: string, feed: string, writers: ReadonlyMap<string, Writer>): Promise<void>
  addForms(feed: string, fields: readonly FieldName[]): Promise<void>
  /** Settings that the service has confirmed. */
  setSettings(chatbot: string, settings: ReadonlyMap<string, SettingValue>, now: number): Promise<void>
  /** The same, and notes the call in the history. */
  applySettings(chatbot: string, changes: readonly SettingChange[], now: number): Promise<void>
  /** Settings that may be otherwise on the service from now on: they are sent again. */
  forgetSettings(chatbot: string, names: readonly string[]): Promise<void>
}

/** What was done about each home in the last 90 days. */
export interface ChangesReader {
  /** Of all feeds, the latest first. */
  of(mlsNumber: string, most: number): Promise<HomeEvent[]>
  /** MLSNumbers of homes whose address or city has these words in it, among those that changed lately, the latest first. */
  find(words: string, most: number): Promise<string[]>
}

export interface Changes extends ChangesReader {
  note(feed: string, events: readonly Done[]): Promise<void>
}

/** A change that was carried out, or was to be. */
export interface Done {
  mlsNumber: string
  /** In milliseconds. */
  at: number
  what: 'create' | 'update' | 'delete' | 'adopt' | 'forget'
  result: 'done' | 'failed' | 'unknown' | 'skipped'
  /** A sentence. */
  why: string
  error: string | null
  /** null: nothing is known of it. */
  home: Home | null
  /** Of an update; a field whose values are too long to keep has neither. */
  fields: readonly FieldChange[]
}

/** Something that happened to a home: of what is held there is no result, and `by` says who decided. */
export interface HomeEvent extends Omit<Done, 'what' | 'result'> {
  feed: string
  what: Done['what'] | 'held' | 'ended' | Decision | 'revoked'
  result: Done['result'] | null
  by: string | null
}

/** Another store, as far as marks on the service tell of it. Times in milliseconds. */
export interface Writer {
  /** Its latest run. */
  run: number
  /** When a mark of it was first seen. */
  since: number
  /** When the last list began that was looked at for marks of it. */
  lookedAt: number
  /** When a later mark was first seen than in the lists before; null: none was. */
  roseAt: number | null
  /** When a mark was last seen that a program still at work had changed; null: none was. */
  wroteAt: number | null
}

/** The value of one chatbot setting. */
export type SettingValue = string | number | boolean
