/**
 * Every decision of a history: drawn from its seed by name and running number, so that masking one leaves the others
 * as they are, and the shortest history that still fails can be looked for.
 */
export class Choices {
  readonly seed: number
  /** The mishaps that happened, by name and running number. */
  readonly happened: string[] = []
  readonly #masked: ReadonlySet<string>
  readonly #counts = new Map<string, number>()
  #part = ''

  constructor(seed: number, masked: ReadonlySet<string> = new Set()) {
    this.seed = seed
    this.#masked = masked
  }

  /** From now on decisions are those of this part of the history: leaving out another part leaves them as they are. */
  part(name: string): void {
    this.#part = `${name}: `
  }

  /** Whether a mishap happens: with probability `share`, and never where it is masked. */
  mishap(name: string, share: number): boolean {
    const named = this.#part + name
    const number = this.#count(named)
    if (share <= 0 || unit(this.seed, named, number) >= share) return false
    const id = `${named} ${number}`
    if (this.#masked.has(id)) return false
    this.happened.push(id)
    return true
  }

  /** A number in [0, 1). */
  unit(name: string): number {
    const named = this.#part + name
    return unit(this.seed, named, this.#count(named))
  }

  /** A whole number from `least` to `most`. */
  integer(name: string, least: number, most: number): number {
    return least + Math.floor(this.unit(name) * (most - least + 1))
  }

  pick<Value>(name: string, values: readonly Value[]): Value {
    return values[Math.floor(this.unit(name) * values.length)]
  }

  #count(name: string): number {
    const number = this.#counts.get(name) ?? 0
    this.#counts.set(name, number + 1)
    return number
  }
}

/** A number in [0, 1) that depends on all three and on nothing else (FNV-1a and the finaliser of MurmurHash3). */
function unit(seed: number, name: string, number: number): number {
  let hash = 0x811c9dc5 ^ Math.imul(seed + 1, 0x9e3779b1)
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ number, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 15) ^ Math.imul(number + 1, 0x27d4eb2f), 0x165667b1)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
