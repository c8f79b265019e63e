/**
 * Turns a record of a feed into a validated listing. An invalid record becomes a reject with every problem; no record stops
 * a run.
 */
import { ConfigError, messageOf } from '../../core/errors.ts'
import { shortHash } from '../../core/hash.ts'
import { fieldRules, ownerKey } from '../../core/listing.ts'
import type { Delivered, Listing, MovingListing, Problem } from '../../core/listing.ts'
import type { RecordFields } from '../format/format.ts'
import { outsideNames } from '../format/format.ts'
import { formats } from '../format/formats.ts'
import { symbolOfCurrency } from './countries.ts'
import { compileCompliance, hideAddress, pathsOfFlags, withoutStreet } from './compliance.ts'
import { RuleError, Unreadable, problemOf } from './converters/converter.ts'
import type { Making, Read, Unmapped } from './converters/converter.ts'
import { compileExtension } from './extension.ts'
import { alwaysGiven, byDefaultOf, defaultsProblems, withFurther } from './defaults.ts'
import type { Defaults } from './defaults.ts'
import { inOrder, readField, templatesOf, withAffixes } from './field.ts'
import type { FieldStep } from './field.ts'
import { formatOptions } from './fields-read.ts'
import { hiddenStreet } from './hidden-street.ts'
import { compileJoins, joinProblems, keepConfirmed } from './join.ts'
import type { KnownListing, Mapping, Moment } from './mapping.ts'
import { mendRecord } from './mojibake.ts'
import { isFieldName, unknownFields } from './names.ts'
import { compileParts } from './parts.ts'
import { compilePlaceholders, placeholderProblems } from './placeholders.ts'
import { rowPaths } from './path-row.ts'
import { PathError, elementPaths } from './path.ts'
import type { Paths } from './path.ts'
import type { MappingOptions, Preset, Variant } from './preset.ts'
import { compileMapping } from './rule.ts'
import type { FieldMapping } from './rule-keys.ts'
import { compileStub, complete, completeColumns, isStub, stubProblems, unknownStub } from './stub.ts'
import { wordKey } from './vocabulary.ts'
import { unfinished, unfinishedProblems } from './unfinished.ts'
import { compileWhere, whereMoves, whereProblems } from './where.ts'

/** Part of `Mapping.version`: raise it when this code makes another listing of the same record. */
const MAPPING_CODE = 14

/**
 * Compiles a preset with a feed's options. `file` names the configuration in problems; `unmapped` is called for words that
 * no rule maps. Throws `ConfigError` with every problem: unknown fields, converters, paths, templates, values. `isRight`: it
 * is known to have none, and nothing is compiled before it is used.
 */
export function createMapping(
  preset: Preset,
  options: MappingOptions,
  file = preset.file,
  unmapped?: Unmapped,
  isRight = false,
): Mapping {
  // Made again when needed: a hundred kilobytes, which a daemon with a thousand feeds would keep for feeds that are not running.
  const made = madeAgain(() => ({
    compiled: { ...compile(preset, options, file), unmapped },
    variants: preset.variants.map((variant) => ({ ...compile(preset, options, file, variant), unmapped })),
  }))
  if (!isRight) made()
  const mendsText = options.repair === 'double-utf8'
  let version: string | null = null
  const mapping: Mapping = {
    // A getter, as loading Node's hashes takes several milliseconds, and commands that only read the store need none.
    get version() {
      return (version ??= shortHash(JSON.stringify([MAPPING_CODE, { ...preset, file: null }, options])))
    },
    delivery: options.delivery ?? preset.delivery,
    ...(options.delivery === undefined &&
      preset.deliveryFrom !== undefined && { deliveryOf: (header) => deliveryNamed(preset, header) }),
    dates: preset.dates,
    format: preset.format,
    formatOptions: formatOptions(preset, options),
    mendsText,
    normalise(record, at, moment, known = () => null) {
      const { compiled, variants } = made()
      if (mendsText) mendRecord(record)
      compiled.refer(record)
      const chosen = variants.length === 0 ? variants : variants.filter((variant) => applies(variant, record, moment))
      if (chosen.length > 0) return chosen.map((variant) => delivered(variant, record, at, moment, known))
      const only = delivered(compiled, record, at, moment, known)
      if (only.kind === 'listing' || only.mlsNumber === null || variants.length === 0) return [only]
      const { mlsNumber } = only
      // A wrong record stands for every listing that it could be, so that none of them counts as absent.
      return preset.variants.map(({ suffix }) => ({ ...only, mlsNumber: mlsNumber + suffix }))
    },
    placeOf(record, moment) {
      const { compiled } = made()
      compiled.refer(record)
      compiled.paths.prepare(record)
      const making = begun(moment)
      const place = ['Address', 'City', 'ZIP']
      for (const step of compiled.steps) if (place.includes(step.rule.name)) readField(step, record, making, [])
      return making.listing
    },
  }
  if (!formats[preset.format].nested)
    mapping.reads = (column) => {
      const { compiled, variants } = made()
      return [compiled, ...variants].some(({ paths }) => paths.means?.(column))
    }
  const { join, placeholders } = options
  if (join !== undefined) mapping.joins = made().compiled.joined.joins
  if (preset.stub !== undefined || placeholders !== undefined || join !== undefined)
    mapping.asksFor = (record, moment) => {
      const { paths, stub, placeholders, joined, refer } = made().compiled
      refer(record)
      paths.prepare(record)
      const asked: string[] = []
      const known: KnownListing = (mlsNumber) => (asked.push(mlsNumber), null)
      const isPartial = stub !== null && isStub(stub, record)
      if (placeholders !== null || isPartial || joined.lacks(record).length > 0)
        mapping.normalise(record, '', moment, known)
      return asked
    }
  return mapping
}

/** Keeps what `make` made, drops it if it is not used for long, and makes it again when needed. */
function madeAgain<Made extends object>(make: () => Made): () => Made {
  let kept: WeakRef<Made> | null = null
  return () => {
    let made = kept?.deref()
    if (made === undefined) kept = new WeakRef((made = make()))
    return made
  }
}

function deliveryNamed({ delivery, deliveryFrom }: Preset, header: Readonly<Record<string, string>>): 'full' | 'delta' {
  const word = wordKey(deliveryFrom ? (header[deliveryFrom.header] ?? '') : '')
  if (deliveryFrom?.full.some((full) => wordKey(full) === word)) return 'full'
  return deliveryFrom?.delta.some((delta) => wordKey(delta) === word) ? 'delta' : delivery
}

/**
 * Problems of a feed's options, or of a whole mapping, that can be found without compiling paths. `rules`: the JSON of the
 * mapping's rules, if known.
 */
export function optionProblems(options: MappingOptions, rules = ''): string[] {
  const { fields = {}, defaults = {}, where = {}, extension = {} } = options
  const problems = [...unknownFields(fields), ...defaultsProblems(defaults, rules), ...unfinishedProblems(options)]
  if ('ExtensionColumn' in fields) problems.push('fields.ExtensionColumn: its columns are written under extension')
  const given = alwaysGiven(defaults)
  const { currency, placeholders } = options
  if (placeholders !== undefined) problems.push(...placeholderProblems(placeholders, given, rules))
  if (currency !== undefined && currency !== unfinished && symbolOfCurrency(currency) === undefined)
    problems.push(`currency: "${currency}" is no currency of ISO 4217, such as EUR or USD`)
  if (currency !== undefined && given.has('CurrencySymbol'))
    problems.push('currency: says the same as defaults.CurrencySymbol; leave one of them out')
  if (ownerKey in extension) problems.push(`extension.${ownerKey}: this key is reserved for listing-sync`)
  return [...problems, ...whereProblems(where, rules)]
}

/** The configured values for records that lack a field, with a currency as its symbol. */
function defaultsOf({ currency, defaults }: MappingOptions): Defaults {
  const symbol = currency === undefined ? undefined : symbolOfCurrency(currency)
  return withFurther(defaults, symbol === undefined ? {} : { CurrencySymbol: symbol })
}

/** The rules of a preset. The currency of the configuration takes the place of one that the preset takes for granted. */
function takenFor(fields: Preset['fields'], { currency }: MappingOptions): Record<string, FieldMapping> {
  if (currency === undefined) return fields
  const rules = [fields['CurrencySymbol'] ?? []].flat()
  const read = rules.filter((rule) => typeof rule === 'string' || rule.value === undefined || rule.when !== undefined)
  return { ...fields, CurrencySymbol: read }
}

function pathsOf({ format, formatOptions, names }: Preset): Paths {
  return formats[format].nested
    ? elementPaths(names === 'loose', outsideNames(formatOptions))
    : rowPaths(formatOptions.columns !== undefined)
}

type Compiled = ReturnType<typeof compile> & { unmapped: Unmapped | undefined }

function compile(preset: Preset, options: MappingOptions, file: string, variant?: Variant) {
  const paths = pathsOf(preset)
  const fields = { ...takenFor(preset.fields, options), ...variant?.fields, ...options.fields }
  const extension = { ...preset.extension, ...options.extension }
  const rules = JSON.stringify([Object.values(fields), preset.variants, Object.values(extension)])
  const problems = [
    ...optionProblems({ ...options, fields, extension }, rules),
    ...stubProblems(preset.stub, preset.fields, preset.extension),
  ]
  const attempt = <Result>(label: string, make: () => Result): Result | null => {
    try {
      return make()
    } catch (error) {
      if (!(error instanceof RuleError || error instanceof PathError)) throw error
      problems.push(`${label}: ${messageOf(error)}`)
      return null
    }
  }

  const before = new Set<string>()
  const surroundings = {
    paths,
    numbers: options.numbers ?? preset.numbers,
    dates: preset.dates,
    statuses: { ...preset.statuses, ...options.statuses },
    imageBase: options.imageBase,
    before,
  }
  const defaults = defaultsOf(options)
  const steps = inOrder(fields).map((rule): FieldStep => {
    const { name } = rule
    const read = fields[name] && attempt(`fields.${name}`, () => compileMapping(fields[name], rule, surroundings))
    before.add(name)
    const whole =
      read && name === 'MLSNumber' ? withAffixes(read, options.mlsPrefix ?? '', variant?.suffix ?? '') : read
    const isOfNumber = templatesOf(fields[name]).some((template) => template.includes('{MLSNumber}'))
    return { rule, read: whole || null, byDefault: byDefaultOf(name, defaults), isOfNumber }
  })
  const when = variant && attempt('variants.when', () => compileMapping(variant.when, null, surroundings))
  const columns = new Map<string, Read>()
  for (const [key, mapping] of Object.entries(extension)) {
    const read = attempt(`extension.${key}`, () => compileMapping(mapping, null, surroundings))
    if (read) columns.set(key, read)
  }
  const compliance = compileCompliance(preset, options, columns.keys(), paths, attempt, problems)
  const stub = attempt('stub', () => compileStub(preset.stub, paths))
  for (const name of Object.keys(options.where ?? {})) {
    if (!isFieldName(name)) attempt(`where.${name}`, () => paths.compile(name))
  }
  const others = [preset.variants, extension, Object.keys(options.where ?? {}), pathsOfFlags([preset, options])]
  problems.push(...joinProblems(options.join ?? {}, fields, others))
  const refer = attempt('parts', () => compileParts(preset.formatOptions, paths))
  const joined = attempt('join', () => compileJoins(options.join, fields, paths))
  const extended = attempt('extensionGroups', () => compileExtension(columns, preset.extensionGroups, paths))
  if (problems.length > 0 || !extended || !joined || !refer) throw new ConfigError(file, problems)
  const where = options.where
    ? { leavesOut: compileWhere(options.where, paths), moves: whereMoves(options.where) }
    : null
  const placeholders = compilePlaceholders(options.placeholders)
  return { paths, steps, compliance, stub, where, extension: extended, when: when ?? null, placeholders, joined, refer }
}

function begun(moment: Moment): Making {
  return { listing: {}, moving: {}, moment, kept: [], removal: null, hidden: false, unread: [] }
}

/** An unreadable value counts as present: the listing is then rejected with the reason. */
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
    if (step.rule.name === 'Status') making.removal ??= compiled.compliance.forbids(making.listing)
    // A removal only needs its MLSNumber: sold records are often partial.
    const { MLSNumber } = making.listing
    if (making.removal !== null && step.rule.name === 'Status') {
      if (MLSNumber !== undefined) return { kind: 'removal', at, mlsNumber: MLSNumber, why: making.removal }
      return { kind: 'reject', at, mlsNumber: null, problems: problems.filter(({ field }) => field === 'MLSNumber') }
    }
    if (step.rule.name === 'Status' && compiled.stub !== null && isStub(compiled.stub, record)) {
      const before = MLSNumber === undefined ? null : known(MLSNumber)
      if (before === null) return unknownStub(making.listing, problems, at)
      // Missing fields are no problem here, and the others are read again over the confirmed listing.
      const wrong: Problem[] = []
      const completed = complete(compiled.stub, compiled.steps, record, making, before, wrong)
      completed.removal ??= compiled.compliance.forbids(completed.listing)
      if (completed.removal !== null)
        return { kind: 'removal', at, mlsNumber: before.listing.MLSNumber, why: completed.removal }
      return finished(compiled, record, completed, wrong, at, before)
    }
  }
  const unknown = compiled.joined.lacks(record)
  const { MLSNumber } = making.listing
  if (unknown.length > 0) keepConfirmed(making.listing, unknown, MLSNumber === undefined ? null : known(MLSNumber))
  const lacking = compiled.placeholders?.(making.listing, problems, known) ?? []
  if (lacking.length > 0) making.moving.placeholders = lacking
  return finished(compiled, record, making, problems, at, null)
}

/** The result once all fields are read; `before`: the confirmed listing under a stub. */
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
  const street = making.hidden ? hiddenStreet(listing.Address) : null
  if (making.hidden) hideAddress(listing, street)
  const mlsNumber = listing.MLSNumber ?? null
  const left = compiled.where?.leavesOut(record, listing, before !== null) ?? null
  if (compiled.where?.moves(making.moving)) making.endsLater = true
  const { moving, endsLater, imageFiles } = making
  // An unreadable field never leaves its record out.
  const { unread } = making
  const isUnreadable =
    left !== null && [...problems, ...unread].some(({ field, value }) => field === left.name && value !== null)
  if (isUnreadable) problems.push(...unread.filter(({ field }) => field === left.name))
  if (left !== null && mlsNumber !== null && !isUnreadable)
    return { kind: 'filtered', at, mlsNumber, why: left.why, ...(endsLater && { endsLater }) }
  const columns = compiled.extension(record, making)
  const extension = before && compiled.stub ? completeColumns(compiled.stub, record, before.listing, columns) : columns
  const shown = making.hidden ? withoutStreet(extension.entries, street) : extension.entries
  const { entries, left: imagesLeftOut } = compiled.compliance.withoutImages(listing, shown)
  if (entries.length > 0) listing.ExtensionColumn = entries
  else if (listing.ExtensionColumn !== undefined) delete listing.ExtensionColumn
  for (const { key, bad } of extension.problems) unread.push(problemOf(`ExtensionColumn ${key}`, bad))
  const unnamed = compiled.compliance.unnamed(entries)
  if (unnamed !== null) problems.push(unread.find(({ field }) => field === unnamed.field) ?? unnamed)
  if (problems.length > 0 || !isWhole(listing)) return { kind: 'reject', at, mlsNumber, problems }
  const more = {
    ...(imagesLeftOut && { imagesLeftOut }),
    ...(imageFiles && { imageFiles }),
    ...(endsLater && { endsLater }),
    ...(unread.length > 0 && { unread }),
  }
  return { kind: 'listing', at, listing, moving, ...more }
}

const requiredFields = fieldRules.flatMap(({ name, required }) => (required ? name : []))

function isWhole(listing: Partial<Listing>): listing is Listing {
  return requiredFields.every((name) => listing[name] !== undefined)
}

/** Removes coordinates that are incomplete or 0,0. */
function tidyCoordinates(listing: Partial<Listing>): void {
  const { Latitude, Longitude } = listing
  if (Latitude === undefined || Longitude === undefined || (Latitude === 0 && Longitude === 0)) {
    delete listing.Latitude
    delete listing.Longitude
  }
}
