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
/** Node's module is loaded at the first call: packages that most commands load import it, and with it comes half of the network. */
const childProcess = /^(?:node:)?child_process$/
const calledLate = ['execFileSync', 'fork', 'spawn']
const late = {
  name: 'late',
  resolveId: (id) => (childProcess.test(id) ? '\0child_process' : null),
  load: (id) =>
    id === '\0child_process'
      ? `const late = (name) => (...given) => process.getBuiltinModule('child_process')[name](...given)
         ${calledLate.map((name) => `export const ${name} = late('${name}')`).join('\n')}
         export default { ${calledLate.join()} }`
      : null,
  renderChunk: loadLate,
}
/**
 * Modules that a command may never call, though what it loads imports them: of Node, and packages in files of their own. They
 * are loaded at their first call.
 */
const lateInNode = 'crypto|os|readline/promises|timers/promises|zlib'
const latePackages = {
  child: /^\0child_process$/,
  cron: /node_modules\/node-cron\//,
  entities: /node_modules\/@nodable\/entities\//,
  pino: /node_modules\/(?:@pinojs|atomic-sleep|on-exit-leak-free|pino|pino-std-serializers|quick-format-unescaped|safe-stable-stringify|sonic-boom|thread-stream)\//,
}
const imports = new RegExp(
  `^(?:let|const) ([\\w$]+) = require\\("(?:node:(?:${lateInNode})|\\./(?:${Object.keys(latePackages).join('|')})-[^"]+)"\\);$`,
  'gm',
)
/** In place of a variable that holds the module, a call that gives it; the same for what is made of one of CommonJS. */
function loadLate(code) {
  let late = code
  const names = [...code.matchAll(imports)].map(([, name]) => name)
  for (let name; (name = names.pop()) !== undefined;) {
    const word = name.replaceAll('$', '\\$')
    late = late
      .replace(
        new RegExp(`^(?:let|const|var) ${word} = (?=\\S+;$)`, 'm'),
        `let made_${name.replaceAll('$', '$$$$')}; const ${name.replaceAll('$', '$$$$')} = () => made_${name.replaceAll('$', '$$$$')} ??= `,
      )
      .replaceAll(new RegExp(`(?<![\\w$]|(?<!\\.\\.)\\.)${word}\\.`, 'g'), () => `(${name}()).`)
    const made = new RegExp(`^var (import_[\\w$]+) = \\(${word}\\(\\)\\)\\.\\w+\\(\\);$`, 'm').exec(late)
    if (made !== null) names.push(made[1])
  }
  return late
}
const bundle = await rolldown({
  input: Object.fromEntries(entries.map(([name, path]) => [name, source(path)])),
  platform: 'node',
  external: (id, importer) =>
    /^[^./\0]/.test(id) && !childProcess.test(id) && !inlined.test(id) && !importer?.includes('/node_modules/'),
  plugins: [late],
})
// All in one folder, two below the package's own: it finds its files by where a module lies. CommonJS, as an import of one of
// Node's modules reads all that it exports, and so loads what it would load later or never.
const names = { entryFileNames: '[name].cjs', chunkFileNames: '[name]-[hash].cjs' }
/** What a module imports in the end, itself included; not what it imports when it needs it. */
function allOf(id, context, found = new Set()) {
  if (found.has(id)) return found
  found.add(id)
  for (const one of context.getModuleInfo(id)?.importedIds ?? []) allOf(one, context, found)
  return found
}
/** A file for what every command loads, and one for what most do: to find and read a small file takes longer than to run it. */
const shared = Object.entries({ every: source('main.ts'), most: source('commands/status.ts') }).map(
  ([debugName, first]) => {
    let all = null
    const name = (id, context) => (id !== first && (all ??= allOf(first, context)).has(id) ? debugName : null)
    return { debugName, name }
  },
)
const apart = Object.entries(latePackages).map(([name, test]) => ({ name, test }))
const groups = [...apart, ...shared].map((group, at) => ({ ...group, priority: 100 - at }))
await bundle.write({ dir: folder, format: 'cjs', ...names, codeSplitting: { groups } })
