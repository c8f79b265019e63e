/** Measures calls to services. Labels have few values, and never a listing's. */
export interface Meter {
  /** One attempt of a call was answered, or ended without an answer, after so many seconds. */
  called(operation: string, answer: string, seconds: number): void
  /** A call waited so many seconds for its turn. */
  waited(seconds: number): void
}
