/** Metrics as Prometheus' text exposition, in the form that the textfile collector of its node exporter reads. */
/** What is told of one feed. Times in milliseconds since the epoch; null: never, or not known. */
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
  } | null
  lastSuccess: number | null
  /** Last delivery that was complete and not doubted. */
  lastAccepted: number | null
  listings: number
  held: number
  lastVerified: { at: number; agreed: number; disagreed: number; unanswered: number; tokens: number } | null
}

type Sample = [labels: Record<string, string>, value: number]

interface Family {
  name: string
  help: string
  samples: (feed: FeedMetrics) => Sample[]
}

const results = ['ok', 'held', 'partial', 'failed']

const seconds = (at: number | null | undefined): Sample[] => (at === null || at === undefined ? [] : [[{}, at / 1000]])
const each = (label: string, values: Readonly<Record<string, number>> = {}): Sample[] =>
  Object.entries(values).map(([name, value]) => [{ [label]: name }, value])

const families: readonly Family[] = [
  {
    name: 'feed_info',
    help: 'The chatbot that a feed fills.',
    samples: ({ chatbot }) => [[{ chatbot }, 1]],
  },
  {
    name: 'last_run_timestamp_seconds',
    help: 'When the last run ended.',
    samples: ({ lastRun }) => seconds(lastRun?.at),
  },
  {
    name: 'last_success_timestamp_seconds',
    help: 'When the last run ended that did not fail.',
    samples: ({ lastSuccess }) => seconds(lastSuccess),
  },
  {
    name: 'last_accepted_delivery_timestamp_seconds',
    help: 'When the last delivery was read that was complete and not doubted by the guard.',
    samples: ({ lastAccepted }) => seconds(lastAccepted),
  },
  {
    name: 'last_run_result',
    help: 'What the last run came to: 1 for its result, 0 for the others.',
    samples: ({ lastRun }) =>
      lastRun === null ? [] : results.map((result): Sample => [{ result }, lastRun.result === result ? 1 : 0]),
  },
  {
    name: 'last_run_duration_seconds',
    help: 'How long the last run took.',
    samples: ({ lastRun }) => (lastRun === null ? [] : [[{}, lastRun.seconds]]),
  },
  {
    name: 'last_run_records',
    help: 'Records in the delivery of the last run.',
    samples: ({ lastRun }) => (lastRun?.records == null ? [] : [[{}, lastRun.records]]),
  },
  {
    name: 'last_run_changes',
    help: 'Changes that the last run planned, by kind; hold, unchanged and reject (records) are among them.',
    samples: ({ lastRun }) => each('kind', lastRun?.changes),
  },
  {
    name: 'last_run_outcomes',
    help: 'What became of the changes of the last run.',
    samples: ({ lastRun }) => each('outcome', lastRun?.outcomes),
  },
  {
    name: 'last_run_calls',
    help: 'Calls that the last run sent to the service, repetitions included.',
    samples: ({ lastRun }) => each('operation', lastRun?.calls),
  },
  {
    name: 'listings',
    help: 'Listings on the service that are of this feed.',
    samples: ({ listings }) => [[{}, listings]],
  },
  { name: 'held_changes', help: 'Changes that are held now.', samples: ({ held }) => [[{}, held]] },
  {
    name: 'last_verify_timestamp_seconds',
    help: 'When the last run ended after which the chatbot was asked.',
    samples: ({ lastVerified }) => seconds(lastVerified?.at),
  },
  {
    name: 'last_verify_listings',
    help: 'Listings that the chatbot was asked about then, by what it said.',
    samples: ({ lastVerified }) =>
      lastVerified === null
        ? []
        : each('verdict', {
            agreed: lastVerified.agreed,
            disagreed: lastVerified.disagreed,
            unanswered: lastVerified.unanswered,
          }),
  },
  {
    name: 'last_verify_tokens',
    help: 'Tokens that these questions took.',
    samples: ({ lastVerified }) => (lastVerified === null ? [] : [[{}, lastVerified.tokens]]),
  },
]

/** The whole file. Families without a sample are left out, as the format wants. */
export function exposition(feeds: readonly FeedMetrics[]): string {
  let text = ''
  for (const { name, help, samples } of families) {
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
