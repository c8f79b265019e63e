/** Deliveries that are made to do harm, by a grammar for each format: what a seed gives is always the same. */
import { gzipSync } from 'node:zlib'
import { pick } from '../support/random.ts'
import { zip } from '../support/zip.ts'
import { usualLimits } from './feeds.ts'
import type { Sound } from './mutations.ts'
import { bodies, doctypes, names, runs, tokens, values } from './nasty.ts'

type Random = () => number

/** Characters of which a delivery is full: what is made and cut off would be the generator's memory, not the program's. */
const longest = 2_000_000

/** A delivery in the making. */
interface Draft {
  random: Random
  /** The names that the feed's own preset looks for. */
  own: readonly string[]
  /** How many characters it may still take. */
  room: number
}

/** Mostly few, now and then very many. */
const many = (random: Random, most: number): number => Math.floor(most ** (random() ** 2))

/** So many pieces, as far as there is room. */
function pieces(draft: Draft, count: number, make: (at: number) => string): string[] {
  const made: string[] = []
  while (made.length < count && draft.room > 0) made.push(make(made.length))
  return made
}

/** The same text, which takes its room. */
function taken(draft: Draft, text: string): string {
  draft.room -= text.length
  return text
}

/** A value: nasty, long, or both; `size` is the most characters of a run. */
function value(draft: Draft, size: number): string {
  const { random } = draft
  if (random() < 0.6) return taken(draft, pick(random, values))
  const run = pick(random, runs)
  const repeated = pick(random, ['', '1', 'x']) + run.repeat(Math.ceil(many(random, size) / run.length))
  return taken(draft, repeated + pick(random, ['', '!']))
}

/** Names that the feed's own preset looks for, and such as mean something to a program. */
const nameOf = ({ random, own }: Draft): string =>
  random() < 0.8 && own.length > 0 ? pick(random, own) : pick(random, names)

function attributes(draft: Draft): string {
  const { random } = draft
  const count = random() < 0.8 ? 0 : many(random, 500)
  const each = (at: number): string => taken(draft, ` a${random() < 0.1 ? 0 : at}="${pick(random, values)}"`)
  return pieces(draft, count, each).join('')
}

function element(draft: Draft, depth: number): string {
  const { random } = draft
  const name = taken(draft, nameOf(draft))
  const close = random() < 0.95 ? `</${name}>` : pick(random, ['', `</${pick(random, names)}>`, '/>'])
  return `<${name}${attributes(draft)}>${content(draft, depth)}${close}`
}

function content(draft: Draft, depth: number): string {
  const { random } = draft
  const kind = random()
  if (kind < 0.5 || depth > 5) return value(draft, 20_000).replaceAll('<', '&lt;')
  if (kind < 0.6) return `<![CDATA[${value(draft, 20_000)}]]>`
  if (kind < 0.65) return `<!--${value(draft, 5000)}-->`
  if (kind < 0.7) return taken(draft, pick(random, tokens))
  if (kind < 0.72) return taken(draft, '<d>'.repeat(many(random, 20_000)))
  return pieces(draft, many(random, 30), () => element(draft, depth + 1)).join('')
}

/** Of nothing but small pieces, about as long as a record may be: to a parser each is much more than its bytes. */
function crumbs(random: Random, record: string): string {
  const piece = pick(random, ['<d/>', '<d>1</d>', ' a="1"', ' b'])
  const many = piece.repeat((random() * usualLimits.maxRecordBytes * 1.1) / piece.length)
  return piece.startsWith('<') ? `<${record}>${many}</${record}>` : `<${record}${many}/>`
}

function xmlDocument(random: Random, { path, records }: Sound): string {
  const steps = path.split('/').map((step) => step.split('|')[0])
  const own = [...new Set(records.join('').match(/(?<=<)[A-Za-z][\w.-]*/g))]
  const draft: Draft = { random, own, room: longest }
  const record = steps.at(-1) ?? 'x'
  const inner = pieces(draft, many(random, 60), () => {
    if (random() < 0.2 && records.length > 0) return taken(draft, pick(random, records).toString('utf8'))
    if (random() < 0.002) return taken(draft, crumbs(random, record))
    const fields = pieces(draft, many(random, 200), () => element(draft, 0))
    return `<${record}${attributes(draft)}>${fields.join('')}</${record}>`
  })
  const outer = steps.slice(0, -1)
  const doctype = random() < 0.15 ? pick(random, doctypes).replaceAll('#', outer[0] ?? record) : ''
  const end = random() < 0.8 ? outer.toReversed().map((step) => `</${step}>`) : []
  return `<?xml version="1.0"?>${doctype}${outer.map((step) => `<${step}>`).join('')}${inner.join('\n')}${end.join('')}`
}

/** CSV, RETS COMPACT and BLM: the feed's own head, and rows of hostile cells as wide as its own, wider or narrower. */
function table(random: Random, { bytes, records, format }: Sound): string {
  const whole = bytes.toString('utf8')
  const first = records.length === 0 ? -1 : bytes.indexOf(records[0])
  const head = first < 0 ? '' : bytes.subarray(0, first).toString('utf8')
  const last = records.at(-1)
  const tail = last === undefined ? '' : bytes.subarray(bytes.lastIndexOf(last) + last.length).toString('utf8')
  const mark = { 'rets-compact': '\t', blm: '^' }[format] ?? pick(random, [',', ';', '\t', '|'])
  const width = head.split('\n').reduce((most, line) => Math.max(most, line.split(mark).length), 1)
  const quote = (text: string): string => (random() < 0.7 ? `"${text.replaceAll('"', '""')}"` : text)
  const draft: Draft = { random, own: [], room: longest }
  const rows = pieces(draft, many(random, 200), () => {
    if (random() < 0.2 && records.length > 0) return taken(draft, pick(random, records).toString('utf8'))
    const cells = random() < 0.8 ? width : many(random, 5000)
    const row = pieces(draft, cells, () => value(draft, random() < 0.02 ? 100_000 : 50))
      .map(quote)
      .join(mark)
    return format === 'rets-compact' ? `<DATA>${row}</DATA>\n` : `${row}${format === 'blm' ? '~' : ''}\n`
  })
  return (random() < 0.9 ? head : whole.slice(0, 200)) + rows.join('') + (random() < 0.8 ? tail : '')
}

/** A small file that unpacks to a large one, nested or beside another. */
function packed(random: Random, bytes: Buffer): Buffer {
  const kind = random()
  if (kind < 0.4) return gzipSync(bytes, { level: 1 })
  if (kind < 0.6) return gzipSync(Buffer.concat([bytes, Buffer.alloc(many(random, 60_000_000), pick(random, runs))]))
  if (kind < 0.8) return gzipSync(gzipSync(bytes))
  const members = Array.from({ length: many(random, 50) }, (_, at) => ({ name: `../${at}.xml`, content: bytes }))
  return zip(random() < 0.5 ? members : [{ name: 'feed.xml', content: bytes }])
}

export function hostileDelivery(sound: Sound, random: Random): { bytes: Buffer; done: string[] } {
  if (random() < 0.02) return { bytes: pick(random, bodies), done: ['hostile', 'body'] }
  const text = sound.format === 'xml' ? xmlDocument(random, sound) : table(random, sound)
  const bytes = Buffer.from(random() < 0.9 ? text : text.slice(0, random() * text.length))
  return random() < 0.05 ? { bytes: packed(random, bytes), done: ['hostile', 'packed'] } : { bytes, done: ['hostile'] }
}
