/** The listing service as a model: rows, answers that get lost, effects that come late, pages that shift, people who edit. */
import { ServiceError } from '../../src/core/errors.ts'
import { ownerKey } from '../../src/core/listing.ts'
import { readMark } from '../../src/core/mark.ts'
import type { ExtensionEntry, Listing } from '../../src/core/listing.ts'
import type { SendRequest, SendResponse } from '../../src/service/send.ts'
import type { Choices } from './choices.ts'
import { letHappen } from './mishap.ts'
import { answers, landings, oldest, pretences, walks } from './service-mishaps.ts'
import type { Answered, Walk } from './service-mishaps.ts'
import { itemOf } from './item.ts'
import type { VirtualTime } from './time.ts'
import { feedName, otherFeed } from './world.ts'
import type { Swarm } from './world.ts'
import { minute } from './time.ts'

/** What the checker compares of a listing. */
export const judged = ['SalePrice', 'Url', 'Status', 'Description', 'Fee'] as const
export type Judged = (typeof judged)[number]

export interface Row {
  id: number
  listing: Listing
  by: 'us' | 'person' | 'south'
  /** Which of our feeds made it; null: none. */
  feed: string | null
  /** The program that made it; null: none. */
  program: object | null
  /** When a write of ours last had an effect on it. */
  writtenAt: number
  /** When a list last showed it. */
  shownAt: number
  /** Seen by a finished run after our last write, so that a later difference can be known for drift. */
  seen: boolean
  /** Fields that a person edited before that. */
  tainted: readonly Judged[]
  /** A person edited it after our last write, or so that the write left the edit as it was. */
  edited: boolean
  /** When a person last changed it, and when a look-up last showed it. */
  editedAt: number
  lookedUpAt: number
  /** Only a mark on it can tell that it is ours: a delete left it out that says it did not, or it came when nobody waited any more. */
  onlyByMark: boolean
}

export interface WriteCall {
  kind: 'create' | 'update' | 'delete'
  /** Whose call it is, and which program's. */
  feed: string
  program: object
  keys: string[]
  at: number
  /** The same by the machine's clock. */
  clock: number
  /** What it carries; null: a delete. */
  listing: Listing | null
  /** A delete of these very rows, by what Create answered. */
  rows?: number[]
}

/** What the checker is told. */
export interface Witness {
  /** The feed whose run is under way. */
  readonly feed: string
  /** The program at work: where its store lies. */
  readonly place: object
  /** Its number: what a dead process is answered says nothing of the next one. */
  readonly run: number
  /** A writing call reached the service. */
  arrived(call: WriteCall): void
  /** A call without answer takes effect now, some time after it was made. */
  landsLate(call: WriteCall): void
  /** It has; `isOther`: what is shown is another item now. */
  landed(call: WriteCall, isOther: boolean): void
  /** A call took this row away. */
  deleted(key: string, call: WriteCall): void
  /** A create or update had an effect on a row of this MLSNumber. */
  affected(key: string): void
  /** A call was confirmed and not carried out. */
  ignored(call: WriteCall): void
  /** A call was carried out once more. */
  repeated(call: WriteCall): void
  /** Any call was sent. */
  sent(kind: string): void
  refusedKeys(): void
  /** The list was asked for one MLSNumber. */
  lookedUp(key: string): void
  /** The program was told to make no call before this time. */
  toldToWait(until: number): void
  trace(line: string): void
}

/** What people write into descriptions. */
export const byHand = 'by hand'

type Fate = 'carried out' | 'late' | 'never'
type Body = Partial<Listing> & {
  Key?: string
  KeyType?: string
  Keys?: string[]
  PageNumber?: number
  PageSize?: number
}

export class ModelService {
  rows: Row[] = []
  /** Creates that may still land, by MLSNumber. */
  readonly landing = new Map<string, number>()
  /** Calls of any kind that may. */
  readonly underWay = new Set<WriteCall>()
  swarm: Swarm
  readonly #choices: Choices
  readonly #time: VirtualTime
  readonly #witness: Witness
  #lastId = 100
  #hidden: ReadonlySet<number> = new Set()
  /** What the walk under way shows; null: what is there. */
  #shows: readonly Row[] | null = null
  /** The rows as they were, for lists that show that still. */
  readonly #past: { at: number; rows: readonly Row[] }[] = []
  /** Rows hidden from a feed since a run of it last ended that saw them: no list is wrong of a row twice running (A3). */
  readonly #hiddenFrom = new Map<string, Set<number>>()
  #hiddenNow = new Set<number>()
  #hidesNext: readonly string[] = []
  #outageUntil = 0
  #failsFromPage = Infinity
  #brokenPage = Infinity
  #losesNext: { kind: string; late: number } | null = null

  constructor(swarm: Swarm, choices: Choices, time: VirtualTime, witness: Witness) {
    this.swarm = swarm
    this.#choices = choices
    this.#time = time
    this.#witness = witness
  }

  living(key: string): Row[] {
    return this.rows.filter((row) => row.listing.MLSNumber === key)
  }

  /** The next walk over the pages shows nothing of these. */
  hide(keys: readonly string[]): void {
    this.#hidesNext = keys
  }

  /** The next call of this kind gets no answer and takes effect so many milliseconds later. */
  loseNext(kind: string, late: number): void {
    this.#losesNext = { kind, late }
  }

  /** Pages of the walk from this one on can't be had, until it is called with null. */
  refusePages(from: number | null): void {
    this.#failsFromPage = from ?? Infinity
  }

  /** A run of a feed is over; `remembers`: what it saw and did not see is in the store. */
  runEnded(feed: string, remembers: boolean): void {
    const before = remembers ? [] : (this.#hiddenFrom.get(feed) ?? [])
    this.#hiddenFrom.set(feed, new Set([...before, ...this.#hiddenNow]))
    this.#hiddenNow.clear()
  }

  add(listing: Listing, by: Row['by'], feed: string | null = by === 'us' ? feedName : null): Row {
    const row = {
      id: ++this.#lastId,
      listing,
      by,
      feed,
      program: null as object | null,
      writtenAt: this.#time.now,
      shownAt: 0,
      seen: false,
      tainted: [],
      edited: false,
      editedAt: 0,
      lookedUpAt: 0,
      onlyByMark: false,
    }
    this.rows.push(row)
    return row
  }

  /** `reply` comes after the call has been on its way for a while, or never. */
  receive(request: SendRequest, reply: (answer: SendResponse | ServiceError) => void): void {
    const choices = this.#choices
    const { service } = this.swarm
    const kind = request.path.replace('/chat/Chatbot/RealEstate', '').toLowerCase()
    const body: Body = JSON.parse(request.body)
    const after = (milliseconds: number, answer: SendResponse | ServiceError): void =>
      this.#time.after(milliseconds, () => reply(answer))
    const brief = choices.integer('takes', 20, 400)
    const { run } = this.#witness
    this.#witness.sent(kind)
    this.remember()
    if (choices.mishap(`connection refused to ${kind}`, service.refusedConnection))
      return after(5, new ServiceError('transient', 'No connection to the service'))
    if (choices.mishap(`too many calls at ${kind}`, service.tooMany)) {
      const seconds = choices.pick('says when', [null, null, 2, 90])
      return this.#time.after(brief, () => {
        if (seconds !== null && this.#witness.run === run) this.#witness.toldToWait(this.#time.now + seconds * 1000)
        reply({ status: 429, headers: seconds === null ? {} : { 'retry-after': String(seconds) }, body: 'slow down' })
      })
    }
    if (choices.mishap('credentials outage', service.credentials)) this.#outageUntil = this.#time.now + 3 * minute
    if (this.#time.now < this.#outageUntil) {
      const http = choices.unit('refused by HTTP') < 0.5
      const refused = {
        status: http ? 401 : 200,
        headers: {},
        body: JSON.stringify(envelope(null, 401, 'no such key')),
      }
      return this.#time.after(brief, () => {
        if (this.#witness.run === run) this.#witness.refusedKeys()
        reply(refused)
      })
    }
    if (kind === 'list') {
      if (choices.mishap('list is lost', service.lost)) return after(30_000, lostAnswer())
      if (body.MLSNumber === undefined && (body.PageNumber ?? 1) === 1)
        this.#brokenPage = choices.mishap('a page is broken', service.brokenPage)
          ? choices.integer('which', 2, 3)
          : Infinity
      if (body.MLSNumber === undefined && (body.PageNumber ?? 1) >= Math.min(this.#failsFromPage, this.#brokenPage))
        return after(brief, failure(500))
      if (choices.mishap('list fails', service.failure)) return after(brief, failure(500))
      if (choices.mishap('list is a page for people', service.html)) return after(brief, page)
      return this.#time.after(brief, () => reply(this.#list(body)))
    }
    const native = body.KeyType === 'NativeId' ? this.#named(body.Keys ?? []) : null
    const keys = native?.map(({ listing }) => listing.MLSNumber) ?? body.Keys ?? [body.Key ?? body.MLSNumber!]
    const call: WriteCall = {
      kind: kind as WriteCall['kind'],
      feed: this.#witness.feed,
      program: this.#witness.place,
      keys,
      at: this.#time.now,
      clock: this.#time.clock,
      listing: kind === 'delete' ? null : (body as Listing),
      ...(native !== null && { rows: native.map(({ id }) => id) }),
    }
    this.#witness.arrived(call)
    if (this.#losesNext?.kind === kind) {
      this.#landLate(call, body, this.#losesNext.late)
      this.#losesNext = null
      return after(brief, lostAnswer())
    }
    if (choices.mishap(`${kind} is refused`, service.refusal)) return after(brief, ok(null, 400, 'not this one'))
    const lostMore = kind === 'update' ? service.updatesLost : 0
    const lost = choices.mishap(`answer to ${kind} is lost`, Math.max(service.lost, lostMore))
    const failed = !lost && choices.mishap(`${kind} fails`, service.failure)
    const html = !lost && !failed && choices.mishap(`${kind} is answered by a page for people`, service.html)
    if (!lost && !failed && !html) return this.#time.after(brief, () => reply(this.#answer(call, body)))
    const fate = this.#fate(call, body)
    this.#witness.trace(`  ${kind} ${keys.join()} ${lost ? 'lost' : failed ? 'failed' : 'html'}: ${fate}`)
    if (lost) after(choices.unit('lost by timeout') < 0.5 ? request.timeout : brief, lostAnswer())
    else after(brief, failed ? failure(choices.pick('failure', [500, 502, 503])) : page)
  }

  /** The rows of which Create answered these identifiers. */
  #named(identifiers: readonly string[]) {
    return this.rows.filter(({ id }) => identifiers.includes(`id-${id * 7}`))
  }

  /** What becomes of a call whose answer says nothing. */
  #fate(call: WriteCall, body: Body): Fate {
    const choices = this.#choices
    const { carriedOut, late } = this.swarm.service
    if (choices.unit('carried out') >= carriedOut) return 'never'
    const landing = { choices, after: 0 }
    void letHappen(landings, this.swarm.mishaps, landing)
    if (landing.after > 0) {
      this.#landLate(call, body, landing.after)
      return 'late'
    }
    if (!choices.mishap(`${call.kind} lands late`, late)) {
      this.#carryOut(call, body)
      this.remember()
      return 'carried out'
    }
    this.#landLate(call, body, choices.integer('late by', 1000, 10 * minute))
    return 'late'
  }

  #landLate(call: WriteCall, body: Body, late: number): void {
    const [key] = call.keys
    if (call.kind === 'create') this.landing.set(key, (this.landing.get(key) ?? 0) + 1)
    this.underWay.add(call)
    this.#time.after(late, () => {
      if (call.kind === 'create') this.landing.set(key, this.landing.get(key)! - 1)
      this.underWay.delete(call)
      this.#witness.landsLate(call)
      this.#witness.trace(`  a late ${call.kind} of ${call.keys.join()} lands`)
      const items = (): string => JSON.stringify(this.living(key).map(shownOf))
      const before = items()
      this.#carryOut(call, body)
      this.remember()
      this.#witness.landed(call, items() !== before)
    })
  }

  /** Carries a call out and answers it. */
  #answer(call: WriteCall, body: Body): SendResponse {
    const pretence = { choices: this.#choices, isIgnored: false }
    if (call.kind === 'update') void letHappen(pretences, this.swarm.mishaps, pretence)
    const meant = call.keys.flatMap((key) => this.living(key)).length
    if (pretence.isIgnored && meant > 0) {
      this.#witness.ignored(call)
      return ok(meant)
    }
    const carryOut = (): SendResponse => {
      this.#witness.repeated(call)
      return this.#carryOut(call, body)
    }
    const answered: Answered = { choices: this.#choices, call, carryOut, answer: this.#carryOut(call, body) }
    void letHappen(answers, this.swarm.mishaps, answered)
    this.remember()
    const { Data } = JSON.parse(answered.answer.body) as { Data: { SuccessCount?: number } | null }
    // A number as large as was asked for hides one that was left out (docs/faults.md, F114).
    if (call.kind === 'delete' && (Data?.SuccessCount ?? 0) >= call.keys.length)
      for (const row of call.keys.flatMap((key) => this.living(key))) row.onlyByMark = true
    return answered.answer
  }

  #carryOut(call: WriteCall, body: Body): SendResponse {
    const { swarm } = this
    const choices = this.#choices
    if (call.kind === 'create') {
      const { SerialNumber: _, ...listing } = body as Listing & { SerialNumber: string }
      this.#witness.affected(listing.MLSNumber)
      const row = Object.assign(this.add(listing, 'us', call.feed), { program: call.program })
      return ok(`id-${row.id * 7}`)
    }
    if (call.kind === 'update') {
      const { SerialNumber: _, Key, KeyType: __, ...listing } = body as Listing & Record<string, string>
      const rows = this.living(Key)
      if (rows.length === 0 && swarm.service.updateRefusesNoMatch) return ok(null, 404, 'no such listing')
      let changed = 0
      if (rows.length > 0) this.#witness.affected(Key)
      for (const row of rows) {
        const before = JSON.stringify(row.listing)
        row.listing = swarm.service.clear === 'omit' ? { ...listing } : { ...row.listing, ...listing }
        if (JSON.stringify(row.listing) !== before) changed++
        // What outlives our write, though a list could have told of it, is our fault; else nobody can know it for an edit.
        const stays = row.listing.Description === byHand
        const isTainted = stays && (row.tainted.includes('Description') || row.shownAt < row.editedAt)
        // Taken for a field that the service cannot clear, as it confirmed that it did: nothing says it once more.
        const isUncleared =
          row.tainted.includes('Fee') && feeOf(listing) === undefined && feeOf(row.listing) !== undefined
        const tainted: Judged[] = []
        if (isTainted) tainted.push('Description')
        if (isUncleared) tainted.push('Fee')
        if (row.by === 'us') row.feed = call.feed
        Object.assign(row, { writtenAt: this.#time.now, seen: false, tainted, edited: row.edited && stays })
      }
      return ok(swarm.service.updateCountsChanges ? changed : rows.length)
    }
    if (call.keys.length > swarm.service.maxKeys) return ok(null, 400, 'too many keys')
    let count = 0
    for (const key of call.keys) {
      const rows = this.living(key)
      if (rows.length === 0) continue
      if (choices.mishap('delete leaves one out', swarm.service.partialDelete)) continue
      const isMeant = (row: (typeof rows)[number]): boolean =>
        row.listing.MLSNumber === key && (call.rows?.includes(row.id) ?? true)
      count += this.rows.filter(isMeant).length
      this.rows = this.rows.filter((row) => !isMeant(row))
      this.#witness.deleted(key, call)
    }
    return ok({ SuccessCount: count })
  }

  #list({ MLSNumber: filter, PageNumber = 1, PageSize = 1 }: Body): SendResponse {
    const { service } = this.swarm
    const choices = this.#choices
    if (filter === undefined && PageNumber === 1) this.#beginWalk()
    if (filter !== undefined) this.#witness.lookedUp(filter)
    const all = filter === undefined ? (this.#shows ?? this.rows) : this.rows
    let rows = all.filter((row) => filter !== undefined || !this.#hidden.has(row.id))
    if (filter !== undefined && service.lookUp === 'exact')
      rows = rows.filter((row) => row.listing.MLSNumber === filter)
    if (filter !== undefined && service.lookUp === 'part')
      rows = rows.filter((row) => row.listing.MLSNumber.includes(filter))
    if (service.order === 'newest') rows = rows.toReversed()
    if (service.order === 'shifting' && choices.mishap('the order shifts', 0.15)) rows = rows.toReversed()
    const size = Math.min(PageSize, service.pageSize)
    let items = rows.slice((PageNumber - 1) * size, PageNumber * size)
    if (items.length === 0 && PageNumber > 1 && service.afterLastPage === 'refuse') return ok(null, 404, 'no such page')
    if (items.length === 0 && service.afterLastPage === 'repeat' && rows.length > 0)
      items = rows.slice(Math.floor((rows.length - 1) / size) * size)
    for (const row of items) {
      if (filter === undefined) this.#isShown(row)
      else if (row.listing.MLSNumber === filter) row.lookedUpAt = this.#time.now
    }
    const counts = { total: rows.length, page: items.length, none: 0 }
    return ok({ List: items.map((row) => itemOf(row, service.spelling)), VirtualCount: counts[service.virtualCount] })
  }

  /** Of an old list only what is so still was shown. */
  #isShown({ id, listing }: Row): void {
    const row = this.rows.find((row) => row.id === id && row.listing === listing)
    if (row !== undefined) row.shownAt = this.#time.now
  }

  /** When the walk over the pages began that counts by now. */
  walkedAt = 0
  /** When a person took a row off last: those behind it moved up. */
  removedAt = -Infinity
  /** What a person took off, and when. */
  readonly removed = new Map<string, number>()

  /** Whether every list that is walked from now on shows what was written to this row last (docs/faults.md, A2). */
  isListed({ writtenAt }: Row): boolean {
    return !this.#mayBeOld || writtenAt <= this.#time.now - oldest
  }

  get #mayBeOld(): boolean {
    return walks.some(({ name }) => (this.swarm.mishaps[name] ?? 0) > 0)
  }

  /** Notes what is there, if lists may be old in this history. */
  remember(): void {
    if (!this.#mayBeOld) return
    this.#past.push({ at: this.#time.now, rows: this.rows.map((row) => ({ ...row })) })
  }

  /** What a list may show, however old it is. */
  mayShow(): readonly Row[] {
    const from = this.#past.findLastIndex(({ at }) => at <= this.#time.now - oldest)
    return [...this.rows, ...this.#past.slice(Math.max(0, from)).flatMap(({ rows }) => rows)]
  }

  #beginWalk(): void {
    this.walkedAt = this.#time.now
    const choices = this.#choices
    const asOf = (milliseconds: number): readonly Row[] =>
      (this.#past.findLast(({ at }) => at <= this.#time.now - milliseconds) ?? this.#past[0]).rows
    const walk: Walk = { choices, before: asOf, rows: this.rows }
    void letHappen(walks, this.swarm.mishaps, walk)
    this.#shows = walk.shows ?? null
    if (this.#hidesNext.length > 0) {
      this.#hidden = new Set(this.#hidesNext.flatMap((key) => this.living(key)).map(({ id }) => id))
      this.#hidesNext = []
      return
    }
    if (!choices.mishap('the list hides rows', this.swarm.service.glitch)) {
      this.#hidden = new Set()
      return
    }
    // Where every mark of a feed is hidden, nobody can know that a store was lost.
    const kept =
      this.swarm.lostStore > 0 ? [feedName, otherFeed].map((name) => this.rows.find(({ feed }) => feed === name)) : []
    const share = choices.pick('hides', [0.15, 0.5, 1])
    const before = this.#hiddenFrom.get(this.#witness.feed)
    const hides = (row: Row): boolean =>
      row.by !== 'south' &&
      !kept.includes(row) &&
      !before?.has(row.id) &&
      !this.#hiddenNow.has(row.id) &&
      choices.unit('hidden') < share
    this.#hidden = new Set(this.rows.filter(hides).map((row) => row.id))
    for (const id of this.#hidden) this.#hiddenNow.add(id)
  }
}

/** But for what moves by itself. */
const shownOf = (row: Row): object => ({ ...itemOf(row, 'as-sent'), DaysOnMarket: null })

/** The mark of ownership on a row, where there is one. */
export function ownerOf(row: Row): string | null {
  const entries: ExtensionEntry[] = row.listing.ExtensionColumn ?? []
  const mark = entries.find(({ Key }) => Key === ownerKey)?.value
  return mark === undefined ? null : readMark(mark).feed
}

export function feeOf({ ExtensionColumn = [] }: Partial<Listing>): string | undefined {
  return ExtensionColumn.find(({ Key }) => Key === 'Fee')?.value
}

const page: SendResponse = { status: 200, headers: {}, body: '<html>maintenance</html>' }

function lostAnswer(): ServiceError {
  return new ServiceError('transient', 'The answer was lost', { effect: 'unknown' })
}

function failure(status: number): SendResponse {
  return { status, headers: {}, body: 'oops' }
}

function envelope(data: unknown, code: number, message: string): object {
  return { Data: data, Version: '1.0.0', Success: code === 200, Code: code, Message: message }
}

function ok(data: unknown, code = 200, message = ''): SendResponse {
  return { status: 200, headers: {}, body: JSON.stringify(envelope(data, code, message)) }
}
