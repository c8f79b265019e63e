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
  #removals = new Map<string, number>()
  #words = new Map<string, Map<string, number>>()
  #missing = new Map<string, number>()

  add(delivered: Delivered): void {
    if (delivered.kind === 'listing') this.counts.listings++
    else if (delivered.kind === 'filtered') this.counts.filtered++
    else if (delivered.kind === 'removal') {
      this.counts.removals++
      raise(this.#removals, delivered.why, mostReasons)
    } else this.#reject(delivered)
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

  removals(): { why: string; count: number }[] {
    return mostFirst(this.#removals, ([why, count]) => ({ why, count }))
  }

  words(): { field: string; words: { word: string; count: number }[] }[] {
    const words = [...this.#words].toSorted(([field], [other]) => (field < other ? -1 : 1))
    return words.map(([field, counts]) => ({ field, words: mostFirst(counts, ([word, count]) => ({ word, count })) }))
  }

  /** Required fields that records lack, with the number of these records. */
  missing(): { field: string; count: number }[] {
    return mostFirst(this.#missing, ([field, count]) => ({ field, count }))
  }

  #reject({ at, mlsNumber, problems }: Extract<Delivered, { kind: 'reject' }>): void {
    this.counts.rejects++
    if (lacksFactsOnly(problems)) this.counts.lackingFactsOnly++
    for (const { field, value, problem } of problems) {
      if (isLack({ field, value, problem })) raise(this.#missing, field, mostReasons)
      const sentence = generalised(field, problem, value)
      const key = `${field}\n${sentence}`
      const known = this.#reasons.get(key)
      if (known === undefined && this.#reasons.size >= mostReasons) continue
      const reason: RejectFacts = known ?? { field, problem: sentence, count: 0, examples: [] }
      this.#reasons.set(key, reason)
      reason.count++
      if (reason.examples.length < mostExamples) reason.examples.push({ at, mlsNumber, value })
    }
  }
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

/** Removes what is specific to one record (its value, `byte 17`, `13 cells`), so that equal reasons are counted together. */
function generalised(field: string, problem: string, value: string | null): string {
  const bare = value === null || value === '' ? problem : problem.replaceAll(value, '…')
  return field === 'record' ? bare.replaceAll(/\d+/g, '…') : bare
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
