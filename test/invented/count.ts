/**
 * Counts what `inspect --init` makes up: a SaleType, a Status, a currency, a key or a page that the written configuration gives
 * although no field of the feed says it. An open `"?"` is none: nothing runs before a person has filled it in.
 */
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parse } from 'yaml'
import { createDoors } from '../../src/app/doors.ts'
import { inspectSource } from '../../src/app/inspect.ts'
import { presetDirectory } from '../../src/config/presets.ts'
import { FeedError, messageOf } from '../../src/core/errors.ts'
import type { FieldMapping, Rule } from '../../src/feed/mapping/rule-keys.ts'
import { unfinished } from '../../src/feed/mapping/unfinished.ts'
import { initialise } from '../../src/inspect/init.ts'
import { isOfMedia, isOfOthers } from '../../src/inspect/names.ts'

export const facts = ['SaleType', 'Status', 'CurrencySymbol', 'MLSNumber', 'Url'] as const
type Fact = (typeof facts)[number]

/** What was found of one file. */
export interface Counted {
  file: string
  /** The preset that was found or guessed; null: the file is no feed, and `why` says so. */
  preset: string | null
  why: string
  records: number
  /** Records that the configuration would publish as it is. */
  published: number
  /** What it leaves to a person. */
  open: string[]
  invented: { fact: Fact; how: string }[]
}

interface Written {
  currency?: string
  defaults?: Record<string, unknown>
  placeholders?: Record<string, unknown> | Record<string, unknown>[]
  fields?: Record<string, FieldMapping>
}

/** Lets `--init` write a configuration for a file into an empty folder, and reads what is in it. */
export async function countInvented(file: string, folder: string): Promise<Counted> {
  const configFile = join(folder, 'listing-sync.yaml')
  const doors = createDoors()
  const look = (preset?: string, source = file) =>
    inspectSource({ configFile, doors, env: {}, signal: new AbortController().signal }, source, { preset, limit: null })
  const counted: Counted = { file, preset: null, why: '', records: 0, published: 0, open: [], invented: [] }
  try {
    const found = await look()
    await initialise(configFile, file, found, look)
    const text = readFileSync(configFile, 'utf8')
    const [[name, feed]] = Object.entries(parse(text).feeds as Record<string, Written & { preset: string }>)
    const isShipped = !/[/\\]/.test(feed.preset)
    const presetFile = isShipped
      ? join(presetDirectory, `${feed.preset}.yaml`)
      : resolve(dirname(configFile), feed.preset)
    const guessed: Written = isShipped ? {} : parse(readFileSync(presetFile, 'utf8'))
    const keys = new Set(found.findings.fields.filter(({ isKey }) => isKey).map(({ path }) => path))
    const invented = [...inventedIn(feed, null), ...inventedIn(guessed, keys)]
    const open = facts.filter((fact) => isOpen(feed, fact))
    const { records } = found.findings.document
    // Read as a run would: by the name of the feed in the written configuration.
    const published =
      open.length > 0 || /^[^#]*"\?"/m.test(text) ? 0 : (await look(undefined, name)).findings.counts.listings
    return { ...counted, preset: feed.preset, records, published, open, invented }
  } catch (error) {
    if (!(error instanceof FeedError)) throw error
    return { ...counted, why: messageOf(error) }
  }
}

function isOpen({ currency, defaults = {}, fields = {} }: Written, fact: Fact): boolean {
  const written = fact === 'CurrencySymbol' ? currency : (defaults[fact] ?? fields[fact])
  return [written].flat().includes(unfinished)
}

/**
 * Facts that come from nowhere. `keys`: the fields that may be a key, of a guessed preset; null: the rules are those of a
 * configuration, which narrow a shipped preset's.
 */
export function inventedIn(
  { currency, defaults = {}, placeholders = [], fields = {} }: Written,
  keys: ReadonlySet<string> | null,
): Counted['invented'] {
  const given = [defaults, ...[placeholders].flat()]
  return facts.flatMap((fact) => {
    const found: string[] = []
    if (fact === 'CurrencySymbol' && currency !== undefined && currency !== unfinished)
      found.push(`currency: ${currency}`)
    for (const values of given)
      if (values[fact] !== undefined && values[fact] !== unfinished)
        found.push(`given as ${JSON.stringify(values[fact])}`)
    for (const rule of [fields[fact] ?? []].flat()) if (rule !== unfinished) found.push(...wrongRule(fact, rule, keys))
    return found.map((how) => ({ fact, how }))
  })
}

function wrongRule(fact: Fact, written: string | Rule, keys: ReadonlySet<string> | null): string[] {
  const rule: Rule = typeof written === 'string' ? { from: written } : written
  if (rule.value !== undefined) return [`the constant ${rule.value}`]
  if (rule.otherwise !== undefined && rule.otherwise !== '' && fact !== 'Url') return [`otherwise ${rule.otherwise}`]
  return [rule.from ?? []].flat().flatMap((path) => {
    if (fact === 'MLSNumber' && keys !== null && !keys.has(path)) return [`${path}, which is no key of the whole file`]
    return fact === 'Url' && keys !== null && (isOfMedia(path) || isOfOthers(path))
      ? [`${path}, which is no page of a listing`]
      : []
  })
}

/** One line for each file, and the sum. */
export function tableOf(counted: readonly Counted[]): string {
  const lines = counted.map(({ file, preset, why, records, published, open, invented }) => {
    if (preset === null) return `${file}: no feed (${why.slice(0, 80)})`
    const made = invented.map(({ fact, how }) => `${fact} (${how})`).join(', ')
    const left = open.length === 0 ? '' : `, open: ${open.join(', ')}`
    return `${file}: ${preset}, ${published} of ${records} records would be published${left}, invented: ${made || 'none'}`
  })
  const sum = counted.reduce((total, { invented }) => total + invented.length, 0)
  return `${lines.join('\n')}\n${counted.length} files, ${sum} invented facts\n`
}
