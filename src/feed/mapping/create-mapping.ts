/**
 * From a record of a feed to the interface's listing, validated (interface, "Real estate listing"). A record that fails
 * is a reject with every problem; nothing it holds stops a run.
 */
import { ConfigError, messageOf } from '../../core/errors.ts'
import { shortHash } from '../../core/hash.ts'
import { fieldRules, ownerKey } from '../../core/listing.ts'
import type { Delivered, Listing, MovingListing, Problem, ExtensionEntry } from '../../core/listing.ts'
import type { RecordFields } from '../format/format.ts'
import { compileCompliance, removeForbidden } from './compliance.ts'
import { Unreadable, RuleError } from './converters/converter.ts'
import type { Making, Read, Unmapped } from './converters/converter.ts'
import { inOrder, problemOf, readField, withAffixes } from './field.ts'
import type { FieldStep } from './field.ts'
import { requiredHeaders } from './fields-read.ts'
import type { KnownListing, Mapping, Moment } from './mapping.ts'
import { mendRecord } from './mojibake.ts'
import { whereProblems, wrongDefault } from './options.ts'
import { csvPaths } from './path-csv.ts'
import { PathError, xmlPaths } from './path.ts'
import type { Preset, Variant } from './preset.ts'
import { compileExtension, compileWhere, tidyCoordinates } from './record-rules.ts'
import { compileMapping } from './rule.ts'
import { isFieldName, unknownFields } from './schema.ts'
import type { FieldMapping, MappingOptions } from './schema.ts'
import { compileStub, complete, completeColumns, isStub, knownOf, stubProblems, unknownStub } from './stub.ts'
import { wordKey } from './vocabulary.ts'

/** Part of `Mapping.version`: raised whenever this code makes another listing of the same record. */
const MAPPING_CODE = 7

/**
 * A preset with a feed's own options, compiled. `file` names the configuration in problems.
 * Throws `ConfigError` with every problem: unknown fields, converters, paths, templates, values.
 * `unmapped` is told of every word that no rule maps.
 */
export function createMapping(
  preset: Preset,
  options: MappingOptions,
  file = preset.file,
  unmapped?: Unmapped,
): Mapping {
  const compiled = { ...compile(preset, options, file), unmapped }
  const variants = preset.variants.map((variant) => ({ ...compile(preset, options, file, variant), unmapped }))
  const mendsText = options.repair === 'double-utf8'
  return {
    version: shortHash(JSON.stringify([MAPPING_CODE, { ...preset, file: null }, options])),
    delivery: options.delivery ?? preset.delivery,
    deliveryOf: (header) => options.delivery ?? saidDelivery(preset, header),
    format: preset.format,
    formatOptions: {
      record: preset.record ?? null,
      counter: preset.counter,
      header: preset.header,
      written: preset.written,
      delimiter: preset.delimiter ?? null,
      quote: preset.quote,
      requiredHeaders: requiredHeaders(preset, options),
      columns: preset.columns,
    },
    mendsText,
    normalise(record, at, moment, known = () => null) {
      if (mendsText) mendRecord(record)
      const chosen = variants.filter((variant) => applies(variant, record, moment))
      if (chosen.length > 0) return chosen.map((variant) => delivered(variant, record, at, moment, known))
      const one = delivered(compiled, record, at, moment, known)
      if (one.kind === 'listing' || one.mlsNumber === null || variants.length === 0) return [one]
      const { mlsNumber } = one
      // What is wrong with the record holds each listing that it may have been: none of them is merely absent.
      return preset.variants.map(({ suffix }) => ({ ...one, mlsNumber: mlsNumber + suffix }))
    },
  }
}

function saidDelivery({ delivery, deliveryFrom }: Preset, header: Readonly<Record<string, string>>): 'full' | 'delta' {
  const word = wordKey(deliveryFrom ? (header[deliveryFrom.header] ?? '') : '')
  if (deliveryFrom?.full.some((one) => wordKey(one) === word)) return 'full'
  return deliveryFrom?.delta.some((one) => wordKey(one) === word) ? 'delta' : delivery
}

type Compiled = ReturnType<typeof compile> & { unmapped: Unmapped | undefined }

function compile(preset: Preset, options: MappingOptions, file: string, variant?: Variant) {
  const paths = preset.format === 'xml' ? xmlPaths() : csvPaths()
  const fields = new Map(Object.entries<FieldMapping>({ ...preset.fields, ...variant?.fields, ...options.fields }))
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
    numbers: options.numbers ?? preset.numbers,
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
    const isNumber = rule.name === 'MLSNumber'
    const whole = read && isNumber ? withAffixes(read, options.mlsPrefix ?? '', variant?.suffix ?? '') : read
    return { rule, read: whole, byDefault }
  })
  const when = variant && attempt('variants.when', () => compileMapping(variant.when, null, surroundings))

  const columns = new Map<string, Read>()
  for (const [key, mapping] of Object.entries({ ...preset.extension, ...options.extension })) {
    if (key === ownerKey) problems.push(`extension.${key}: this key is our own`)
    const read = attempt(`extension.${key}`, () => compileMapping(mapping, null, surroundings))
    if (read) columns.set(key, read)
  }
  const rules = JSON.stringify([[...fields.values()], preset.variants, preset.extension, options.extension ?? {}])
  problems.push(...stubProblems(preset))
  problems.push(...whereProblems(options.where ?? {}, rules))
  const compliance = compileCompliance(preset, options, columns.keys(), paths, attempt, problems)
  const stub = attempt('stub', () => compileStub(preset.stub, paths))
  for (const name of Object.keys(options.where ?? {})) {
    if (!isFieldName(name)) attempt(`where.${name}`, () => paths.compile(name))
  }
  const extension = attempt('extensionGroups', () => compileExtension(columns, preset.extensionGroups, paths))
  if (problems.length > 0 || !extension) throw new ConfigError(file, problems)
  const where = options.where ? compileWhere(options.where, paths) : null
  return { paths, steps, compliance, stub, where, extension, when: when ?? null }
}

function begun(moment: Moment): Making {
  return { listing: {}, moving: {}, moment, kept: [], removal: null, hidden: false }
}

/** A value that is there and can't be read is a listing of that kind, which is then rejected with the reason. */
function applies({ paths, when }: Compiled, record: RecordFields, moment: Moment): boolean {
  paths.prepare(record)
  return when?.(record, begun(moment)) !== undefined
}

function delivered(
  compiled: Compiled,
  record: RecordFields,
  at: string,
  moment: Moment,
  known: KnownListing,
): Delivered {
  compiled.paths.prepare(record)
  const making = begun(moment)
  if (compiled.unmapped !== undefined) making.unmapped = compiled.unmapped
  const problems: Problem[] = []

  for (const { removes, why } of compiled.compliance.removeWhen) {
    const flag = removes(record, moment)
    if (flag instanceof Unreadable) problems.push(problemOf('Status', flag))
    else if (flag === 'later') making.endsLater = true
    else if (flag) making.removal = why
  }
  for (const step of compiled.steps) {
    readField(step, record, making, problems)
    if (step.rule.name === 'Status') removeForbidden(making, compiled.compliance)
    // A removal needs its number only: sold-off records are often stubs (domain trap 16).
    const { MLSNumber } = making.listing
    if (making.removal !== null && step.rule.name === 'Status') {
      if (MLSNumber !== undefined) return { kind: 'removal', at, mlsNumber: MLSNumber, why: making.removal }
      return { kind: 'reject', at, mlsNumber: null, problems: problems.filter(({ field }) => field === 'MLSNumber') }
    }
    if (step.rule.name === 'Status' && compiled.stub !== null && isStub(compiled.stub, record)) {
      const before = knownOf(making.listing, known)
      if (before === null) return unknownStub(making.listing, problems, at)
      // What the record lacks is no problem of it, and what it has is read again over the listing that it is about.
      const wrong: Problem[] = []
      const completed = complete(compiled.stub, compiled.steps, record, making, before, wrong)
      removeForbidden(completed, compiled.compliance)
      if (completed.removal !== null)
        return { kind: 'removal', at, mlsNumber: before.listing.MLSNumber, why: completed.removal }
      return finished(compiled, record, completed, wrong, at, before)
    }
  }
  return finished(compiled, record, making, problems, at, null)
}

/** What a record became once its fields are read; `before`: the listing that a stub was put over. */
function finished(
  compiled: Compiled,
  record: RecordFields,
  making: Making,
  problems: Problem[],
  at: string,
  before: MovingListing | null,
): Delivered {
  const { listing } = making
  tidyCoordinates(listing)
  for (const raised of compiled.compliance.hideAddress) {
    const flag = raised(record)
    if (flag instanceof Unreadable) problems.push(problemOf('Address', flag))
    else if (flag) making.hidden = true
  }
  const street = hiddenStreet(listing.Address)
  if (making.hidden) hideAddress(listing, street)
  const mlsNumber = listing.MLSNumber ?? null
  const left = compiled.where?.(record, listing, before !== null) ?? null
  // A field that can't be read can't leave its record out.
  if (
    left !== null &&
    mlsNumber !== null &&
    !problems.some(({ field, value }) => field === left.name && value !== null)
  ) {
    return { kind: 'filtered', at, mlsNumber, why: left.why }
  }
  const columns = compiled.extension(record, making)
  const extension = before && compiled.stub ? completeColumns(compiled.stub, record, before.listing, columns) : columns
  const shown = making.hidden ? withoutStreet(extension.entries, street) : extension.entries
  const { entries, left: imagesLeftOut } = compiled.compliance.withoutImages(listing, shown)
  if (entries.length > 0) listing.ExtensionColumn = entries
  else delete listing.ExtensionColumn
  for (const { key, bad } of extension.problems) problems.push(problemOf(`ExtensionColumn ${key}`, bad))
  const unnamed = compiled.compliance.unnamed(entries)
  if (unnamed !== null && !problems.some(({ field }) => field === unnamed.field)) problems.push(unnamed)
  if (problems.length > 0 || !isWhole(listing)) return { kind: 'reject', at, mlsNumber, problems }
  const { moving, endsLater } = making
  return {
    kind: 'listing',
    at,
    listing,
    moving,
    ...(imagesLeftOut && { imagesLeftOut }),
    ...(endsLater && { endsLater }),
  }
}

function isWhole(listing: Partial<Listing>): listing is Listing {
  return fieldRules.every(({ name, required }) => !required || listing[name] !== undefined)
}

/**
 * What goes with an address that may not be shown (`hideAddress`, vocab §12). What may not be shown in one place
 * must not be shown in another: titles, headlines and descriptions name the street, too.
 */

/** Shortest street that is looked for in other texts: `1 A` would be found everywhere. */
const shortest = 5
/** So much of a street is enough to find it; an expression of a whole description is too large to be one. */
const longest = 200

/** What to look for in other texts: the street without its unit, so that `2/39 Main Road` and `39 Main Road #2` are one. */
export function hiddenStreet(street: string | undefined): string | null {
  const bare = street
    ?.replace(/\s(?:#|(?:apt|apartment|unit|suite|ste)\.?\s)\s*\S+$/i, '')
    .replace(/^[^/]{1,20}\/(?=\d)/, '')
    .toLowerCase()
  return bare === undefined || bare.length < shortest ? null : bare.slice(0, longest)
}

/** Takes street and coordinates off a listing; where other texts name the street, an ellipsis stands for it. */
export function hideAddress(listing: Partial<Listing>, street: string | null): void {
  for (const name of ['Address', 'Latitude', 'Longitude'] as const) delete listing[name]
  if (street === null) return
  const pattern = new RegExp(street.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`), 'gi')
  for (const name of ['Description', 'Location'] as const) {
    const text = listing[name]?.replaceAll(pattern, '…')
    if (text === '…') delete listing[name]
    else if (text !== undefined) listing[name] = text
  }
}

/** Columns that name the street are left out with it. */
export function withoutStreet(entries: ExtensionEntry[], street: string | null): ExtensionEntry[] {
  return street === null ? entries : entries.filter(({ value }) => !value.toLowerCase().includes(street))
}
