/** A way to break the program. */
export interface Mutant {
  name: string
  file: string
  /** Must be in the file exactly once. */
  from: string
  to: string
  /** A test that fails with it, of what random histories hardly meet: `file › name`. */
  test?: string
  /** The file that runs it, where it is of a shared suite. */
  runs?: string
  /** Where one place is not enough; in `file`, unless another is named. */
  also?: readonly { file?: string; from: string; to: string }[]
}

/** Every place that a mutant changes. */
export function placesOf({ file, from, to, also = [] }: Mutant): { file: string; from: string; to: string }[] {
  return [{ file, from, to }, ...also.map((place) => ({ file, ...place }))]
}
