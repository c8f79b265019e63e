/** Metrics as Prometheus' text exposition, in the form that the textfile collector of its node exporter reads. */

import { noOutcomes } from '../core/outcome.ts'
import { noCounts } from '../plan/change.ts'

/** The figures of one feed. Times in milliseconds since the epoch; null: never, or not known. */
export interface FeedMetrics {
  feed: string
  chatbot: string
  lastRun: {
    at: number
    seconds: number
    result: string
    changes: Readonly<Record<string, number>>
    outcomes: Readonly<Record<string, number>>
    calls: Readonly<Record<string, number>>
    records: number | null
    bytes: number | null
  } | null
  lastSuccess: number | null
  /** Last delivery that was complete and not doubted. */
  lastAccepted: number | null
  /** When the last accepted delivery was written, by its own word or the server's. */
  written: number | null
  listings: number
  /** Listings of which anything is held. */
  held: number
  /** By rule of the guard, how many listings wait for something that it holds. */
  heldByRule: Readonly<Record<string, number>>
  lastVerified: { at: number; agreed: number; disagreed: number; unanswered: number; tokens: number } | null
}

type Sample = [labels: Record<string, string>, value: number]

export const results = ['ok', 'held', 'partial', 'failed']
export const kinds = Object.keys(noCounts)
export const outcomeNames = Object.keys(noOutcomes)
const verdicts = ['agreed', 'disagreed', 'unanswered'] as const

const single = (value: number | null | undefined): Sample[] => (value == null ? [] : [[{}, value]])
const seconds = (at: number | null | undefined): Sample[] => single(at == null ? null : at / 1000)
const each = (label: string, values: Readonly<Record<string, number>> = {}): Sample[] =>
  Object.entries(values).map(([name, value]) => [{ [label]: name }, value])

/** Metrics by name: the help text, and the samples of one feed. */
const families: Readonly<Record<string, [help: string, samples: (feed: FeedMetrics) => Sample[]]>> = {
  feed_info: ['The chatbot that a feed fills.', ({ chatbot }) => [[{ chatbot }, 1]]],
  last_run_timestamp_seconds: ['When the last run ended.', ({ lastRun }) => seconds(lastRun?.at)],
  last_success_timestamp_seconds: [
    'When the last run ended that did not fail.',
    ({ lastSuccess }) => seconds(lastSuccess),
  ],
  last_accepted_delivery_timestamp_seconds: [
    'When the last delivery was read that was complete and not doubted by the guard.',
    ({ lastAccepted }) => seconds(lastAccepted),
  ],
  last_run_result: [
    'What the last run came to: 1 for its result, 0 for the others.',
    ({ lastRun }) =>
      lastRun === null ? [] : results.map((result): Sample => [{ result }, lastRun.result === result ? 1 : 0]),
  ],
  last_run_duration_seconds: ['How long the last run took.', ({ lastRun }) => single(lastRun?.seconds)],
  last_run_records: ['Records in the delivery of the last run.', ({ lastRun }) => single(lastRun?.records)],
  last_run_bytes: ['Bytes of that delivery, after decompression.', ({ lastRun }) => single(lastRun?.bytes)],
  delivery_written_timestamp_seconds: [
    'When the last delivery that was carried out says that it was written.',
    ({ written }) => seconds(written),
  ],
  last_run_changes: [
    'Changes that the last run planned, by kind; hold, unchanged and reject (records) are among them.',
    ({ lastRun }) => each('kind', lastRun?.changes),
  ],
  last_run_outcomes: [
    'What became of the changes of the last run.',
    ({ lastRun }) => each('outcome', lastRun?.outcomes),
  ],
  last_run_calls: [
    'Calls that the last run sent to the service, repetitions included.',
    ({ lastRun }) => each('operation', lastRun?.calls),
  ],
  listings: ['Listings on the service that are of this feed.', ({ listings }) => single(listings)],
  held_changes: ['Changes that are held now, of each listing one.', ({ held }) => single(held)],
  held: [
    'Changes that the guard holds and that nobody has approved, of each listing one, by rule; 0 where a rule holds nothing.',
    ({ heldByRule }) => each('rule', heldByRule),
  ],
  last_verify_timestamp_seconds: [
    'When the last run ended after which the chatbot was asked.',
    ({ lastVerified }) => seconds(lastVerified?.at),
  ],
  last_verify_listings: [
    'Listings that the chatbot was asked about then, by what it said.',
    ({ lastVerified }) =>
      lastVerified === null ? [] : verdicts.map((verdict): Sample => [{ verdict }, lastVerified[verdict]]),
  ],
  last_verify_tokens: ['Tokens that these questions took.', ({ lastVerified }) => single(lastVerified?.tokens)],
}

/**
 * The whole file. Families without a sample are left out, as the format wants. `isConfigRefused`: a changed configuration was
 * not taken.
 */
export function exposition(figures: { feeds: readonly FeedMetrics[]; isConfigRefused: boolean }): string {
  const { feeds, isConfigRefused } = figures
  let text =
    '# HELP listing_sync_config_refused 1: the configuration was changed and has problems; the one before is in use.\n' +
    `# TYPE listing_sync_config_refused gauge\nlisting_sync_config_refused ${isConfigRefused ? 1 : 0}\n`
  for (const [name, [help, samples]] of Object.entries(families)) {
    const lines = feeds.flatMap((feed) =>
      samples(feed).map(
        ([labels, value]) => `listing_sync_${name}${braced({ feed: feed.feed, ...labels })} ${value}\n`,
      ),
    )
    if (lines.length === 0) continue
    text += `# HELP listing_sync_${name} ${help}\n# TYPE listing_sync_${name} gauge\n${lines.join('')}`
  }
  return text
}

function braced(labels: Record<string, string>): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')}}`
}

/** Backslash, quote and line feed, as the format says; other control characters would only garble a page. */
function escaped(value: string): string {
  return value
    .toWellFormed()
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)
}
