/** Two ways to look at bytes on their way. */

/** The first bytes as a copy, and all of them in order; `close` where they are not read to their end. */
export async function beginning(source: AsyncIterable<Buffer>, size: number) {
  const iterator = source[Symbol.asyncIterator]()
  const parts: Buffer[] = []
  let length = 0
  let done = false
  while (length < size && !done) {
    const next = await iterator.next()
    if (next.done) done = true
    else {
      // A block may be filled anew (`Opened.bytes`).
      parts.push(Buffer.from(next.value))
      length += next.value.length
    }
  }
  const head = Buffer.concat(parts)
  async function* bytes(): AsyncGenerator<Buffer> {
    try {
      if (head.length > 0) yield head
      for (let next = done ? null : await iterator.next(); next && !next.done; next = await iterator.next())
        yield next.value
    } finally {
      await iterator.return?.()
    }
  }
  const close = async (): Promise<void> => void (await iterator.return?.())
  return { head, whole: done, bytes: bytes(), close }
}

/** The bytes as they pass, counted. */
export function counting(source: AsyncIterable<Buffer>): { bytes: AsyncIterable<Buffer>; count: () => number } {
  let count = 0
  async function* bytes(): AsyncGenerator<Buffer> {
    for await (const block of source) {
      count += block.length
      yield block
    }
  }
  return { bytes: bytes(), count: () => count }
}
