/** Writes docs/configuration.md from the zod schema of the configuration. Run it with `npm run schema`. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configJsonSchema } from '../src/config/schema.ts'

/** The part of a JSON Schema by `z.toJSONSchema` that is used here. */
interface Schema {
  $ref?: string
  $defs?: Record<string, Schema>
  type?: string | string[]
  description?: string
  default?: unknown
  enum?: unknown[]
  const?: unknown
  pattern?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  anyOf?: Schema[]
}

export interface Key {
  /** From the beginning of its table: `login.user`. */
  name: string
  isRequired: boolean
  schema: Schema
}

/** One table of the page. */
export interface Section {
  title: string
  intro: string
  keys: Key[]
}

const head = `# Configuration

<!-- Written by \`npm run schema\` from the schema in src. Change a description there. -->

Every key of the configuration file, with its type, its default and what it does. [config/listing-sync.yaml](../config/listing-sync.yaml) has the same keys as a file to copy from. [Getting started](getting-started.md) writes a first one for you.

- **File.** \`config/listing-sync.yaml\`, unless \`--config FILE\` or the environment variable \`LISTING_SYNC_CONFIG\` names another.
- **Errors.** All errors are reported together, each with its key and line number. Unknown keys are errors. Nothing runs until the file is right.
- **References.** \`\${NAME}\` is an environment variable, \`\${NAME:-text}\` one with a default, \`\${file:PATH}\` the content of a file such as a container secret. They work anywhere in a value. Write \`$\${\` for the two characters themselves.
- **Paths** are relative to the configuration file.
- **Durations and sizes** need a unit: \`250ms\`, \`30s\`, \`15m\`, \`12h\`, \`7d\`; \`64KB\`, \`512MB\`, \`16GB\` (powers of 1024).
- **Identifiers are text.** Put a chatbot's number in quotes.
- **Secrets.** Keys, passwords, request headers and the content of referenced files never appear in a log, a report or an error.
- **Editors** complete the keys by [config/schema.json](../config/schema.json) if the file begins with \`# yaml-language-server: $schema=PATH/schema.json\`.

An asterisk marks a required key.
`

const rule = 'A mapping rule'

/** All tables: every key of the configuration once. */
export function sections(): Section[] {
  const schema = configJsonSchema() as Schema
  const { service, verify, feeds } = schema.properties ?? {}
  const feed = typeof feeds.additionalProperties === 'object' ? feeds.additionalProperties : {}
  const { settings } = feed.properties ?? {}
  const settingsKeys = settings.anyOf?.find((one) => one.properties !== undefined) ?? {}
  const rules = Object.values(schema.$defs ?? {})
  const apart = ['service', 'verify', 'feeds', 'settings']
  return [
    { title: 'The whole file', intro: '', keys: [...keysOf(schema, apart)] },
    { title: '`service`', intro: sentence(service.description), keys: [...keysOf(service, apart)] },
    { title: '`verify`', intro: sentence(verify.description), keys: [...keysOf(verify, apart)] },
    {
      title: '`feeds.NAME`',
      intro: 'One feed. NAME is yours: letters, digits, `.`, `_` and `-`.',
      keys: [...keysOf(feed, apart)],
    },
    {
      title: '`feeds.NAME.settings`',
      intro: 'Settings of the chatbot. [chatbot.md](chatbot.md#settings) tells when they are applied.',
      keys: [...keysOf(settingsKeys, apart)],
    },
    {
      title: rule,
      intro: 'How one value is read from a record. [feeds.md](feeds.md#the-mapping-language) explains the language.',
      keys: rules.flatMap((one) => [...keysOf(one, apart)]),
    },
  ]
}

/** The whole page. */
export function configurationPage(): string {
  return head + sections().map(written).join('')
}

/** The keys of an object and of the objects in it, except those with their own table (`apart`). */
function* keysOf(object: Schema, apart: readonly string[], prefix = ''): Generator<Key> {
  const { properties = {}, required = [] } = object
  for (const [key, schema] of Object.entries(properties)) {
    const name = prefix + key
    const { additionalProperties, items, anyOf = [] } = schema
    yield { name, isRequired: required.includes(key), schema }
    if (apart.includes(key)) continue
    if (schema.properties !== undefined) yield* keysOf(schema, apart, `${name}.`)
    else if (items?.properties !== undefined) yield* keysOf(items, apart, `${name}[].`)
    else if (typeof additionalProperties === 'object')
      for (const one of [additionalProperties, ...(additionalProperties.anyOf ?? [])])
        if (one.properties !== undefined) yield* keysOf(one, apart, `${name}.NAME.`)
    for (const one of anyOf) if (one.properties !== undefined) yield* keysOf(one, apart, `${name}.`)
  }
}

function written({ title, intro, keys }: Section): string {
  const rows = keys.map(({ name, isRequired, schema }) => {
    const cells = [
      `\`${name}\`${isRequired ? ' *' : ''}`,
      kindOf(schema),
      defaultOf(schema),
      sentence(schema.description),
    ]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')).join(' | ')} |\n`
  })
  return `\n## ${title}\n${intro === '' ? '' : `\n${intro}\n`}\n| key | type | default | what it does |\n|---|---|---|---|\n${rows.join('')}`
}

/** A description with a full stop, and with backticks around what Markdown would interpret. */
function sentence(text = ''): string {
  const marked = text.replaceAll('<', '&lt;').replaceAll(/\$?\{[^}]*\}/g, '`$&`')
  return marked === '' || /[.!?:]$/.test(marked) ? marked : `${marked}.`
}

const words: Readonly<Record<string, string>> = { string: 'text', boolean: '`true`, `false`', integer: 'whole number' }

function kindOf(schema: Schema): string {
  const { $ref, type, pattern = '', properties, additionalProperties, items, anyOf } = schema
  if ($ref !== undefined) return '[rule](#a-mapping-rule)'
  if (schema.enum !== undefined) return schema.enum.map(shown).join(', ')
  if (schema.const !== undefined) return shown(schema.const)
  if (anyOf !== undefined) return [...new Set(anyOf.map(kindOf))].join(' or ')
  if (items !== undefined) return `list of ${items.anyOf === undefined ? kindOf(items) : 'these'}`
  if (properties !== undefined) return 'keys'
  if (typeof additionalProperties === 'object') return `name: ${kindOf(additionalProperties)}`
  if (pattern.includes('ms|')) {
    const word = /^\^([a-z ]+)\$\|/.exec(pattern)?.[1]
    return word === undefined ? 'duration' : `duration or ${shown(word)}`
  }
  if (pattern.includes('KB|')) return 'size'
  // A number may be written as text, as a reference gives text.
  const kinds = [type ?? []].flat()
  return kinds.length === 2 && kinds.includes('number')
    ? 'number'
    : kinds.map((kind) => words[kind] ?? kind).join(' or ')
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.trim() === '' ? `\`"${text}"\`` : `\`${text}\``
}

function defaultOf({ default: value }: Schema): string {
  return value === undefined || JSON.stringify(value) === '{}' ? '' : shown(value)
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(new URL('../docs/configuration.md', import.meta.url), configurationPage())
