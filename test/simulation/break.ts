/**
 * `node --import ./test/simulation/break.ts …` with SIMULATION_MUTANT=NAME: the program is loaded with that one defect of
 * `mutants` in it. Nothing is written: its files are patched as they are read.
 */
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { brokenSources } from './mutants.ts'

const sources = new Map([...brokenSources()].map(([path, text]) => [pathToFileURL(path).href, text]))
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    return { ...loaded, source: sources.get(url) ?? loaded.source }
  },
})
