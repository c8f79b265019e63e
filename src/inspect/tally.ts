import { messageOf } from '../core/errors.ts'
import { fieldRules } from '../core/listing.ts'
import type { Delivered, Problem } from '../core/listing.ts'
import { printable, shorten } from '../core/text.ts'
import type { Findings, RejectFacts } from './findings.ts'

const mostReasons = 200
const mostWords = 200
const mostExamples = 3
const longestText = 200
const required: ReadonlySet<string> = new Set(fieldRules.flatMap((rule) => (rule.required ? [rule.name] : [])))

/** Counts the results of the records of a feed, reasons with examples, and words. Memory is bounded. */
export class Tally {
  readonly counts: Findings['counts'] = { listings: 0, removals: 0, filtered: 0, rejects: 0, lackingFactsOnly: 0 }
  moreWords = false
  #reasons = new Map<string, RejectFacts>()
  #leftOut = new Map<string, RejectFacts>()
  #removals = new Map<string, number>()
  #words = new Map<string, Map<string, number>>()
  #missing = new Map<string, number>()
  #kinds = new Map<string, Map<string, number>>()

  /** `kind`: the PropertyType of a record that only lacks values; null: it is not known. */
  add(delivered: Delivered, kind: string | null): void {
    if (delivered.kind === 'listing') {
      this.counts.listings++
      const { at, listing, unread = [] } = delivered
      for (const problem of unread) count(this.#leftOut, at, listing.MLSNumber, problem)
    } else if (delivered.kind === 'filtered') this.counts.filtered++
    else if (delivered.kind === 'removal') {
      this.counts.removals++
      raise(this.#removals, delivered.why, mostReasons)
    } else this.#reject(delivered, kind)
  }

  /** A word that no rule maps (`createMapping`). */
  readonly unmapped = (field: string, word: string): void => {
    const words = this.#words.get(field) ?? new Map<string, number>()
    this.#words.set(field, words)
    if (!raise(words, shorten(printable(word.slice(0, 1000)), longestText), mostWords)) this.moreWords = true
  }

  rejects(): RejectFacts[] {
    return [...this.#reasons.values()].toSorted((a, b) => b.count - a.count)
  }

  /** Values that can't be read and are left out of their listings. */
  leftOut(): RejectFacts[] {
    return [...this.#leftOut.values()].toSorted((a, b) => b.count - a.count)
  }

  removals(): { why: string; count: number }[] {
    return mostFirst(this.#removals, ([why, count]) => ({ why, count }))
  }

  words(): { field: string; words: { word: string; count: number }[] }[] {
    const words = [...this.#words].toSorted(([field], [other]) => (field < other ? -1 : 1))
    return words.map(([field, counts]) => ({ field, words: mostFirst(counts, ([word, count]) => ({ word, count })) }))
  }

  /** Required fields that records lack, with the number of these records. */
  missing(): { field: string; count: number; kinds: Record<string, number> }[] {
    return mostFirst(this.#missing, ([field, count]) => ({
      field,
      count,
      kinds: Object.fromEntries(this.#kinds.get(field) ?? []),
    }))
  }

  #reject({ at, mlsNumber, problems }: Extract<Delivered, { kind: 'reject' }>, kind: string | null): void {
    this.counts.rejects++
    if (lacksFactsOnly(problems)) this.counts.lackingFactsOnly++
    for (const problem of problems) {
      if (isLack(problem)) {
        raise(this.#missing, problem.field, mostReasons)
        const kinds = this.#kinds.get(problem.field) ?? new Map<string, number>()
        this.#kinds.set(problem.field, kinds)
        if (kind !== null) raise(kinds, kind, mostReasons)
      }
      count(this.#reasons, at, mlsNumber, problem)
    }
  }
}

/** Counts a problem with those that are alike. */
function count(
  reasons: Map<string, RejectFacts>,
  at: string,
  mlsNumber: string | null,
  { field, value, problem }: Problem,
): void {
  const sentence = generalised(field, problem, value)
  const key = `${field}\n${sentence}`
  const known = reasons.get(key)
  if (known === undefined && reasons.size >= mostReasons) return
  const reason: RejectFacts = known ?? { field, problem: sentence, count: 0, examples: [] }
  reasons.set(key, reason)
  reason.count++
  if (reason.examples.length < mostExamples) reason.examples.push({ at, mlsNumber, value })
}

/** The reject of a record that can't be parsed. */
export function unread(at: string, error: unknown): Delivered {
  const problems = [{ field: 'record', value: null, problem: messageOf(error) }]
  return { kind: 'reject', at, mlsNumber: null, problems }
}

/** Whether a problem is a missing required field. */
export function isLack({ field, value }: Problem): boolean {
  return value === null && required.has(field)
}

/** Whether a record was rejected only for missing fields. */
export function lacksFactsOnly(problems: readonly Problem[]): boolean {
  return problems.length > 0 && problems.every(isLack) && !problems.some(({ field }) => field === 'MLSNumber')
}

/**
 * Removes what is specific to one record (its value, `byte 17`, `13 cells`), so that equal reasons are counted together. Names such as
 * `windows-1252` stay.
 */
function generalised(field: string, problem: string, value: string | null): string {
  const bare = value === null || value === '' ? problem : problem.replaceAll(value, '…')
  return field === 'record' ? bare.replaceAll(/(?<![-\w])\d+/g, '…') : bare
}

function raise(counts: Map<string, number>, key: string, most: number): boolean {
  const known = counts.get(key)
  if (known === undefined && counts.size >= most) return false
  counts.set(key, (known ?? 0) + 1)
  return true
}

/** Counts as facts, most frequent first. */
function mostFirst<Fact>(counts: Map<string, number>, factOf: (entry: [string, number]) => Fact): Fact[] {
  return [...counts].toSorted(([, a], [, b]) => b - a).map(factOf)
}
