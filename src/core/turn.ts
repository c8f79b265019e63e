/** Times between runs, and turns that come at regular times, each at an instant that its key decides, so that not all come at once. */

/** Milliseconds by which a scheduled run may begin earlier than the one before: a span between runs may be that much shorter. */
export const slack = 5 * 60_000

/** The latest time since which so many milliseconds have passed, but for `slack`. Of a short time that would leave nothing: a hundredth at most. */
export const passedSince = (span: number, now: number): number => now - span + Math.min(slack, span / 100)

/** Whether so many milliseconds have passed between two runs, but for `slack`. */
export const hasPassed = (since: number, span: number, now: number): boolean => since <= passedSince(span, now)

/** The first turn of `key` after `at`, if one comes every so many milliseconds. */
export function nextTurn(key: string, at: number, every: number): number {
  const offset = Math.floor(shareOf(key) * every)
  return (Math.floor((at - offset) / every) + 1) * every + offset
}

/** A share in [0, 1) that the key decides: evenly spread, and always the same. */
function shareOf(key: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  const mixed = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  return (mixed >>> 0) / 2 ** 32
}
