/** The one value of a key, made on first use: feeds that say the same share it. */
export function shared<T>(known: Map<string, T>, parts: unknown[], make: () => T): T {
  const key = JSON.stringify(parts)
  const value = known.get(key) ?? make()
  known.set(key, value)
  return value
}
