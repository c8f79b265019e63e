/** Holds answers of a stand-in back until a test lets them go: `startStandIn({ delay: gate.pass })` and a fault `slow`. */
export class Gate {
  readonly #opened = Promise.withResolvers<void>()

  /** A pause of the stand-in: over once the gate is open, however long it was to be. */
  readonly pass = (): Promise<void> => this.#opened.promise

  open(): void {
    this.#opened.resolve()
  }
}
