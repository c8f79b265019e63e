/**
 * From a record of a feed to the interface's listing, validated (interface, "Real estate listing"). A record that fails
 * is a reject with every problem; nothing it holds stops a run.
 */
import { ConfigError, messageOf } from '../errors.ts'
import { shortHash } from '../hash.ts'
import { fieldRules, ownerKey } from '../listing.ts'
import type { Delivered, ExtensionEntry, FieldRule, FieldValue, Listing, Problem } from '../listing.ts'
import type { Mapping, Moment, RecordFields } from './feed.ts'
import { Unreadable, RuleError } from './converters/converter.ts'
import type { Making, Read, Value } from './converters/converter.ts'
import { outOfLimits } from './converters/number.ts'
import { compileMapping } from './mapping-compile.ts'
import { compileExtension, compileFlag, compileWhere, tidyCoordinates } from './mapping-record.ts'
import { whereProblems, wrongDefault } from './mapping-options.ts'
import type { FieldMapping, MappingOptions } from './mapping-schema.ts'
import { isFieldName, unknownFields } from './mapping-schema.ts'
import type { Preset } from './preset.ts'
import { PathError, csvPaths, xmlPaths } from './select.ts'

/** Part of `Mapping.version`: raised whenever this code makes another listing of the same record. */
const MAPPING_CODE = 1

/** How one field gets its value: the record's, else the default. */
interface FieldStep {
  rule: FieldRule
  read: Read | null
  byDefault: Value | undefined
}

/**
 * A preset with a feed's own options, compiled. `file` names the configuration in problems.
 * Throws `ConfigError` with every problem: unknown fields, converters, paths, templates, values.
 */
export function createMapping(preset: Preset, options: MappingOptions, file = preset.file): Mapping {
  const compiled = compile(preset, options, file)
  return {
    version: shortHash(JSON.stringify([MAPPING_CODE, { ...preset, file: null }, options])),
    delivery: options.delivery ?? preset.delivery,
    format: preset.format,
    formatOptions: {
      record: preset.record ?? null,
      delimiter: preset.delimiter ?? null,
      quote: preset.quote,
      requiredHeaders: preset.requiredHeaders,
    },
    normalise: (record, at, moment) => [delivered(compiled, record, at, moment)],
  }
}

type Compiled = ReturnType<typeof compile>

function compile(preset: Preset, options: MappingOptions, file: string) {
  const paths = preset.format === 'xml' ? xmlPaths() : csvPaths()
  const fields = new Map(Object.entries<FieldMapping>({ ...preset.fields, ...options.fields }))
  const problems = [...unknownFields(Object.fromEntries(fields)), ...unknownFields(options.defaults ?? {}, 'defaults')]
  const attempt = <Result>(label: string, make: () => Result): Result | null => {
    try {
      return make()
    } catch (error) {
      if (!(error instanceof RuleError || error instanceof PathError)) throw error
      problems.push(`${label}: ${messageOf(error)}`)
      return null
    }
  }

  for (const [key, given] of [
    ['fields', fields],
    ['defaults', new Map(Object.entries(options.defaults ?? {}))],
  ] as const) {
    if (given.has('ExtensionColumn')) problems.push(`${key}.ExtensionColumn: its columns are written under extension`)
  }
  const before = new Set<string>()
  const surroundings = {
    paths,
    numbers: preset.numbers,
    dates: preset.dates,
    statuses: { ...preset.statuses, ...options.statuses },
    before,
  }
  const steps = inOrder(fields).map((rule): FieldStep => {
    const mapping = fields.get(rule.name)
    const read =
      mapping === undefined ? null : attempt(`fields.${rule.name}`, () => compileMapping(mapping, rule, surroundings))
    before.add(rule.name)
    const byDefault = options.defaults?.[rule.name]
    const wrong = byDefault === undefined ? null : wrongDefault(rule, byDefault)
    if (wrong !== null) problems.push(`defaults.${rule.name}: ${wrong}`)
    return { rule, read, byDefault }
  })

  const columns = new Map<string, Read>()
  for (const [key, mapping] of Object.entries({ ...preset.extension, ...options.extension })) {
    if (key === ownerKey) problems.push(`extension.${key}: this key is our own`)
    const read = attempt(`extension.${key}`, () => compileMapping(mapping, null, surroundings))
    if (read) columns.set(key, read)
  }
  const rules = JSON.stringify([[...fields.values()], preset.extension, options.extension ?? {}])
  problems.push(...whereProblems(options.where ?? {}, rules))
  const flags = attempt('hideAddress', () => ({
    hideAddress: preset.hideAddress.map((flag) => compileFlag(flag, paths)),
    removeWhen: preset.removeWhen.map(({ flag, why }) => ({ raised: compileFlag(flag, paths), why })),
  }))
  for (const name of Object.keys(options.where ?? {})) {
    if (!isFieldName(name)) attempt(`where.${name}`, () => paths.compile(name))
  }
  const extension = attempt('extensionGroups', () => compileExtension(columns, preset.extensionGroups, paths))
  if (problems.length > 0 || !flags || !extension) throw new ConfigError(file, problems)
  const where = options.where ? compileWhere(options.where, paths) : null
  return { paths, steps, ...flags, where, extension }
}

/** Fields in the order they are read: what others depend on first, templates after what they may name, Tours last. */
function inOrder(fields: ReadonlyMap<string, FieldMapping>): FieldRule[] {
  const early = ['MLSNumber', 'SaleType', 'Status', 'AreaUnit', 'City', 'State', 'ZIP']
  const rank = ({ name }: FieldRule): number => {
    const place = early.indexOf(name)
    if (place !== -1 && place < 3) return place
    if (name === 'Tours') return 1000
    if ([fields.get(name)].flat().some((rule) => typeof rule === 'object' && rule.template !== undefined)) return 900
    return place === -1 ? 100 : place
  }
  return fieldRules.filter((rule) => rule.name !== 'ExtensionColumn').toSorted((a, b) => rank(a) - rank(b))
}

function delivered(compiled: Compiled, record: RecordFields, at: string, moment: Moment): Delivered {
  compiled.paths.prepare(record)
  const making: Making = { listing: {}, moving: {}, moment, kept: [], removal: null, hidden: false }
  const problems: Problem[] = []

  for (const { raised, why } of compiled.removeWhen) {
    const flag = raised(record)
    if (flag instanceof Unreadable) problems.push(problemOf('Status', flag))
    else if (flag) making.removal = why
  }
  for (const step of compiled.steps) {
    readField(step, record, making, problems)
    // A removal needs its number only: sold-off records are often stubs (domain trap 16).
    const { MLSNumber } = making.listing
    if (making.removal !== null && step.rule.name === 'Status') {
      if (MLSNumber !== undefined) return { kind: 'removal', at, mlsNumber: MLSNumber, why: making.removal }
      return { kind: 'reject', at, mlsNumber: null, problems: problems.filter(({ field }) => field === 'MLSNumber') }
    }
  }
  const { listing } = making
  tidyCoordinates(listing)
  for (const raised of compiled.hideAddress) {
    const flag = raised(record)
    if (flag instanceof Unreadable) problems.push(problemOf('Address', flag))
    else if (flag) making.hidden = true
  }
  const street = listing.Address
  if (making.hidden) for (const name of ['Address', 'Latitude', 'Longitude'] as const) delete listing[name]
  const mlsNumber = listing.MLSNumber ?? null
  const left = compiled.where?.(record, listing) ?? null
  // A field that can't be read can't leave its record out.
  if (
    left !== null &&
    mlsNumber !== null &&
    !problems.some(({ field, value }) => field === left.name && value !== null)
  ) {
    return { kind: 'filtered', at, mlsNumber, why: left.why }
  }
  const extension = compiled.extension(record, making)
  const entries = making.hidden ? withoutStreet(extension.entries, street) : extension.entries
  if (entries.length > 0) listing.ExtensionColumn = entries
  for (const { key, bad } of extension.problems) problems.push(problemOf(`ExtensionColumn ${key}`, bad))
  if (problems.length > 0 || !isWhole(listing)) return { kind: 'reject', at, mlsNumber, problems }
  return { kind: 'listing', at, listing, moving: making.moving }
}

/** A title is often the street itself: what may not be shown in one place must not be shown in another. */
function withoutStreet(entries: ExtensionEntry[], street: string | undefined): ExtensionEntry[] {
  const hidden = street?.replace(/\s(?:#|(?:apt|apartment|unit|suite|ste)\.?\s)\s*\S+$/i, '').toLowerCase()
  return hidden === undefined ? entries : entries.filter(({ value }) => !value.toLowerCase().includes(hidden))
}

function readField(step: FieldStep, record: RecordFields, making: Making, problems: Problem[]): void {
  const { name, choices, required } = step.rule
  const found = step.read?.(record, making)
  if (found instanceof Unreadable) {
    problems.push(problemOf(name, found))
    return
  }
  const value = found ?? step.byDefault
  if (value === undefined) {
    if (!required || (name === 'Status' && making.removal !== null)) return
    const remedy = name === 'MLSNumber' ? 'fields' : 'defaults or fields'
    problems.push({ field: name, value: null, problem: `is missing; give it with ${remedy}` })
    return
  }
  const wrong = typeof value === 'number' ? outOfLimits(name, value) : null
  if (wrong !== null) problems.push(problemOf(name, new Unreadable(String(value), wrong)))
  else if (choices && !(typeof value === 'string' && choices.includes(value))) {
    problems.push(problemOf(name, new Unreadable(String(value), `needs one of ${choices.join(', ')}`)))
  } else set(making.listing, name, value)
}

/** The type of the value was checked against the field's when the rule was compiled. */
function set(listing: Partial<Listing>, name: keyof Listing, value: Value): void {
  const fields: Partial<Record<keyof Listing, FieldValue>> = listing
  fields[name] = value
}

function problemOf(field: string, { value, problem }: Unreadable): Problem {
  return { field, value: value.slice(0, 200).toWellFormed(), problem }
}

function isWhole(listing: Partial<Listing>): listing is Listing {
  return fieldRules.every(({ name, required }) => !required || listing[name] !== undefined)
}
