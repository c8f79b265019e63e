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

const tooFew = 'no history is known to fail, but too few were played (test/README.md): 2,000 are asked for'

/** Mishaps that every history is to have a share of: `--with NAME`. */
export const inEach = new Set<string>()

/** Mishaps that no history plays by itself, and why. */
export const notYet: Record<string, string> = {
  'a backup of the store is put back':
    'where a list then hides a row of ours and shows it later, that counts as another program, and nothing is created for a day',
  'the clock is set': tooFew,
  'the disk of the store is full': tooFew,
  'feed spells MLSNumbers otherwise':
    'a home is shown twice where its create was approved alone, or the create replaces what is gone from the service',
  'the feed tells only what changed since the last delivery': tooFew,
  'a document without an end is cut at a line break': tooFew,
  'an update is confirmed and ignored': tooFew,
  'another daemon with a store of its own runs': 'without marks (ownership: snapshot) nothing tells of it',
}

/** The chance of a mishap in a history; 0 where it is not played yet. */
export function drawShare(choices: Choices, name: string, chances: readonly number[]): number {
  if (inEach.has(name)) {
    const some = chances.filter((share) => share > 0)
    return choices.pick(`swarm ${name}`, some)
  }
  const share = choices.pick(`swarm ${name}`, chances)
  return name in notYet ? 0 : share
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
