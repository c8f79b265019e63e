/**
 * Tries something with a short timeout of real time and, where that fails, twice more with four times as much: on a busy
 * machine the timeout may strike before what it is to interrupt has begun. A defect fails each time.
 */
export async function withPatience(milliseconds: number, attempt: (timeout: number) => Promise<void>): Promise<void> {
  for (const timeout of [milliseconds, 4 * milliseconds]) {
    try {
      return await attempt(timeout)
    } catch {
      // Once more, with more time.
    }
  }
  return attempt(16 * milliseconds)
}
