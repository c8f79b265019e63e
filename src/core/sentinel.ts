/** How the test listings of `probe` are known: by nobody but `probe` are they created, changed or removed. */
/** What the MLSNumber of every test listing of `probe` begins with. */
export const sentinelPrefix = 'listing-sync-probe-'

/** Whether an MLSNumber is one that `probe` invents. Such a listing is `probe`'s alone to remove, whoever the chatbot belongs to. */
export function isSentinel(mlsNumber: string): boolean {
  return (
    mlsNumber.startsWith(sentinelPrefix) && /^[\w.-]+-[0-9a-f]{12}-\d$/.test(mlsNumber.slice(sentinelPrefix.length))
  )
}
