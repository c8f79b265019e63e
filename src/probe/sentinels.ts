/**
 * Creates, changes, looks up and removes the sentinels of one probe. No other listing is touched: calls use an MLSNumber that
 * only a sentinel has, or an identifier that a look-up has just shown on a sentinel's row (`certainId`).
 */
import { messageOf, ServiceError } from '../core/errors.ts'
import type { Listing } from '../core/listing.ts'
import type { Clock } from '../core/machine.ts'
import type { ListItem } from '../service/canonical.ts'
import type { Calls, How, Refusal, Reply } from './calls.ts'
import { idOf, markerUrl, mlsNumberOf, textOf, wholeListing } from './sentinel-listing.ts'
import type { SentinelNames } from './sentinel-listing.ts'

/** Pauses between look-ups, in milliseconds, as a list may lag. */
const pauses = [250, 500, 1000, 1000, 2000, 2000, 2000, 2000]

export interface Sight {
  /** Every row with the MLSNumber; empty: it did not appear in time. */
  rows: ListItem[]
  /** Look-ups before it appeared. */
  missed: number
  /** From the answer to the write until it appeared. */
  milliseconds: number
}

/** The result of one Update of a sentinel: listed, refused, or (both null) accepted and never listed. */
export interface Tried {
  row: ListItem | null
  refusal: Refusal | null
  sent: Pick<Listing, 'MLSNumber'>
}

/** An ID that may be used as NativeId, or why there is none; `isShown`: whether the list's ID is that from Create. */
export type CertainId = { id: string; isShown: true; why: null } | { id: null; isShown: boolean | null; why: string }

export class Sentinels {
  readonly names: SentinelNames
  /** Whether an Update creates a missing row; null: not known yet. */
  updatesCreate: boolean | null = null
  readonly #calls: Calls
  readonly #clock: Clock
  /** Whether one was created and never listed, perhaps because it has another MLSNumber. */
  wasUnseen = false
  #writes = 0
  /** MLSNumbers that may have a row. */
  readonly #there = new Set<string>()
  /** Identifiers from Create of listed rows, by MLSNumber; the latest, if there are several rows. */
  readonly #identifiers = new Map<string, string | null>()
  /** Created and never listed. */
  readonly #unseen = new Set<string>()
  /** Without a definite answer to Create, with its time. */
  readonly #lost = new Map<string, number>()

  constructor(names: SentinelNames, calls: Calls, clock: Clock) {
    this.names = names
    this.#calls = calls
    this.#clock = clock
  }

  /** MLSNumbers, with a time, whose row may appear later: Create had no definite answer, or it was neither listed nor counted when deleted. */
  get lost(): ReadonlyMap<string, number> {
    return this.#lost
  }

  /** Whether a sentinel was created, listed and not removed since. */
  has(number: number): boolean {
    return this.#identifiers.has(this.names.mlsNumber(number))
  }

  /** The identifier from Create; null: the answer was lost. */
  identifier(number: number): string | null {
    return this.#identifiers.get(this.names.mlsNumber(number)) ?? null
  }

  /** The number of the next write, for `requiredFields` and `wholeListing`. */
  nextWrite(): number {
    return ++this.#writes
  }

  /** Adds sentinels left by an earlier probe, for `removeAll`. */
  take(mlsNumbers: Iterable<string>): void {
    for (const mlsNumber of mlsNumbers) this.#there.add(mlsNumber)
  }

  /**
   * Creates a row. After a lost answer it looks the row up, and the identifier is null. Throws if the result is uncertain.
   */
  async create(body: Pick<Listing, 'MLSNumber' | 'Url'>, how?: How): Promise<Reply<string | null>> {
    const isNew = !this.#there.has(body.MLSNumber)
    this.#there.add(body.MLSNumber)
    try {
      const reply = await this.#calls.create(body, how)
      // After a refused second Create, the first row is still there.
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

  /** Creates a new one and waits until it is listed. */
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

  /** Updates by MLSNumber. If the service may create a missing row, a lost answer is treated like that of a Create. */
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

  /** Updates a sentinel with the body for this write, and waits until it is listed. */
  async trySend(number: number, body: (write: number) => Tried['sent'], how?: How): Promise<Tried> {
    const write = this.nextWrite()
    const sent = { ...body(write) }
    const reply = await this.update(sent, how)
    if (!reply.taken) return { row: null, refusal: reply, sent }
    return { row: await this.awaitWrite(number, write), refusal: null, sent }
  }

  /** The same with all fields and some changes. */
  tryUpdate(number: number, changes: object, how?: How): Promise<Tried> {
    return this.trySend(number, (write) => ({ ...wholeListing(this.names, number, write), ...changes }), how)
  }

  /** Every row with exactly this MLSNumber. Throws `ServiceError` if the pages contradict each other. */
  async lookUp(mlsNumber: string): Promise<ListItem[]> {
    let rows: ListItem[] = []
    const reset = (): void => void (rows = [])
    const add = (items: ListItem[]): void => void rows.push(...items.filter((item) => mlsNumberOf(item) === mlsNumber))
    const { complete, reasons } = await this.#calls.walk({ MLSNumber: mlsNumber }, { reset, add })
    if (complete) return rows
    throw new ServiceError('transient', `the look-up of a test listing is incomplete: ${reasons.join(' ')}`)
  }

  /** Looks up for some ten seconds until the rows are as wanted; no rows if they never were. */
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

  /** Waits until this write is listed on a row of the sentinel; null: it never was. */
  async awaitWrite(number: number, write: number): Promise<ListItem | null> {
    const url = markerUrl(this.names, number, write)
    const isIt = (row: ListItem): boolean =>
      textOf(row, 'Url') === url || Number(textOf(row, 'DaysOnMarket')) === 1000 + write
    const { rows } = await this.awaitRows(this.names.mlsNumber(number), (found) => found.some(isIt))
    return rows.find(isIt) ?? null
  }

  /**
   * The ID of a row, if it certainly belongs to a sentinel: Create returned it, and a look-up now shows it on a row of this
   * MLSNumber. So it is a sentinel's whether NativeId means the identifier from Create or the ID of List; an ID from the list
   * alone may be another listing's identifier. It must also not be the MLSNumber of a listing, in case KeyType is ignored.
   */
  async certainId(mlsNumber: string, identifier: string | null): Promise<CertainId> {
    if (identifier === null) return { id: null, isShown: null, why: 'the answer to Create was lost' }
    const ids = (await this.lookUp(mlsNumber)).map(idOf)
    if (!ids.includes(identifier)) {
      const shown = ids.join(', ') || 'none'
      const why = `the list's ID (${shown}) differs from the identifier from Create (${identifier}), and either may belong to another listing`
      return { id: null, isShown: false, why }
    }
    if ((await this.lookUp(identifier)).length === 0) return { id: identifier, isShown: true, why: null }
    const why = `another listing has the MLSNumber ${identifier}, which a service that ignores KeyType would use`
    return { id: null, isShown: true, why }
  }

  /** Deletes by MLSNumber until no look-up shows it. Returns the first answer; throws if it can't be removed. */
  async remove(mlsNumber: string): Promise<Reply<number>> {
    const first = await this.#calls.remove('MLSNumber', [mlsNumber])
    // One Delete may remove only one of several rows.
    for (let time = 1; ; time++) {
      if (await this.isGone(mlsNumber)) {
        // If it was never listed, only the count shows that the Delete found it.
        const isCounted = first.taken && first.value > 0
        if (this.#unseen.delete(mlsNumber) && !isCounted) this.#lost.set(mlsNumber, this.#clock.now())
        return first
      }
      if (time === 4) break
      await this.#calls.remove('MLSNumber', [mlsNumber])
    }
    const result = first.taken ? `its Delete counted ${first.value}` : `its Delete was refused (${first.message})`
    throw new ServiceError('refused', `${mlsNumber} is still listed after four Deletes: ${result}`)
  }

  /** A sentinel was found under another MLSNumber, so it will not appear. */
  settle(mlsNumber: string): void {
    this.#lost.delete(mlsNumber)
  }

  /** Waits until no row is listed. */
  async isGone(mlsNumber: string): Promise<boolean> {
    const { missed } = await this.awaitRows(mlsNumber, (rows) => rows.length === 0)
    if (missed > pauses.length) return false
    this.#there.delete(mlsNumber)
    this.#identifiers.delete(mlsNumber)
    return true
  }

  /** Removes everything; never throws. Returns what could not be removed, with the reason. */
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
