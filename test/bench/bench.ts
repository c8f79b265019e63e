/**
 * `npm run bench -- [case…] [--size N]`: each case prints ratios taken side by side in one run. Cases run
 * one after another, each in a process of its own, so that neither memory nor compiled code of one helps the next.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const cases = ['nochange-xml', 'nochange-csv', 'memory', 'rate', 'client', 'presets'] as const

const words = process.argv.slice(2)
const sizeAt = words.indexOf('--size')
const sizes = sizeAt < 0 ? [10_000, 100_000] : [Number(words[sizeAt + 1])]
const chosen = words.filter((word, index) => !word.startsWith('--') && (sizeAt < 0 || index !== sizeAt + 1))
const unknown = chosen.filter((word) => !(cases as readonly string[]).includes(word))
if (unknown.length > 0 || sizes.some((size) => !Number.isInteger(size) || size < 1)) {
  console.error(`usage: npm run bench -- [${cases.join(' | ')}] [--size N]`)
  process.exit(64)
}

const sized = new Set<string>(['nochange-xml', 'nochange-csv'])
let failed = false
for (const name of chosen.length > 0 ? chosen : cases) {
  const runs = name === 'memory' ? [sizes.join(',')] : sized.has(name) ? sizes.map(String) : ['']
  for (const size of runs) {
    const file = fileURLToPath(new URL(`./${name.startsWith('nochange') ? 'nochange' : name}.ts`, import.meta.url))
    const { status } = spawnSync(process.execPath, ['--expose-gc', file, name, size], { stdio: 'inherit' })
    failed ||= status !== 0
  }
}
process.exit(failed ? 1 : 0)
