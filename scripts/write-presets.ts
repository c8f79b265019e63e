// Part of the build: the presets, read and checked, so that no start has to.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { presetsToBuild } from '../src/config/presets.ts'

const [, , folder = 'dist/presets'] = process.argv
mkdirSync(folder, { recursive: true })
for (const [file, built] of presetsToBuild()) writeFileSync(join(folder, file), JSON.stringify(built))
