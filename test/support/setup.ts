/** Before the tests of each file: random tests begin with the same seed everywhere, and what the file costs is measured. */
import * as fc from 'fast-check'
import { afterAll } from 'vitest'
import { processorTime, referenceWork } from './cost.ts'
import { testSeed } from './random.ts'

fc.configureGlobal({ seed: testSeed() })

const before = processorTime()
// oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern, and takes no name in its place.
afterAll(({}, file) => {
  file.meta.cost = { milliseconds: processorTime() - before, reference: referenceWork() }
})
