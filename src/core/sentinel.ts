/** The MLSNumber of every test listing of `probe` begins with this. */
export const sentinelPrefix = 'listing-sync-probe-'

/** Whether an MLSNumber is one of `probe`'s: only `probe` creates, changes and removes such listings. */
export function isSentinel(mlsNumber: string): boolean {
  return (
    mlsNumber.startsWith(sentinelPrefix) && /^[\w.-]+-[0-9a-f]{12}-\d$/.test(mlsNumber.slice(sentinelPrefix.length))
  )
}
