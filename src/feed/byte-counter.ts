/** Counts the bytes of a document as they pass. */
export class ByteCounter implements AsyncIterable<Buffer> {
  bytes = 0
  #source: AsyncIterable<Buffer>

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for await (const chunk of this.#source) {
      this.bytes += chunk.length
      yield chunk
    }
  }
}
