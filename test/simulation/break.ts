/**
 * `node --import ./test/simulation/break.ts …` with SIMULATION_MUTANT=NAME: the program is loaded with that one defect of
 * `mutants` in it. Nothing is written: its files are patched as they are read.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { mutants, patched } from './mutants.ts'

const name = process.env['SIMULATION_MUTANT']
const mutant = mutants.find((one) => one.name === name)
if (mutant === undefined) throw new Error(`no mutant is named ${name}`)
const root = join(import.meta.dirname, '../..')
const broken = [...patched(mutant, (file) => readFileSync(join(root, file), 'utf8'))]
const sources = new Map(broken.map(([file, text]) => [pathToFileURL(join(root, file)).href, text]))
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    return { ...loaded, source: sources.get(url) ?? loaded.source }
  },
})
