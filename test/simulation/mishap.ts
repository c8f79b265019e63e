/** A mishap: something that goes wrong in one place of the world, as often as its chance says. None knows of another. */
import type { Choices } from './choices.ts'

export interface Mishap<Place> {
  readonly name: string
  /** A history draws one of them, or, mostly, none. */
  readonly chances: readonly number[]
  readonly happens: (place: Place) => void | Promise<void>
}

/** How often each mishap happens in one history, by name; what is not in it does not. */
export type Shares = Readonly<Record<string, number>>

/** Mishaps that every history is to have a share of: `--with NAME`. */
export const inEach = new Set<string>()

/** The chance of a mishap in a history. */
export function drawShare(choices: Choices, name: string, chances: readonly number[]): number {
  const drawn = inEach.has(name) ? chances.filter((share) => share > 0) : chances
  return choices.pick(`swarm ${name}`, drawn)
}

export function drawShares(choices: Choices, mishaps: readonly Mishap<never>[]): Shares {
  const drawn = mishaps.map(({ name, chances }) => [name, drawShare(choices, name, [0, 0, 0, ...chances])] as const)
  return Object.fromEntries(drawn.filter(([, share]) => share > 0))
}

/** Lets those of a place happen whose turn it is, one after the other. Where none takes time, all have happened at once. */
export async function letHappen<Place extends { readonly choices: Choices }>(
  mishaps: readonly Mishap<Place>[],
  shares: Shares,
  place: Place,
): Promise<void> {
  for (const { name, happens } of mishaps) {
    const done = place.choices.mishap(name, shares[name] ?? 0) ? happens(place) : undefined
    if (done !== undefined) await done
  }
}
