/** Guards against JSON that is nested thousands deep. */

/** Far deeper than any service's answers. Code that walks a value nested thousands deep runs out of stack. */
export const deepestAnswer = 100

/** Whether a value that came as JSON is nested deeper than so many levels. */
export function isTooDeep(value: unknown, most = deepestAnswer): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (most === 0) return true
  if (Array.isArray(value)) return value.some((each) => isTooDeep(each, most - 1))
  const members = value as Record<string, unknown>
  for (const name in members) {
    const each = members[name]
    // Most values are texts and numbers: a call for each would cost more than all else here.
    if (typeof each === 'object' && isTooDeep(each, most - 1)) return true
  }
  return false
}
