/**
 * What deltas said before the store was put back from a backup, and what was still to be done then: the state of the store that was
 * lost may have carried it out, or had a later word, such as that the home is sold. No delta says it again.
 */
import type { Trip } from '../plan/guard/rules.ts'
import type { Policy } from '../plan/guard/scales.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Delivery } from './delivery.ts'

/** Under this name the store has the time up to which it was said, in milliseconds. */
export const saidBefore = (feed: string): string => `said to ${feed} before the store was put back`

/** The accident that holds it; null: there is none of it. `isFirst`: no run before this one has found the store put back. */
export function outdated(
  { own, outdated }: Pick<Delivery, 'own' | 'outdated'>,
  isFirst: boolean,
  { saysItself }: Policy,
  workspace: Workspace,
): Trip | null {
  const isOutdated = (key: string): boolean => (isFirst ? !saysItself(key) : workspace.isDelivered(key, outdated!))
  if (isFirst ? own === null : outdated === null) return null
  return {
    name: 'older',
    setting: null,
    ends: 'never',
    waitsFor: 'a delivery names these listings',
    isOfEarlier: true,
    label: 'said before the store was put back',
    numbers: {},
    sentence:
      'what earlier deliveries said before the store was put back may be out of date, as later ones are not in it',
    holds: ({ kind, mlsNumber }) => kind !== 'adopt' && kind !== 'forget' && isOutdated(mlsNumber),
  }
}
