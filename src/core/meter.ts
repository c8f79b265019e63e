/** What is measured of calls to services, by whoever wants to know. Labels are words of few values, never a listing's. */
export interface Meter {
  /** One attempt of a call was answered, or was not, after so many seconds. */
  called(operation: string, answer: string, seconds: number): void
  /** A call waited so many seconds for its turn. */
  waited(seconds: number): void
}
