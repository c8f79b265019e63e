/** Runs of one chatbot take turns; a feed never waits behind itself. */
export class Turns {
  #last = new Map<string, Promise<void>>()
  #feeds = new Set<string>()

  has(feed: string): boolean {
    return this.#feeds.has(feed)
  }

  /** Runs a job of a feed once its chatbot is free. The job must not throw. */
  take({ name, chatbot }: { name: string; chatbot: string }, job: () => Promise<void>): void {
    this.#feeds.add(name)
    const turn = (this.#last.get(chatbot) ?? Promise.resolve()).then(job).finally(() => this.#feeds.delete(name))
    this.#last.set(chatbot, turn)
  }

  async idle(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}
