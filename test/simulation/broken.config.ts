/** `vitest run --config test/simulation/broken.config.ts …` with SIMULATION_MUTANT=NAME: tests of the program with that defect. */
import { join } from 'node:path'
import { mergeConfig } from 'vitest/config'
import config from '../../vitest.config.ts'
import { brokenSources } from './mutants.ts'

const sources = brokenSources()
export default mergeConfig(config, {
  root: join(import.meta.dirname, '../..'),
  // Modules that were read with another defect, or none, would be taken from there.
  test: { fsModuleCache: false },
  plugins: [{ name: 'broken', enforce: 'pre', load: (path: string) => sources.get(path) }],
})
