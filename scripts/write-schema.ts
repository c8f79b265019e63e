/** Writes config/schema.json from the zod schema of the configuration. Run it with `npm run schema`. */
import { writeFileSync } from 'node:fs'
import { configJsonSchema } from '../src/config/schema.ts'

const file = new URL('../config/schema.json', import.meta.url)
writeFileSync(file, `${JSON.stringify(configJsonSchema(), null, 2)}\n`)
