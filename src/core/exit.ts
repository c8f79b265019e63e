export type RunResult = 'ok' | 'changes' | 'held' | 'partial' | 'failed'

/** Exit statuses of the program (docs/commands.md). */
export const exitStatus = {
  right: 0,
  failed: 1,
  changes: 2,
  held: 3,
  partial: 4,
  usage: 64,
  configuration: 78,
} as const

/** The exit status of several runs: failed, then held, then (dry run) changes, then partial. */
export function exitStatusOf(results: readonly RunResult[]): number {
  const order = ['failed', 'held', 'changes', 'partial'] as const
  const worst = order.find((result) => results.includes(result))
  return worst === undefined ? exitStatus.right : exitStatus[worst]
}
