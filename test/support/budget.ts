/**
 * Holds the fast tests to what they may cost: two minutes on two processors, or four on one. A reporter of vitest that
 * tells what they cost and fails the run where it is too much. Only processor time counts, measured against a fixed piece
 * of work on the same machine in the same moment, so that neither a slow nor a busy machine fails anything.
 */
import type { Reporter, TestModule } from 'vitest/node'
import { usualReference } from './cost.ts'
import type { Cost } from './cost.ts'

/** Seconds of processor time, of the machine that it was set on. */
const budget = 240
/** What one file may take before it is named: it is likely to hold a test that is a slow one. */
const large = 5
const mostNamed = 10

export default class Budget implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const costs = modules.flatMap((module) => {
      const { cost } = module.meta()
      return cost === undefined ? [] : [{ file: module.relativeModuleId, cost }]
    })
    if (costs.length === 0) return
    const slowness = median(costs.map(({ cost }) => cost.reference)) / usualReference
    const secondsOf = ({ milliseconds }: Cost): number => milliseconds / slowness / 1000
    const seconds = costs.reduce((sum, { cost }) => sum + secondsOf(cost), 0)
    const most = costs
      .map(({ file, cost }) => ({ file, seconds: secondsOf(cost) }))
      .filter((entry) => entry.seconds > large)
      .toSorted((a, b) => b.seconds - a.seconds)
      .slice(0, mostNamed)
    const named = most.map((entry) => `\n  ${entry.seconds.toFixed(1)} s  ${entry.file}`).join('')
    const machine = `this machine takes ${slowness.toFixed(2)} times as long for the same`
    console.log(`These tests cost ${seconds.toFixed(0)} of ${budget} s of processor time (${machine}).${named}\n`)
    if (seconds <= budget) return
    console.error('That is over their budget: make some cheaper, or call them *.slow.test.ts (test/README.md).')
    process.exitCode = 1
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}
