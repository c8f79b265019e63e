/** A way to break the program (fault-model 4.4). */
export interface Mutant {
  name: string
  file: string
  /** Must be in the file exactly once. */
  from: string
  to: string
  /** Where one place is not enough. */
  also?: readonly { from: string; to: string }[]
}
