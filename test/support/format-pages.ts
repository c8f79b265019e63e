/** The pages of docs/formats, one for each preset, made from the preset and from what its fixture becomes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { presetDirectory, shippedPresets } from '../../src/config/presets.ts'
import { fieldRules } from '../../src/core/listing.ts'
import type { Delivered } from '../../src/core/listing.ts'
import { formats } from '../../src/feed/format/formats.ts'
import { fieldsRead } from '../../src/feed/mapping/fields-read.ts'
import type { Preset } from '../../src/feed/mapping/preset.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'docs/formats')
/** The preset of a source that is asked and not read. */
const live = 'reso-web-api'

/** Every page by its name in docs/formats, with the list of them as README.md. */
export function formatPages(): Map<string, string> {
  const presets = shippedPresets()
  const list = presets.map(
    ({ name, title, format }) =>
      `| [${title}](${name}.md) | \`${name}\` | ${name === live ? 'live API' : formats[format].title} |`,
  )
  const head = [
    '# Formats',
    '',
    'One page for each preset, made by `npm run formats` from the preset and its fixture.',
    '',
  ]
  const pages = new Map([
    ['README.md', [...head, '| format | preset | document |', '|---|---|---|', ...list, ''].join('\n')],
  ])
  for (const preset of presets) pages.set(`${preset.name}.md`, page(preset))
  return pages
}

/** Writes all of them. */
export function writeFormatPages(): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of formatPages()) writeFileSync(join(folder, name), text)
}

function page(preset: Preset): string {
  const { name, title, format, formatOptions, delivery, statuses } = preset
  const record = [formatOptions.record ?? []].flat()
  const places = record.length === 0 ? '' : `, a record is ${record.map((path) => `\`${path}\``).join(' or ')}`
  const written = formatOptions['written']
  const dated = typeof written === 'string' ? ` The file says when it was written (\`${written}\`).` : ''
  const absence =
    delivery === 'full' ? 'a listing that is missing in it is gone' : 'a listing that is missing in it says nothing'
  const unknown = fieldRules.flatMap((rule) =>
    rule.required && preset.fields[rule.name] === undefined ? [rule.name] : [],
  )
  return [
    `# ${title}`,
    '',
    `Preset \`${name}\`. ` +
      (name === live
        ? 'Answers of a live API, as XML; a walk of all its keys tells what is gone.'
        : `${formats[format].title}${places}; ${absence}.${dated}`),
    '',
    ...remarks(name),
    '## Fields',
    '',
    '| listing field | read from |',
    '|---|---|',
    ...fieldLines(preset),
    '',
    ...(unknown.length === 0
      ? []
      : [
          `What every listing needs and this format does not say: ${unknown.join(', ')}. Give it with \`fields\` or \`defaults\`.`,
          '',
        ]),
    ...statusLines(statuses),
    '## Its fixture',
    '',
    'Invented records in the shape of real files, with their errors.',
    '',
    ...fixtureLines(name),
    '',
  ].join('\n')
}

/** The remark at the top of the preset's file. */
function remarks(name: string): string[] {
  const lines = readFileSync(join(presetDirectory, `${name}.yaml`), 'utf8').split('\n')
  const end = lines.findIndex((line) => !line.startsWith('#'))
  const text = lines.slice(0, end).map((line) => line.slice(1).trim())
  return text.length === 0 ? [] : [text.join(' '), '']
}

function fieldLines(preset: Preset): string[] {
  const paths = fieldsRead(preset, {}, [])
  return fieldRules.flatMap(({ name }) => {
    const rule = preset.fields[name]
    if (rule === undefined) return []
    const read = new Set(paths.flatMap(({ owner, path }) => (owner === name ? [code(path)] : [])))
    const [constant] = [rule]
      .flat()
      .flatMap((part) => (typeof part === 'object' && part.value !== undefined ? [part.value] : []))
    if (constant === undefined) return [`| ${name} | ${[...read].join(', ')} |`]
    if (name === 'CurrencySymbol') read.add("the feed's setting `currency`")
    const how = read.size === 0 ? 'always' : 'otherwise'
    return [`| ${name} | ${[...read, `${how} ${code(String(constant))}`].join(', ')} |`]
  })
}

function statusLines(statuses: Preset['statuses']): string[] {
  const words = Object.entries(statuses)
  if (words.length === 0) return []
  const meaning = (target: (typeof words)[number][1]): string =>
    typeof target === 'string' ? target : `${target.for_sale} (for sale), ${target.for_rent} (for rent)`
  const lines = words.map(([word, target]) => `| ${code(word)} | ${meaning(target)} |`)
  return [
    '## Status words',
    '',
    'Any other word is a reject that names it.',
    '',
    '| word | means |',
    '|---|---|',
    ...lines,
    '',
  ]
}

function fixtureLines(name: string): string[] {
  const file = join(root, 'fixtures/presets', name, 'expected.json')
  const found: Delivered[] = JSON.parse(readFileSync(file, 'utf8'))
  const count = (kind: Delivered['kind']): number => found.filter((delivered) => delivered.kind === kind).length
  const reasons = new Map<string, number>()
  for (const delivered of found) {
    if (delivered.kind !== 'reject') continue
    for (const reason of new Set(delivered.problems.map(({ field, problem }) => `${field} ${problem}`)))
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  const figures = [found.length, count('listing'), count('removal'), count('reject')]
  const rejects = [...reasons].map(([reason, times]) => `| ${reason.replaceAll('|', String.raw`\|`)} | ${times} |`)
  return [
    '| records | listings | removals | rejects |',
    '|---|---|---|---|',
    `| ${figures.join(' | ')} |`,
    ...(rejects.length === 0 ? [] : ['', '| why rejected | records |', '|---|---|', ...rejects]),
  ]
}

function code(text: string): string {
  return `\`${text.replaceAll('|', String.raw`\|`)}\``
}
