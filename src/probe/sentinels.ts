/**
 * The sentinels of one probe on the service: created, changed, looked up, and above all removed. Nothing here can reach
 * another listing: Create, Update and Delete go by an MLSNumber that only a sentinel has, and by an identifier only right after
 * a look-up has shown it on a sentinel's row (`certainId`).
 */
import { messageOf, ServiceError } from '../core/errors.ts'
import type { Listing } from '../core/listing.ts'
import type { Clock } from '../core/machine.ts'
import type { ListItem } from '../service/canonical.ts'
import type { Calls, How, Refusal, Reply } from './calls.ts'
import { idOf, markerUrl, mlsNumberOf, textOf, wholeListing } from './sentinel-listing.ts'
import type { SentinelNames } from './sentinel-listing.ts'

/** How long after each look-up the next one follows, in milliseconds: a list may lag behind. */
const pauses = [250, 500, 1000, 1000, 2000, 2000, 2000, 2000]

/** How a write came to be seen. */
export interface Sight {
  /** Every row with the MLSNumber; empty where it did not come in time. */
  rows: ListItem[]
  /** Look-ups that did not show it yet. */
  missed: number
  /** From the answer to the write until it was seen. */
  milliseconds: number
}

/** What became of one Update of a sentinel: seen, refused, or (both null) taken and never shown. */
export interface Tried {
  row: ListItem | null
  refusal: Refusal | null
  sent: Pick<Listing, 'MLSNumber'>
}

/** An ID that may be used as NativeId, or why there is none; `isShown`: whether the list's ID is what Create gave. */
export type CertainId = { id: string; isShown: true; why: null } | { id: null; isShown: boolean | null; why: string }

export class Sentinels {
  readonly names: SentinelNames
  /** Whether an Update of what is not there creates it; null: not known yet. */
  updatesCreate: boolean | null = null
  readonly #calls: Calls
  readonly #clock: Clock
  /** Whether one was created and never listed: perhaps it is, under another MLSNumber. */
  wasUnseen = false
  #writes = 0
  /** MLSNumbers under which a row may be there. */
  readonly #there = new Set<string>()
  /** What Create gave for those that were seen, by MLSNumber; the latest where there are several rows. */
  readonly #identifiers = new Map<string, string | null>()
  /** Those that were created and never listed. */
  readonly #unseen = new Set<string>()
  /** Those whose Create got no certain answer, with the time of it. */
  readonly #lost = new Map<string, number>()

  constructor(names: SentinelNames, calls: Calls, clock: Clock) {
    this.names = names
    this.#calls = calls
    this.#clock = clock
  }

  /** MLSNumbers whose Create got no certain answer, or that were never listed and not counted when deleted, with when that was: the row may appear later. */
  get lost(): ReadonlyMap<string, number> {
    return this.#lost
  }

  /** Whether the sentinel of this number was created, seen and not removed since. */
  has(number: number): boolean {
    return this.#identifiers.has(this.names.mlsNumber(number))
  }

  /** What Create gave for the sentinel of this number; null where its answer was lost. */
  identifier(number: number): string | null {
    return this.#identifiers.get(this.names.mlsNumber(number)) ?? null
  }

  /** The number of the next write, for `requiredFields` and `wholeListing`. */
  nextWrite(): number {
    return ++this.#writes
  }

  /** Notes left-over sentinels of an earlier probe, for `removeAll`. */
  take(mlsNumbers: Iterable<string>): void {
    for (const mlsNumber of mlsNumbers) this.#there.add(mlsNumber)
  }

  /**
   * Creates a row. A lost answer is settled by looking whether it is there; then the identifier is null. Throws where that is
   * not certain.
   */
  async create(body: Pick<Listing, 'MLSNumber' | 'Url'>, how?: How): Promise<Reply<string | null>> {
    const isNew = !this.#there.has(body.MLSNumber)
    this.#there.add(body.MLSNumber)
    try {
      const reply = await this.#calls.create(body, how)
      // What was there before the second Create still is.
      if (!reply.taken && isNew) this.#there.delete(body.MLSNumber)
      return reply
    } catch (error) {
      if (error instanceof ServiceError && error.effect === 'none' && isNew) this.#there.delete(body.MLSNumber)
      if (!(error instanceof ServiceError) || error.effect === 'none') throw error
      this.#lost.set(body.MLSNumber, this.#clock.now())
      if (error.kind !== 'transient') throw error
      const { rows } = await this.awaitRows(body.MLSNumber, (rows) =>
        rows.some((row) => textOf(row, 'Url') === body.Url),
      )
      if (rows.length === 0) throw error
      this.#lost.delete(body.MLSNumber)
      return { taken: true, value: null }
    }
  }

  /** Creates one that must not be there yet, and waits until it is shown. */
  async createAndSee(number: number, body: Pick<Listing, 'MLSNumber' | 'Url'>, how?: How): Promise<Reply<Sight>> {
    const reply = await this.create(body, how)
    if (!reply.taken) return reply
    const sight = await this.awaitRows(body.MLSNumber, (rows) => rows.length > 0)
    if (sight.rows.length > 0) this.#identifiers.set(this.names.mlsNumber(number), reply.value)
    else {
      this.#unseen.add(body.MLSNumber)
      this.wasUnseen = true
    }
    return { taken: true, value: sight }
  }

  /** Updates by MLSNumber. A service may make a row of what it does not find: then a lost answer is as a lost Create's. */
  async update(body: Pick<Listing, 'MLSNumber'>, how?: How): Promise<Reply<number>> {
    this.#there.add(body.MLSNumber)
    try {
      return await this.#calls.update({ ...body, Key: body.MLSNumber, KeyType: 'MLSNumber' }, how)
    } catch (error) {
      const mayLand = error instanceof ServiceError && error.effect === 'unknown'
      if (mayLand && this.updatesCreate !== false) this.#lost.set(body.MLSNumber, this.#clock.now())
      throw error
    }
  }

  /** Updates a sentinel with what `body` makes for the number of the write, and waits until that is shown. */
  async trySend(number: number, body: (write: number) => Tried['sent'], how?: How): Promise<Tried> {
    const write = this.nextWrite()
    const sent = { ...body(write) }
    const reply = await this.update(sent, how)
    if (!reply.taken) return { row: null, refusal: reply, sent }
    return { row: await this.awaitWrite(number, write), refusal: null, sent }
  }

  /** The same with all fields but for the changes. */
  tryUpdate(number: number, changes: object, how?: How): Promise<Tried> {
    return this.trySend(number, (write) => ({ ...wholeListing(this.names, number, write), ...changes }), how)
  }

  /** Every row shown for exactly this MLSNumber. Throws `ServiceError` where the pages contradict themselves. */
  async lookUp(mlsNumber: string): Promise<ListItem[]> {
    let rows: ListItem[] = []
    const reset = (): void => void (rows = [])
    const add = (items: ListItem[]): void => void rows.push(...items.filter((item) => mlsNumberOf(item) === mlsNumber))
    const { complete, reasons } = await this.#calls.walk({ MLSNumber: mlsNumber }, { reset, add })
    if (complete) return rows
    throw new ServiceError('transient', `the look-up of a test listing is incomplete: ${reasons.join(' ')}`)
  }

  /** Looks up until the rows are as wanted, for some ten seconds; gives no rows where they never were. */
  async awaitRows(mlsNumber: string, wanted: (rows: ListItem[]) => boolean): Promise<Sight> {
    const since = this.#clock.now()
    for (let missed = 0; ; missed++) {
      const rows = await this.lookUp(mlsNumber)
      const milliseconds = this.#clock.now() - since
      if (wanted(rows)) return { rows, missed, milliseconds }
      if (missed === pauses.length) return { rows: [], missed: missed + 1, milliseconds }
      await this.#calls.pause(pauses[missed])
    }
  }

  /** Waits until this write is shown on a row of the sentinel; null where it never was. */
  async awaitWrite(number: number, write: number): Promise<ListItem | null> {
    const url = markerUrl(this.names, number, write)
    const isIt = (row: ListItem): boolean =>
      textOf(row, 'Url') === url || Number(textOf(row, 'DaysOnMarket')) === 1000 + write
    const { rows } = await this.awaitRows(this.names.mlsNumber(number), (found) => found.some(isIt))
    return rows.find(isIt) ?? null
  }

  /**
   * The ID of a row, where it surely names a sentinel and nothing else: Create gave it, and a look-up made now shows it on a
   * row of this very MLSNumber. So it is a sentinel's whether NativeId takes what Create gives or what List shows; an ID from
   * the list alone may be what Create gave for another listing. And it is no listing's MLSNumber, in case the service
   * does not heed KeyType.
   */
  async certainId(mlsNumber: string, identifier: string | null): Promise<CertainId> {
    if (identifier === null) return { id: null, isShown: null, why: 'the answer to Create was lost' }
    const ids = (await this.lookUp(mlsNumber)).map(idOf)
    if (!ids.includes(identifier)) {
      const shown = ids.join(', ') || 'none'
      const why = `the list's ID (${shown}) is not what Create gave (${identifier}): either may name another listing, which would be hit`
      return { id: null, isShown: false, why }
    }
    if ((await this.lookUp(identifier)).length === 0) return { id: identifier, isShown: true, why: null }
    const why = `another listing has ${identifier} as its MLSNumber, and a service that does not heed KeyType would take that`
    return { id: null, isShown: true, why }
  }

  /** Deletes by MLSNumber until no look-up shows it. Gives the first answer; throws where it can't be had off. */
  async remove(mlsNumber: string): Promise<Reply<number>> {
    const first = await this.#calls.remove('MLSNumber', [mlsNumber])
    // One Delete may take one of several rows.
    for (let time = 1; ; time++) {
      if (await this.isGone(mlsNumber)) {
        // What was never listed is not gone for not being listed: only the count says that the Delete found it.
        const isCounted = first.taken && first.value > 0
        if (this.#unseen.delete(mlsNumber) && !isCounted) this.#lost.set(mlsNumber, this.#clock.now())
        return first
      }
      if (time === 4) break
      await this.#calls.remove('MLSNumber', [mlsNumber])
    }
    const said = first.taken ? `its Delete counted ${first.value}` : `its Delete was refused (${first.message})`
    throw new ServiceError('refused', `${mlsNumber} is still listed after four Deletes: ${said}`)
  }

  /** Forgets that a sentinel may appear: it was found under another MLSNumber. */
  settle(mlsNumber: string): void {
    this.#lost.delete(mlsNumber)
  }

  /** Waits until no row is shown. */
  async isGone(mlsNumber: string): Promise<boolean> {
    const { missed } = await this.awaitRows(mlsNumber, (rows) => rows.length === 0)
    if (missed > pauses.length) return false
    this.#there.delete(mlsNumber)
    this.#identifiers.delete(mlsNumber)
    return true
  }

  /** Removes whatever may be there; never throws. Gives what could not be removed, with the reason. */
  async removeAll(): Promise<Map<string, string>> {
    const left = new Map<string, string>()
    for (const mlsNumber of this.#there) {
      try {
        await this.remove(mlsNumber)
      } catch (error) {
        left.set(mlsNumber, messageOf(error))
      }
    }
    return left
  }
}
