/** The items in batches; the last one has the rest. `size` is called at each item. */
export function* batches<Item>(items: Iterable<Item>, size: () => number): Generator<Item[]> {
  let batch: Item[] = []
  for (const item of items) {
    if (batch.push(item) < size()) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
