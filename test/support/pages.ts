/** Rows as a store gives them: in pages that are waited for, of which one may be empty. */
export async function* inPages<Row>(rows: readonly Row[], size = 1000): AsyncGenerator<readonly Row[]> {
  yield []
  for (let start = 0; start < rows.length; start += size) yield rows.slice(start, start + size)
}

/** All rows of all pages. */
export async function flattened<Row>(pages: AsyncIterable<readonly Row[]>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const page of pages) rows.push(...page)
  return rows
}
