/** Marks what `inspect --init` leaves for a person to fill in. A configuration with it is refused. */
export const unfinished = '?'

/** A problem for each place that still has it. */
export function unfinishedProblems(options: object): string[] {
  return Object.entries(options).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && key !== 'where'
      ? Object.entries(value).flatMap(([name, inner]) => (holds(inner) ? [`${key}.${name}: ${problem}`] : []))
      : holds(value)
        ? [`${key}: ${problem}`]
        : [],
  )
}

const problem = `is not filled in yet: the feed does not say it; replace "${unfinished}"`

/** In these a question mark may be meant. */
const textKeys = ['missing', 'separator', 'split', 'after', 'prefix']

function holds(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === unfinished
  return Object.entries(value).some(([key, inner]) => !textKeys.includes(key) && holds(inner))
}
