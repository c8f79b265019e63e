/** `inspect --init`: writes a first configuration for a source, which runs as it is. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { stringify } from 'yaml'
import { presetDirectory, shippedPresets } from '../config/presets.ts'
import { UsageError, UserError, messageOf } from '../core/errors.ts'
import { fieldRules } from '../core/listing.ts'
import { printable, shorten } from '../core/text.ts'
import { isHome } from '../feed/mapping/kinds.ts'
import { flow, remedyOf } from './facts.ts'
import type { Findings } from './findings.ts'
import { guessedPreset } from './guess.ts'
import type { Inspected } from './inspect.ts'

/** Throws `UserError` if the file exists or can't be created, `UsageError` for a source that can't be configured. */
export function checkInit(configFile: string, source: string): void {
  if (source === '-') throw new UsageError('--init needs a source that can be read again; standard input can not')
  if (existsSync(configFile))
    throw new UserError(`${configFile} exists and was not changed; name another file with --config`)
}

/**
 * Writes the configuration, and first a preset if none fits: the source is then read `again` with it to find missing values.
 * Returns the files written. Throws `UserError`.
 */
export async function initialise(
  configFile: string,
  source: string,
  found: Inspected,
  again: (preset: string) => Promise<Inspected>,
): Promise<string[]> {
  const written: string[] = []
  let inspected = found
  if (inspected.preset === null) {
    const preset = writeGuessedPreset(found.findings, source, configFile)
    written.push(`${preset}: guessed, check it`)
    inspected = await again(preset)
  }
  writeNew(configFile, startingConfiguration(inspected, source, configFile))
  return [...written, configFile]
}

/** Writes a new file, with its folder. Throws `UserError`. */
function writeNew(file: string, text: string): void {
  try {
    mkdirSync(dirname(resolve(file)), { recursive: true })
    writeFileSync(file, text, { flag: 'wx' })
  } catch (error) {
    throw new UserError(`${file} can't be written: ${messageOf(error)}`)
  }
}

/** A feed name from the last part of an address or path. */
function feedNameOf(source: string): string {
  const url = URL.parse(source)
  const last =
    url !== null && /^[a-z]{3,}:$/.test(url.protocol) ? basename(url.pathname) || url.hostname : basename(source)
  const name = last.replace(/(?:\.[A-Za-z0-9]{1,5}){1,2}$/, '').replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
  return name.replaceAll(/^[-.]+|[-.]+$/g, '') || 'feed'
}

/** The configuration as YAML with comments. Throws `UserError` without a preset. */
function startingConfiguration({ findings, preset, feed }: Inspected, source: string, configFile: string): string {
  if (preset === null || feed === null) throw new UserError('no preset fits, so there is no configuration to write')
  const { counts, settings, missing, words } = findings
  const wanted = counts.listings + counts.rejects
  const safe = withoutSecrets(sourceFrom(source, configFile))
  const lines = [
    '# Written by `listing-sync inspect --init`. Fill in each "?": the feed does not say it, and nothing is made up.',
    '# All other settings: config/listing-sync.yaml of the program. Try it with: listing-sync diff',
    'service:',
    '  # The local stand-in, for trials: start it with `listing-sync stand-in`. Later put the address of your service here',
    '  # and its keys below.',
    '  baseUrl: http://127.0.0.1:8080',
    '  secretKey: stand-in # any text for the stand-in; for your service: ${LISTING_SECRET_KEY}',
    '  # sessionKey: ${LISTING_SESSION_KEY}',
    'store: ./data/listing-sync.db',
    '# http: { listen: 127.0.0.1:9464 } # a page of the feeds, for the daemon: http://127.0.0.1:9464',
    'feeds:',
  ]
  const add = (depth: number, text: string): void =>
    void lines.push(...text.split('\n').map((line) => `${'  '.repeat(depth)}${line}`))
  add(1, `${stringify(feedNameOf(source)).trim()}:`)
  add(2, 'chatbot: SN-1 # placeholder: the SerialNumber of your chatbot')
  for (const name of safe.variables) add(2, `# ${name}: set this environment variable to the value from the address`)
  add(2, entry('source', safe.text))
  add(2, `${entry('preset', presetName(preset.file, configFile))} # ${printable(preset.title)}`)
  const delivery = { full: 'listings that are not in it are deleted', delta: 'listings that are not in it stay' }[
    preset.delivery
  ]
  add(2, `# delivery: ${preset.delivery} # the preset's: ${delivery}`)
  add(2, "# schedule: '*/30 * * * *' # for the daemon; without it, runs by hand only")
  add(2, '# timezone: UTC')
  for (const { write, why } of settings) add(2, `# ${printable(why)}\n${write}`)
  if (findings.rejects.some(({ problem }) => problem.includes('encoding: windows-1252')))
    add(2, '# The feed declares UTF-8, but is not.\nencoding: windows-1252')

  const remedies = missing.flatMap(({ field, count }) => {
    const remedy = remedyOf(field, feed)
    return remedy === null ? [] : [{ field, count, ...remedy }]
  })
  for (const section of ['currency', 'fields', 'defaults'] as const) {
    const own = remedies.filter((remedy) => remedy.section === section)
    if (own.length === 0) continue
    // A section of comments only would be empty, which is an error.
    const most = own.filter(({ count }) => 2 * count >= wanted)
    if (section !== 'currency') add(2, `${most.length === 0 ? '# ' : ''}${section}:`)
    for (const { field, count, value, hint } of own) {
      const [depth, key] = section === 'currency' ? [2, section] : [3, field]
      const written = stringify({ [key]: value }, { lineWidth: 0 }).trim()
      const lack = lackInWords(count, wanted)
      const active = 2 * count >= wanted
      const rejected = count === 1 ? 'is rejected' : 'are rejected'
      add(depth, active ? `# MISSING: ${field}, ${lack}: ${hint}` : `# ${field}: ${lack}, and ${rejected}: ${hint}`)
      add(depth, active ? written : written.replaceAll(/^/gm, '# '))
    }
  }
  for (const { field, count, perhaps, write } of missing)
    if (perhaps.length > 0) {
      add(2, `# MISSING: ${field}, ${lackInWords(count, wanted)}. If ${printable(perhaps.join(' or '))} has it:`)
      add(2, `# ${printable(write)}`)
    }
  const groups = placeholderGroups(missing, wanted)
  if (groups.length > 0) {
    add(
      2,
      '# No facts: sent where a listing is created, never over a value that is there. By kind of property; take away what',
    )
    add(2, '# you would rather have rejected.')
    add(2, stringify({ placeholders: groups }, { lineWidth: 0 }).trim())
  }
  const rooms = missing.find(({ field, perhaps }) => field === 'Bedrooms' && perhaps.length === 0)
  const homes = Object.entries(rooms?.kinds ?? {}).reduce((sum, [kind, count]) => sum + (isHome(kind) ? count : 0), 0)
  if (homes > 0)
    add(
      2,
      `# MISSING: Bedrooms of ${homes === 1 ? '1 home, which is' : `${homes} homes, which are`} rejected: fields: { Bedrooms: … }, if the feed has them`,
    )
  if (findings.hiding.length > 0) {
    add(2, '# The feed has a flag for hidden addresses that the preset does not read: check that it means this.')
    add(2, flow({ hideAddress: findings.hiding }))
  }
  for (const { field, words: found, write } of words) {
    const listed = found.slice(0, 12).map(({ word, count }) => `${shorten(printable(word), 40)} (${count})`)
    add(2, `# Unknown words of ${field}: ${listed.join(', ')}`)
    add(2, `# ${shorten(printable(write), 4000)}${field === 'Status' ? ' # Active, PreOnMarket, Sold or remove' : ''}`)
  }
  return `${lines.join('\n')}\n`
}

const lackInWords = (count: number, wanted: number): string =>
  `${count} of the ${wanted} records that should be listings ${count === 1 ? 'lacks' : 'lack'} it`

/** Placeholders for each kind of property whose records lack something, as far as one may be given. */
function placeholderGroups(missing: Findings['missing'], wanted: number): object[] {
  const byKind = new Map<string, Record<string, string | number>>()
  for (const { field, kinds, perhaps } of missing) {
    const value = field === 'PropertyType' ? 'Other' : 0
    // The feed may have the value under another name.
    if (!placed.includes(field) || perhaps.length > 0) continue
    for (const kind of Object.keys(kinds)) {
      if (field === 'Bedrooms' && isHome(kind)) continue
      byKind.set(kind, { ...byKind.get(kind), [field]: value })
    }
  }
  // If PropertyType itself is missing, nothing tells the kind.
  const kindless = missing.some(({ field, count }) => field === 'PropertyType' && 2 * count >= wanted)
  const groups = Map.groupBy(byKind, ([, values]) => JSON.stringify(values))
  const written = [...groups].map(([values, kinds]) => {
    const { PropertyType: _, ...rest } = JSON.parse(values) as Record<string, unknown>
    return { when: { PropertyType: kinds.map(([kind]) => kind) }, ...rest }
  })
  return [...written.filter((group) => Object.keys(group).length > 1), ...(kindless ? [{ PropertyType: 'Other' }] : [])]
}

const placed = fieldRules.flatMap(({ name, type }) =>
  type === 'number' || name === 'PropertyType' ? [name as string] : [],
)

function entry(key: string, value: string): string {
  return stringify({ [key]: value }, { lineWidth: 0 }).trim()
}

/** A shipped preset by its name, another by its path from the configuration. */
function presetName(file: string, configFile: string): string {
  return dirname(file) === resolve(presetDirectory) ? basename(file, '.yaml') : fromConfiguration(file, configFile)
}

function sourceFrom(source: string, configFile: string): string {
  return /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(source) ? source : fromConfiguration(resolve(source), configFile)
}

function fromConfiguration(path: string, configFile: string): string {
  const way = relative(dirname(resolve(configFile)), path).replaceAll('\\', '/')
  return way.startsWith('.') || way === path ? way : `./${way}`
}

/** Writes a first preset beside the configuration and returns its file. Throws `UserError`. */
function writeGuessedPreset(findings: Findings, source: string, configFile: string): string {
  const name =
    feedNameOf(source)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'feed'
  const file = join(dirname(resolve(configFile)), 'presets', `${name}.yaml`)
  writeNew(file, guessedPreset(findings, shippedPresets(), name))
  return file
}

/**
 * The address of a source without secrets, which become references to the environment. `text`: the value for the
 * configuration; `variables`: the names of the references.
 */
export function withoutSecrets(source: string): { text: string; variables: string[] } {
  const variables: string[] = []
  // A literal `${` in the address is escaped.
  const pieces = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/)(?:([^/?#]*)@)?([^?#]*)(\?[^#]*)?(.*)$/.exec(
    source.replaceAll('${', '$${'),
  )
  if (pieces === null) return { text: source.replaceAll('${', '$${'), variables }
  const [, scheme, credentials, place, query = '', rest] = pieces
  const hidden = (name: string): string => {
    variables.push(name)
    return `\${${name}}`
  }
  const isHttp = /^https?:/i.test(scheme)
  let before = ''
  if (credentials !== undefined) {
    const colon = credentials.indexOf(':')
    // A user name alone is often a token; for a file server it is a name, such as anonymous.
    const user = colon < 0 ? (isHttp ? hidden('FEED_USER') : credentials) : credentials.slice(0, colon)
    before = colon < 0 ? `${user}@` : `${user}:${hidden('FEED_PASSWORD')}@`
  }
  const asked = !isHttp
    ? query
    : query.replaceAll(/([?&])([^=&]+)=([^&]{8,})/g, (_, mark: string, name: string) => {
        const variable = `FEED_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`
        return `${mark}${name}=${hidden(variable)}`
      })
  return { text: `${scheme}${before}${place}${asked}${rest}`, variables }
}
