/**
 * What deltas said before the store was put back from a backup, and what was still to be done then: the state of the store that was
 * lost may have carried it out, or had a later word, such as that the home is sold. No delta says it again.
 */
import type { Trip } from '../plan/guard/rules.ts'
import type { Policy } from '../plan/guard/scales.ts'
import type { Delivery } from './delivery.ts'

/** The accident that holds it; null: there is none of it. `isFirst`: no run before this one has found the store put back. */
export function saidBefore(
  { own, outdated }: Pick<Delivery, 'own' | 'outdated'>,
  isFirst: boolean,
  { saysItself }: Policy,
): Trip | null {
  const isOutdated = (key: string): boolean => (isFirst ? !saysItself(key) : outdated.has(key))
  if (isFirst ? own === null : outdated.size === 0) return null
  return {
    name: 'older',
    setting: null,
    waitsFor: 'a delivery names these listings',
    isOfEarlier: true,
    label: 'said before the store was put back',
    numbers: {},
    sentence:
      'what earlier deliveries said before the store was put back may be out of date, as later ones are not in it',
    holds: ({ kind, mlsNumber }) => kind !== 'adopt' && kind !== 'forget' && isOutdated(mlsNumber),
  }
}
