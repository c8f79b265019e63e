/** What must hold of a run over any bytes at all. Nothing here asks the program whether a document is whole. */
import { crc32, gunzipSync, inflateRawSync } from 'node:zlib'
import { SaxesParser } from 'saxes'
import { fieldRules } from '../../src/core/listing.ts'
import type { Listing } from '../../src/core/listing.ts'
import { deletesAllowed } from './feeds.ts'
import type { FuzzWorld, Read } from './world.ts'

/** Processor milliseconds that a feed may take: many times what is usual, and in proportion to its size. */
export const patience = (bytes: number): number => 400 + bytes / 250

/** The first thing that is wrong, in words that begin the same for the same fault; null: nothing. */
export function violation(world: FuzzWorld, bytes: Buffer, report: Read): string | null {
  return (
    uncounted(report) ??
    unsound(report) ??
    polluted() ??
    tooManyDeletes(world, report) ??
    deletesWithoutProof(world, bytes, report)
  )
}

/** Every record and every listing is counted once. */
function uncounted({ delivery, counts, changes, rejects, result }: Read): string | null {
  if (result === 'failed') return changes.length === 0 ? null : 'a failed run has changes'
  const { records, listings, removals, filtered, duplicates } = delivery
  if (records !== listings + removals + filtered + duplicates + delivery.rejects)
    return `records are not accounted for: ${JSON.stringify(delivery)}`
  if (rejects.length !== delivery.rejects) return `${rejects.length} rejects are listed, ${delivery.rejects} counted`
  const held = changes.filter(
    (change) => change.kind === 'hold' && change.held !== 'delete' && change.held !== 'forget',
  ).length
  const counted = counts.create + counts.update + counts.adopt + counts.unchanged + held
  return counted === listings ? null : `listings are not accounted for: ${counted} of ${listings}`
}

/** Whatever would be sent is what the interface takes. */
function unsound({ changes }: Read): string | null {
  for (const { kind, fields, mlsNumber } of changes) {
    if (kind !== 'create') continue
    const listing = Object.fromEntries(fields.map(({ field, to }) => [field, to])) as unknown as Listing
    for (const { name, type, required, choices } of fieldRules) {
      const value = listing[name]
      if (value === undefined) {
        if (required) return `a listing lacks ${name}: ${mlsNumber}`
        continue
      }
      if (type === 'number' && !Number.isFinite(value)) return `a listing's ${name} is ${JSON.stringify(value)}`
      if (type === 'text' && (typeof value !== 'string' || value === '')) return `a listing's ${name} is no text`
      if (choices && !choices.includes(value as string)) return `a listing's ${name} is ${JSON.stringify(value)}`
    }
    const json = JSON.stringify(listing)
    if (!json.isWellFormed() || /\\u0000|\\ud[89a-f]|"Key":"ListingSyncFeed"/i.test(json))
      return `a listing holds ${json}`
    if (/\p{Cc}|\p{Cs}/u.test(listing.MLSNumber)) return `an MLSNumber is ${JSON.stringify(listing.MLSNumber)}`
  }
  return null
}

const prototypes = [Object.prototype, Array.prototype, String.prototype, Function.prototype]
const known = prototypes.map((prototype) => Reflect.ownKeys(prototype).length)

function polluted(): string | null {
  const grown = prototypes.findIndex((prototype, index) => Reflect.ownKeys(prototype).length !== known[index])
  return grown < 0 ? null : `a prototype has got keys: ${String(Reflect.ownKeys(prototypes[grown]).at(-1))}`
}

function tooManyDeletes(world: FuzzWorld, { counts }: Read): string | null {
  const allowed = 2 * deletesAllowed(world.listings)
  return counts.delete > allowed ? `${counts.delete} deletes are planned, ${allowed} are allowed` : null
}

/** A delete by absence needs a document that is whole by every proof there is from outside. */
function deletesWithoutProof({ sound }: FuzzWorld, bytes: Buffer, { changes, delivery }: Read): string | null {
  const gone = changes.filter(({ kind, cause }) => kind === 'delete' && cause === 'absent')
  const forgotten = changes.filter(({ kind, cause }) => kind === 'forget' && cause === 'absent')
  if (gone.length + forgotten.length === 0) return null
  if (!delivery.complete) return 'deletes by absence of an incomplete delivery'
  const document = unpacked(bytes)
  if (document === null) return 'deletes by absence, though the compressed data is broken'
  const why =
    sound.format === 'xml' ? illFormed(document, sound.path, delivery.records) : unended(sound.format, document)
  return why === null ? null : `deletes by absence, though ${why}`
}

/** The document of gzip and of the first member of a zip; null where that is not whole. */
function unpacked(bytes: Buffer): Buffer | null {
  try {
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) return unpacked(gunzipSync(bytes))
    if (bytes.toString('latin1', 0, 4) !== 'PK\u0003\u0004') return bytes
    const start = 30 + bytes.readUInt16LE(26) + bytes.readUInt16LE(28)
    const data = bytes.subarray(start, start + bytes.readUInt32LE(18))
    const document = bytes.readUInt16LE(8) === 0 ? data : inflateRawSync(data)
    return crc32(document) === bytes.readUInt32LE(14) ? unpacked(document) : null
  } catch {
    return null
  }
}

const overlooked =
  /no whitespace between attributes|attribute without value|duplicate attribute|unquoted attribute value|disallowed character in attribute name|"\]\]>" is disallowed/

/**
 * What a strict parser says against the document: that it is not well formed, or that it holds more records than were
 * read. Faults that no record can be lost by are overlooked, as real feeds have them; controls are dropped, as by the program.
 */
function illFormed(document: Buffer, path: string, read: number): string | null {
  const text = decoded(document)
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff\ufffd\p{Cs}]/gu, '')
    .replaceAll('&', ' ')
    .replace(/^\s*<\?xml[^>]*\?>/, '')
    .trim()
  const parser = new SaxesParser({ fragment: false, xmlns: false })
  const steps = path.split('/').map((step) => step.split('|'))
  const open: string[] = []
  let records = 0
  let problem: string | null = null
  parser.on('error', ({ message }) => {
    // "]]>" is what CDATA within CDATA leaves behind; a section that took records with it shows in their number.
    if (!overlooked.test(message)) problem ??= message
  })
  parser.on('opentag', ({ name }) => {
    open.push(name.slice(name.indexOf(':') + 1))
    if (open.length === steps.length && steps.every((step, depth) => step.includes(open[depth]))) records++
  })
  parser.on('closetag', () => open.pop())
  parser.write(text).close()
  return problem ?? (records > read ? `${records} records are in it, and ${read} were read` : null)
}

function decoded(document: Buffer): string {
  if (document[0] === 0xff && document[1] === 0xfe) return document.toString('utf16le')
  if (document[0] === 0xfe && document[1] === 0xff) return new TextDecoder('utf-16be').decode(document)
  if (document[0] !== 0 && document[1] === 0) return document.toString('utf16le')
  if (document[0] === 0 && document[1] !== 0) return new TextDecoder('utf-16be').decode(document)
  return new TextDecoder('utf-8').decode(document)
}

/** Whether a table ends as its kind ends. */
function unended(format: string, document: Buffer): string | null {
  const text = decoded(document)
  const end = text.trimEnd()
  if (format === 'blm') return end.endsWith('#END#') ? null : 'the file does not end with #END#'
  if (format === 'rets-compact') return /<\/RETS\s*>$/.test(end) ? null : 'the document does not end with </RETS>'
  return /[\r\n]/.test(text.slice(end.length)) ? null : 'the last row has no line break'
}
