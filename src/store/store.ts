/**
 * The durable side, by role: a step is handed the roles that it needs. Each role has a reading half. A `StoreReader` has only
 * those, so that `diff`, which gets one, cannot write.
 *
 * Keys are MLSNumbers, times milliseconds since the epoch. Methods work in batches, as each may be a round trip over a
 * network. All reject with `StoreError` if the store can't be used. A write is durable once its promise is resolved.
 */
import type { RunResult } from '../core/exit.ts'
import type { Home } from '../core/home.ts'
import type { FieldChange } from '../core/compare-listings.ts'
import type { FeedFigures } from '../core/figures.ts'
import type { Delivered, DeliverySummary, FieldName, Moving, MovingListing } from '../core/listing.ts'
import type { FactKind } from '../plan/guard/facts.ts'
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
   * Whether the store is a copy of another one, was put back from a backup, or lost its last writes. If it is open for writing, the
   * first `Lease` notes it, and it stays so for its chatbot until that is released. All later leases find what it noted.
   */
  isBehind(chatbot: string): Promise<boolean>
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
  /** Takes the right to run. Rejects with a `StoreError` that names the holder if another process has it. Freed when the process dies. */
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
  /** The same rows in brief, for those about which nothing is to be done; `feed`: whose run it is. */
  inBrief(chatbot: string, feed: string): AsyncIterable<readonly RowInBrief[]>
  /** Rows by key; a key without a row is left out. */
  rowsOf(chatbot: string, keys: readonly string[]): Promise<ReadonlyMap<string, SnapshotRow>>
  /** A hash of the feed's listings and their content. */
  fingerprint(chatbot: string, feed: string): Promise<string>
  /** How many listings the feed has. */
  count(chatbot: string, feed: string): Promise<number>
  /** In which chatbots a feed has listings, and how many, sorted by chatbot. */
  chatbots(feed: string): Promise<{ chatbot: string; listings: number }[]>
  /** Whether the feed has no row of any sort: no listing, no call in flight, no refusal. */
  isEmpty(chatbot: string, feed: string): Promise<boolean>
  /**
   * The hashes of the records that need not be parsed again for this feed and chatbot under this mapping; held in memory, a few
   * bytes each.
   */
  knownRecords(chatbot: string, feed: string, mapping: string): Promise<KnownHashes>
  /** The baseline hashes by which list items are recognised that are as after the feed's last write; held in memory likewise. */
  knownItems(chatbot: string, feed: string): Promise<KnownHashes>
  /** What was sent last, by id. Rejects with `StoreError` if an id is of no owned row with known content, or no longer. */
  recall(ids: readonly number[]): Promise<ReadonlyMap<number, MovingListing>>
  /** Ids of the feed's listings, by key; other keys are left out. */
  ids(chatbot: string, feed: string, keys: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** What was sent last and confirmed, by key; a key of which the feed has nothing is left out. */
  confirmed(chatbot: string, feed: string, keys: readonly string[]): Promise<ReadonlyMap<string, MovingListing>>
  /** What Create answered for a listing of this feed; null: it is not known. */
  identifier(chatbot: string, feed: string, key: string): Promise<string | null>
  /** Baseline hashes of owned rows, by key. Left out are rows that must be looked at: without one, ignored, or with a call in flight. */
  baselines(chatbot: string, keys: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** MLSNumbers of listings that are confirmed as they are, the latest first. */
  latest(chatbot: string, feed: string, most: number): Promise<string[]>
  /** Whether a listing of any feed of the chatbot that is not sold has exactly this Address. */
  hasAddress(chatbot: string, address: string): Promise<boolean>
  /** Figures of what the feed has on offer, which the texts of settings may use. */
  figures(chatbot: string, feed: string): Promise<FeedFigures>
}

export interface Snapshot extends SnapshotReader {
  /** Writes what confirmed calls tell, and clears their marks. */
  confirm(chatbot: string, confirmations: readonly Confirmation[]): Promise<void>
  /** Drops rows. With `unsettledAt`, the mark of a delete in flight stays, with that time, as an attempt may still land. */
  forget(chatbot: string, keys: readonly string[], unsettledAt: number | null): Promise<void>
  /** Forgets what Create answered, as that listing is gone, or may be. */
  forgetIdentifier(chatbot: string, key: string): Promise<void>
  /** Notes a refusal, and clears the mark unless an earlier attempt may have had an effect (`unsettled`). */
  refuse(chatbot: string, feed: string, key: string, refusal: Refusal): Promise<void>
  /** Notes new bytes of listings that stay as they are. */
  touch(touches: readonly Touch[]): Promise<void>
  /** Notes how the service shows listings, except those that an earlier call may still change at `now`. */
  setBaselines(chatbot: string, baselines: readonly Baseline[], now: number): Promise<void>
}

/** Hashes of a feed's snapshot, as they were when it was read. */
export interface KnownHashes {
  /** Ids of the owned rows with this hash; none if the record gave more listings than are left of it. */
  find(hash: string): readonly number[]
  /** Frees its memory at once, as the garbage collector may keep it for long. Afterwards nothing is found. */
  end(): void
}

/** What a confirmed write tells of a listing. `bornAt` null: this write did not create it, or it came with the first load. */
export interface Confirmation extends Pick<
  SnapshotRow,
  'key' | 'feed' | 'home' | 'bornAt' | 'movesAt' | 'suspectUntil' | 'baseline' | 'ignored'
> {
  sent: MovingListing
  content: string
  /** By what the record is recognised next time; null: it was not parsed, and the row keeps what it has. */
  record: Pick<SnapshotRow, 'raw' | 'parts'> | null
  mapping: string
  at: number
  /** It undid what somebody did on the service. */
  isPutRight: boolean
  /** What Create answered; null: another call made the listing; left out: it is the same listing as before. */
  identifier?: string | null
}

export interface Refusal {
  content: string | null
  mapping: string
  at: number
  message: string
  unsettled?: boolean
}

/** An unchanged listing whose record has other bytes. */
export interface Touch extends Pick<SnapshotRow, 'id' | 'content' | 'raw' | 'parts' | 'home' | 'movesAt'> {
  mapping: string
  moving: Moving
}

export interface Baseline extends Pick<SnapshotRow, 'key' | 'ignored'> {
  /** Hash of the item as shown. */
  hash: string
  /** It was shown so when the run began, so nothing undid the last write. */
  isAtRest: boolean
}

/** Calls that are under way, and what was carried out lately. */
export interface LedgerReader {
  /** How many listings had this kind of change that the guard still counts (24 hours). */
  counted(chatbot: string, feed: string, what: Counted, now: number): Promise<number>
  /** MLSNumbers deleted after `since` that have no row now, the latest first. */
  latest(chatbot: string, feed: string, since: number, most: number): Promise<string[]>
}

/** A call to be marked. */
export interface Begun {
  key: string
  /** The kinds it counts as for 24 hours; `left`: a delete that counts as nothing and is noted all the same. */
  counts: readonly (Counted | 'left')[]
  /** Set if a copy of a listing is deleted: it is entered under a name of its own, as the listing itself stays. */
  copy?: string
}

export interface Ledger extends LedgerReader {
  /** Before calls are sent, durably marks them as in flight and enters what they count as. */
  begin(chatbot: string, feed: string, kind: CallKind, calls: readonly Begun[], now: number): Promise<void>
  /** Notes that a look-up did not find what is in flight. Only the first time after the call is kept. */
  noteMissing(chatbot: string, key: string, now: number): Promise<void>
  /**
   * Removes marks of calls, and rows that were nothing but a mark. `none`: the calls surely had no effect, so their entries are
   * removed, too. `as-before`: they are through, and the listings are as they were. `copy`: as given to `begin`.
   */
  end(chatbot: string, keys: readonly string[], effect: 'none' | 'as-before', copy?: string): Promise<void>
}

/** What is remembered of a feed's listings beside their snapshot rows: absences, what was changed lately, holds. */
export interface HistoryReader {
  /** All of it, in pages sorted by key (`compareKeys`). `isPutBack`: the store was put back, so that its holds are in doubt. */
  rows(chatbot: string, feed: string, now: number, isPutBack?: boolean): AsyncIterable<readonly History[]>
  /** Whether a listing was absent from the last delivery that tells absences. */
  isAbsent(chatbot: string, feed: string, key: string): Promise<boolean>
}

/** Writes absences; the rest of the history is written by `Ledger` and `Holds`. */
export interface AbsenceNotes extends HistoryReader {
  /**
   * Counts one more absence of each `absent` listing, and ends those of `returned` ones. Held deletes of `stillThere` listings begin
   * their clock anew: they stay held after a delivery that is not believed.
   */
  noteAbsences(
    chatbot: string,
    feed: string,
    keys: { absent: readonly string[]; returned: readonly string[]; stillThere: readonly string[] },
    now: number,
  ): Promise<void>
  /** Drops absences that were not noted at `now`, as they are over. */
  pruneAbsences(chatbot: string, feed: string, now: number): Promise<void>
}

/** What the last runs of a feed held, and what people decided about it. */
export interface HoldsReader {
  /** Sorted by MLSNumber; without listings that another feed has. `only`: of these MLSNumbers, or of the first `most`. */
  held(feed: string, now: number, only?: { keys?: readonly string[]; most?: number }): Promise<Held[]>
  /** Of how many listings each rule holds something that nobody has approved; without rules that hold nothing. */
  waitingByRule(feed: string, now: number): Promise<ReadonlyMap<string, number>>
  /** Of how many listings anything is held; without those that another feed has. */
  count(feed: string): Promise<number>
  /** Of how many listings a rule of the guard holds something that nobody has approved. */
  waiting(feed: string, now: number): Promise<number>
  /**
   * The same, of what a delivery that is not believed leaves held: it is refused, or has a clock. `timed`: of how many of these
   * listings time lets something go.
   */
  surviving(feed: string, now: number): Promise<{ listings: number; timed: number }>
  /** By part, of how many listings it is held, is not approved, and goes by itself in time. */
  clocks(feed: string, now: number): Promise<ReadonlyMap<HeldPart, number>>
  /** Of how many listings something can be approved, or is already. */
  approvable(feed: string): Promise<number>
  /** Approvals that no run has used yet, one for each time that somebody approved. */
  approvals(feed: string, now: number): Promise<{ by: string; at: number; listings: number }[]>
  /** A hash of all that can be approved: another one means that something has changed since. */
  fingerprint(feed: string): Promise<string>
  /** What happened to a feed's holds since then, the earliest first. */
  events(feed: string, since: number): Promise<HoldEvent[]>
}

export interface Holds extends HoldsReader {
  /**
   * Writes what a run holds. A whole run ends all holds that it does not name (of the MLSNumbers `of` alone, if given), and another
   * content makes another hold. A run that is not whole only adds holds, and ends likewise those that nobody can approve.
   * `isNewMapping`: refusals are for any content until a whole run names them again. `isBelieved` false: holds that are refused, or
   * have a clock and no rule that asks, stay as they are. `letGo` is called last, for how many holds were carried out.
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
   * Decides about all that can be approved; `decision` null takes decisions back. Gives how many listings that concerns. If
   * `fingerprint` is given and no longer fits what is held, nothing is decided: null.
   */
  decide(
    feed: string,
    decision: Decision | null,
    by: string,
    now: number,
    fingerprint: string | null,
  ): Promise<number | null>
  /** Forgets the holds of what was carried out. */
  use(feed: string, mlsNumber: string, heldParts: readonly HeldPart[]): Promise<void>
}

/** What a run holds of an MLSNumber. */
export interface NewHeld {
  mlsNumber: string
  why: string
  /** The part that can be approved; null: it lacks a proof or an answer, which no approval replaces. */
  part: PartHeld | null
  /** Its home; left out or null: not known. */
  home?: Home | null
  /** No rule holds it any more, only its refusal: the rules of the earlier hold stay with it. */
  isRefused?: boolean
  /** Its earlier hold stays as it is: it was let go and is not carried out yet, or the delivery says nothing of it. */
  isLetGo?: boolean
  /** Of such a hold: its clock, if it has one, began then at the latest. */
  clock?: number
  /** Nothing is held, but another feed of the chatbot has the listing, which is remembered until it lets go. */
  isElsewhere?: boolean
}

/** What is held of an MLSNumber. Times in milliseconds. */
export interface Held {
  mlsNumber: string
  part: HeldPart | null
  /** null: not known, as of a hold of an earlier version. */
  home: Home | null
  why: string
  rules: readonly string[]
  since: number
  /** When its clock began; null: it has none, or a rule that asks a person holds something of the listing. */
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
  /** The run of a feed that has begun and not ended. Its process may have died. */
  underWay(feed: string): Promise<RunUnderWay | null>
  /** `finishedAt` of the last run whose result was ok, held or partial; null: this store has seen none. */
  lastSuccess(feed: string): Promise<number | null>
  /** The chatbot of the last run that did not fail: one that failed, as by a wrong SerialNumber, filled none. null: there is none. */
  lastFilled(feed: string): Promise<string | null>
  /** When the last run began whose delivery was complete and not doubted; `succeeded`: of those that did not fail. null: never. */
  lastAccepted(feed: string, succeeded?: boolean): Promise<number | null>
  /** Of the last run after which the chatbot was asked; null: never. */
  lastVerified(feed: string): Promise<Verified | null>
  /** What people were told of the feed, as it was noted; null: nothing. */
  notified(feed: string): Promise<string | null>
  /** When a lost store was noticed for this feed or, with null, for any feed last. Creates wait for `settle` from then. */
  lostAt(feed: string | null): Promise<number | null>
  /** Whether the clock was wrong in the last runs of a feed, or is now, so that its next run changes times they noted (`Runs.begin`). */
  hadWrongClock(feed: string, now: number): Promise<boolean>
  /** The name of this store, and its run under way or, if it is open for reading only, its next one. */
  stamp(): Promise<Stamp>
  /** How many daemons have started on this store since the last `noteSteady`, and when the last one did. */
  starts(): Promise<{ times: number; at: number }>
}

export interface Runs extends RunsReader {
  /**
   * Notes that a run begins, and gives its number. Times that a wrong clock noted become `startedAt`: later ones, and those of a
   * clock that was behind.
   */
  begin(run: Pick<RunRecord, 'feed' | 'chatbot' | 'command' | 'startedAt'>): Promise<number>
  /** Notes how far the feed's run under way is. */
  noteProgress(feed: string, progress: string, now: number): Promise<void>
  /** Puts a finished run on record. `report`: what is kept of its report, as JSON; only the last ones of a feed stay. */
  record(run: RunRecord & { report?: string }): Promise<void>
  /** Adds it to the feed's run that began at `startedAt`; does nothing if that is not on record. */
  recordVerified(feed: string, startedAt: number, verified: Omit<Verified, 'at'>): Promise<void>
  /** The same of what came of the chatbot's settings after that run. */
  recordSettled(feed: string, startedAt: number, settled: Settled): Promise<void>
  recordLost(feed: string, at: number): Promise<void>
  /** Replaces `notified`. */
  noteTold(feed: string, text: string): Promise<void>
  /**
   * Gives a store of this name, which was put back, a new one: what the old one wrote is another store's from now on, and what it
   * holds is in doubt. If another run has done so meanwhile, it keeps that.
   */
  renew(name: string, now: number): Promise<Stamp>
  /** Notes that a daemon starts. Gives how many before it neither stayed up nor ended in order. */
  noteStart(now: number): Promise<number>
  /** Notes that a daemon stayed up, or ends in order: earlier starts no longer count. */
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

/** What a run's settings of the chatbot change of its record. */
export interface Settled {
  result: RunResult
  /** As `record` keeps it. */
  report: string
  /** Why not all were applied, as sentences; null: they were. */
  unsettled: string | null
}

/** What a rule of the guard found in a run, as its figures have it (`holds`). */
export interface Finding {
  rule: RuleName
  /** The kind of fact that it is about, if it is about one. */
  fact?: FactKind | undefined
  /** What was found: of how many, against which number. */
  found: string
  /** The same, with what happened next as it was known then. */
  sentence: string
}

/** A run with its number, which grows with each run of the store, of whichever feed. */
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

/** What the next delivery of a feed is compared with, and asked for with. */
export interface DeliveriesReader {
  last(feed: string): Promise<LastDelivery>
  /** What deltas said and no run has carried out, in pages sorted by key (`compareKeys`). */
  pending(feed: string): AsyncIterable<readonly Pending[]>
  /** The same of these MLSNumbers, by key. */
  pendingOf(feed: string, keys: readonly string[]): Promise<ReadonlyMap<string, Pending>>
}

/** What a delta says of one MLSNumber and is still to be done. */
export interface Pending {
  key: string
  /** Its records as they were mapped when they came, without rejects. */
  delivered: readonly Delivered[]
  /** When it was said, in milliseconds: when its delivery was written or, if that is not known, came. 0: before the store was put back. */
  at: number
}

export interface Deliveries extends DeliveriesReader {
  /** Replaces what is given. The store keeps the rest. */
  record(feed: string, last: Partial<LastDelivery>): Promise<void>
  /** Notes what is to be done. It replaces what was pending of the same MLSNumbers. */
  notePending(feed: string, pending: readonly Pending[], now: number): Promise<void>
  /** Drops what was not noted at `now`, as nothing is to be done any more. */
  prunePending(feed: string, now: number): Promise<void>
  /** Drops what was carried out. */
  endPending(feed: string, keys: readonly string[]): Promise<void>
}

/** What is known of the deliveries of a feed before this one. Times in milliseconds. */
export interface LastDelivery {
  /** When a delivery was first carried over whole, and to which chatbot; null: none was, and the next one is the first load. */
  loaded: { chatbot: string; at: number } | null
  /** When the last complete delivery came that a run went through to its end. */
  completeAt: number | null
  /** When the last accepted one was written, by its own word or the server's; `source`: a fingerprint of where it is from. */
  written: { by: 'document' | 'server'; at: number; source: string } | null
  /** The version of the mapping that read it. */
  mapping: string | null
  /** Its records without a readable MLSNumber. */
  keyless: readonly Keyless[]
  /**
   * The last record's MLSNumber, of the latest delivery whose absences were noted; '': it had no record; null: its end was proven,
   * or there was no such delivery.
   */
  lastKey: string | null
  /** HTTP validators of the last delivery, if it left nothing to do: with them the source is asked whether it has changed. */
  validators: SavedValidators | null
}

/** HTTP validators, with the counts of their delivery. */
export interface SavedValidators {
  etag?: string
  lastModified?: string
  /** All that "not modified" rests on, as one value. Once that differs, the answer says nothing. */
  basis: string
  summary: DeliverySummary
}

/** What is kept of live sources: their records as received last, and how far each source was read. */
export interface RecordsReader {
  /** How far the source of a feed was read; null: it never was. */
  progress(feed: string): Promise<SourceProgress | null>
  /** The timestamps of kept records, by key. */
  stamps(feed: string, keys: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** In pages sorted by key. */
  rows(feed: string): AsyncIterable<readonly KeptRecord[]>
}

/** Each method writes its records and the progress together, or nothing. */
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
  /** A number for the keys of the feed's last run in which the rule `chatbot` found nothing in the list; null: not known. */
  keys(chatbot: string, feed: string): Promise<number | null>
  /** Other stores that wrote listings of this feed, by their names. */
  writers(chatbot: string, feed: string): Promise<ReadonlyMap<string, Writer>>
  /** Fields that the service shows in a form of its own, as this feed's reports have told. */
  forms(feed: string): Promise<FieldName[]>
  /**
   * The chatbot settings as applied last, by name, without those that may differ on the service by now. `since`: only those applied
   * then or later.
   */
  settings(chatbot: string, since?: number): Promise<ReadonlyMap<string, SettingValue>>
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
  /** Forgets settings that may differ on the service from now on, so that they are sent again. */
  forgetSettings(chatbot: string, names: readonly string[]): Promise<void>
}

/** What was done about each home in the last 90 days. */
export interface ChangesReader {
  /** Of all feeds, the latest first. */
  of(mlsNumber: string, most: number): Promise<HomeEvent[]>
  /** MLSNumbers of homes changed lately whose address or city has these words in it, the latest first. */
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
  /** Of an update. A field whose values are too long to keep has neither value. */
  fields: readonly FieldChange[]
}

/** Something that happened to a home. What is held or decided has no result. `by`: who decided. */
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
  /** When the last list that was looked at for its marks began. */
  lookedAt: number
  /** When a mark of a later run was first seen than in earlier lists; null: none was. */
  roseAt: number | null
  /** When a mark was last seen that shows its program still at work; null: none was. */
  wroteAt: number | null
}

/** The value of one chatbot setting. */
export type SettingValue = string | number | boolean
