// Part of the build: the command in few files, as Node takes longer to find, read and link hundreds of modules than to run most
// commands. `node scripts/bundle.mjs [FOLDER [name=module …]]`: with more ways in, for the bench.
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const [folder = 'dist/program', ...more] = process.argv.slice(2)
const source = (path) => fileURLToPath(new URL(`../src/${path}`, import.meta.url))
const entries = [['main', 'main.ts'], ...more.map((one) => one.split('='))]

/**
 * Packages that are taken in; all others are loaded as they are installed: what is made for the machine, what looks for files
 * of its own, what few commands use.
 */
const inlined =
  /^(?:@nodable\/entities|commander|fast-xml-parser|node-cron|p-limit|papaparse|pino|undici|yaml|yauzl|zod)(?:\/|$)/
const bundle = await rolldown({
  input: Object.fromEntries(entries.map(([name, path]) => [name, source(path)])),
  platform: 'node',
  external: (id, importer) => /^[^./]/.test(id) && !inlined.test(id) && !importer?.includes('/node_modules/'),
})
// All in one folder, two below the package's own: it finds its files by where a module lies.
await bundle.write({ dir: folder, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' })
