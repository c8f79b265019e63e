/** Ways in which a document gets broken. Each takes bytes and gives other bytes; all chance comes from `random`. */
import { gzipSync } from 'node:zlib'
import { pick } from '../support/random.ts'
import { zip } from '../support/zip.ts'
import { bodies, byteTokens, doctypes, interruptions, names, runs, tokens, values } from './nasty.ts'

/** A sound feed: its bytes, and where in them its records lie. */
export interface Sound {
  preset: string
  format: string
  /** Of the record element from the root, with `|` between several; '' where there are no elements. */
  path: string
  bytes: Buffer
  records: Buffer[]
}

export interface Material {
  sound: Sound
  /** Another feed of any preset. */
  other: Sound
  random: () => number
}

type Mutation = (bytes: Buffer, material: Material) => Buffer

/** Documents that grow beyond this are cut: what a feed costs must stay within the seconds of a test. */
const largest = 600_000

const below = (random: () => number, limit: number): number => Math.floor(random() * limit)

/** Mostly short, now and then anything up to the whole. */
function length(random: () => number, limit: number): number {
  return Math.floor(limit * random() ** pick(random, [1, 4, 12]))
}

function slice(bytes: Buffer, random: () => number): [start: number, end: number] {
  const start = below(random, bytes.length + 1)
  return [start, Math.min(bytes.length, start + 1 + length(random, bytes.length - start))]
}

function spliced(bytes: Buffer, start: number, end: number, ...between: (string | Buffer)[]): Buffer {
  const middle = between.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))
  return Buffer.concat([bytes.subarray(0, start), ...middle, bytes.subarray(end)])
}

/** Where values stand: between tags, in attributes, in cells. */
function valuePlaces(bytes: Buffer, sound: Sound): [start: number, end: number][] {
  const text = bytes.toString('latin1')
  const pattern = sound.format === 'xml' ? /(?<=>)[^<>]*(?=<)|(?<==")[^"<]*(?=")/g : /(?<=^|[,;\t^|\n])[^,;\t^|\n~]*/g
  const places: [number, number][] = []
  for (const match of text.matchAll(pattern)) {
    if (places.push([match.index, match.index + match[0].length]) > 2000) break
  }
  return places
}

/** A sound record of the feed as it stands in these bytes, where it still does. */
function findRecord(bytes: Buffer, { sound, random }: Material): [start: number, end: number] | null {
  if (sound.records.length === 0) return null
  const record = pick(random, sound.records)
  const start = bytes.indexOf(record)
  return start < 0 ? null : [start, start + record.length]
}

/** A place just before a tag, or at the begin of a line. */
function boundary(bytes: Buffer, random: () => number): number {
  const from = below(random, bytes.length + 1)
  const next = random() < 0.5 ? bytes.indexOf(0x3c, from) : bytes.indexOf(0x0a, from) + 1
  return next <= 0 ? from : next
}

function replaceValue(bytes: Buffer, { sound, random }: Material, value: () => string | Buffer): Buffer {
  const places = valuePlaces(bytes, sound)
  if (places.length === 0) return bytes
  const [start, end] = pick(random, places)
  return spliced(bytes, start, end, value())
}

/** Cuts a mark into halves and writes the one after it otherwise: a writer that changed its mind. */
function fromTheMiddle(bytes: Buffer, random: () => number, change: (text: string) => string): Buffer {
  const middle = below(random, bytes.length + 1)
  return spliced(bytes, middle, bytes.length, Buffer.from(change(bytes.subarray(middle).toString('latin1')), 'latin1'))
}

function utf16(bytes: Buffer, bigEndian: boolean, mark: boolean): Buffer {
  const text = (mark ? '\ufeff' : '') + bytes.toString('utf8')
  const little = Buffer.from(text, 'utf16le')
  return bigEndian ? little.swap16() : little
}

export const mutations = {
  cut: (bytes, { random }) => bytes.subarray(0, below(random, bytes.length + 1)),
  cutAtBoundary: (bytes, { random }) => bytes.subarray(0, boundary(bytes, random)),
  cutHead: (bytes, { random }) => bytes.subarray(below(random, bytes.length + 1)),
  flipBits(bytes, { random }) {
    const flipped = Buffer.from(bytes)
    if (flipped.length === 0) return flipped
    for (let i = 0; i <= length(random, 40); i++) flipped[below(random, flipped.length)] ^= 1 << below(random, 8)
    return flipped
  },
  overwrite(bytes, { random }) {
    const [start, end] = slice(bytes, random)
    const written = Buffer.from(bytes)
    for (let i = start; i < Math.min(end, start + 200); i++) written[i] = below(random, 256)
    return written
  },
  deleteSlice: (bytes, { random }) => spliced(bytes, ...slice(bytes, random)),
  copySlice(bytes, { random }) {
    const [start, end] = slice(bytes, random)
    const at = below(random, bytes.length + 1)
    return spliced(bytes, at, at, bytes.subarray(start, end))
  },
  repeatSlice(bytes, { random }) {
    const [start, end] = slice(bytes, random)
    const times = 1 + length(random, Math.min(2000, largest / (end - start + 1)))
    return spliced(bytes, end, end, ...Array.from({ length: times }, () => bytes.subarray(start, end)))
  },
  deleteRecords(bytes, material) {
    let left = bytes
    for (let i = 0; i <= length(material.random, material.sound.records.length); i++) {
      const found = findRecord(left, material)
      if (found) left = spliced(left, ...found)
    }
    return left
  },
  copyRecord(bytes, material) {
    const found = findRecord(bytes, material)
    const other = findRecord(bytes, material)
    return found && other ? spliced(bytes, other[1], other[1], bytes.subarray(...found)) : bytes
  },
  nestRecord(bytes, material) {
    const found = findRecord(bytes, material)
    if (!found) return bytes
    const at = boundary(bytes, material.random)
    return spliced(bytes, at, at, bytes.subarray(...found))
  },
  foreignRecord(bytes, material) {
    const { other, random } = material
    if (other.records.length === 0) return bytes
    const found = random() < 0.5 ? findRecord(bytes, material) : null
    const at = boundary(bytes, random)
    return spliced(bytes, ...(found ?? [at, at]), pick(random, other.records))
  },
  foreignEnd: (bytes, { other, random }) =>
    spliced(
      bytes,
      below(random, bytes.length + 1),
      bytes.length,
      other.bytes.subarray(below(random, other.bytes.length)),
    ),
  twoDocuments: (bytes, { random, other }) => Buffer.concat([bytes, random() < 0.5 ? bytes : other.bytes]),
  documentWithin(bytes, { random }) {
    const at = boundary(bytes, random)
    return spliced(bytes, at, at, bytes)
  },
  token(bytes, { random }) {
    const at = random() < 0.5 ? boundary(bytes, random) : below(random, bytes.length + 1)
    return spliced(bytes, at, at, random() < 0.8 ? pick(random, tokens) : pick(random, byteTokens))
  },
  value: (bytes, material) => replaceValue(bytes, material, () => pick(material.random, values)),
  longRun: (bytes, material) =>
    replaceValue(bytes, material, () => {
      const run = pick(material.random, runs)
      const times = Math.floor(10 ** (2 + material.random() * 2.7) / run.length)
      return pick(material.random, ['', '1', 'x']) + run.repeat(times) + pick(material.random, ['', '1', 'x', '!'])
    }),
  hugeValue: (bytes, material) =>
    replaceValue(bytes, material, () =>
      Buffer.alloc(100_000 + below(material.random, 300_000), pick(material.random, runs)),
    ),
  name(bytes, { random, sound }) {
    const text = bytes.toString('latin1')
    const pattern =
      sound.format === 'xml' ? /(?<=<\/?)[A-Za-z][\w.-]*|(?<=\s)[A-Za-z][\w.-]*(?==")/g : /[A-Za-z_][\w ]*/g
    const found = [...text.slice(0, 20_000).matchAll(pattern)]
    if (found.length === 0) return bytes
    const [name] = pick(random, found)
    const otherName = pick(random, names)
    return Buffer.from(random() < 0.7 ? text.replaceAll(name, otherName) : text.replace(name, otherName), 'latin1')
  },
  manyAttributes(bytes, { random, sound }) {
    const count = Math.floor(10 ** (1 + random() * 3))
    if (sound.format === 'xml') {
      const end = bytes.indexOf('>', below(random, bytes.length + 1))
      const able = names.filter((text) => /^[A-Za-z_]+$/.test(text))
      const attribute = (i: number): string => ` ${random() < 0.01 ? pick(random, able) : `a${i}`}="${i}"`
      return end < 0 ? bytes : spliced(bytes, end, end, Array.from({ length: count }, (_, i) => attribute(i)).join(''))
    }
    const end = bytes.indexOf('\n', random() < 0.5 ? 0 : below(random, bytes.length + 1))
    const mark = pick(random, [',', ';', '\t', '|', '^'])
    return end < 0 ? bytes : spliced(bytes, end, end, Array.from({ length: count }, (_, i) => `${mark}c${i}`).join(''))
  },
  deep(bytes, { random }) {
    const at = boundary(bytes, random)
    const levels = pick(random, [50, 101, 1000, 10_000])
    const close = random() < 0.6 ? '</d>'.repeat(levels - below(random, 2)) : ''
    return spliced(bytes, at, at, '<d>'.repeat(levels), 'x', close)
  },
  doctype(bytes, { random }) {
    const root = /<([A-Za-z][\w.-]*)/.exec(bytes.toString('latin1', 0, 2000))
    const at = root?.index ?? 0
    const mutated = spliced(bytes, at, at, pick(random, doctypes).replaceAll('#', root?.[1] ?? 'x'))
    const value = mutated.indexOf('</', at + 3 + below(random, mutated.length))
    return value < 0 ? mutated : spliced(mutated, value, value, '&lol9;'.repeat(1 + below(random, 3)))
  },
  encodingSaid(bytes, { random }) {
    const name = pick(random, [
      'utf-16',
      'utf-7',
      'utf-32',
      'windows-1251',
      'shift_jis',
      'ebcdic',
      'x'.repeat(300),
      '"',
    ])
    const text = bytes.toString('latin1')
    const declaration = `<?xml version="1.0" encoding="${name}"?>`
    return Buffer.from(
      text.startsWith('<?xml') ? text.replace(/^<\?xml.*?\?>/s, declaration) : declaration + text,
      'latin1',
    )
  },
  utf16: (bytes, { random }) => utf16(bytes, random() < 0.5, random() < 0.7),
  mixedEncodings(bytes, { random }) {
    const [start, end] = slice(bytes, random)
    const part = bytes.subarray(start, end)
    const written = random() < 0.5 ? utf16(part, false, false) : Buffer.from(part.toString('latin1'), 'utf8')
    return spliced(bytes, start, end, written)
  },
  byteOrderMark: (bytes, { random }) => Buffer.concat([pick(random, byteTokens), bytes]),
  lineEnds: (bytes, { random }) =>
    fromTheMiddle(bytes, random, (text) =>
      text.replaceAll(/\r?\n/g, pick(random, ['\r\n', '\r', '\n\r', '\n\n', '\u0085', ''])),
    ),
  delimiter(bytes, { random }) {
    const [from, to] = [
      pick(random, [',', '^', '\t', ';', '"', '~', '|']),
      pick(random, [';', '\t', '|', ',', "'", '']),
    ]
    return fromTheMiddle(bytes, random, (text) => text.replaceAll(from, to))
  },
  quotes(bytes, { random }) {
    const at = boundary(bytes, random)
    return spliced(bytes, at, at, '"'.repeat(1 + length(random, 10_000)))
  },
  upperCase: (bytes, { random }) => fromTheMiddle(bytes, random, (text) => text.toUpperCase()),
  interruption(bytes, { random }) {
    const at = boundary(bytes, random)
    return spliced(bytes, at, random() < 0.4 ? bytes.length : at, pick(random, interruptions))
  },
  otherBody: (_, { random }) => pick(random, bodies),
  otherFeed: (_, { other }) => other.bytes,
  controls(bytes, { random }) {
    const written = Buffer.from(bytes)
    for (let i = 0; i <= length(random, 60); i++)
      if (written.length > 0) written[below(random, written.length)] = below(random, 32)
    return written
  },
} satisfies Record<string, Mutation>

/** The last thing that happens to a delivery: it is compressed, and that is broken, too. */
function compressed(bytes: Buffer, material: Material): Buffer {
  const { random } = material
  const middle = below(random, bytes.length + 1)
  if (random() < 0.3) {
    const others = random() < 0.2 ? [{ name: 'other.xml', content: bytes.subarray(middle) }] : []
    const checkSum = random() < 0.2 ? { checkSum: 1 } : {}
    return damaged(zip([{ name: 'feed.xml', content: bytes, stored: random() < 0.5, ...checkSum }, ...others]), random)
  }
  if (random() < 0.2) return Buffer.concat([gzipSync(bytes.subarray(0, middle)), gzipSync(bytes.subarray(middle))])
  const whole = gzipSync(bytes, { level: 1 })
  return random() < 0.1 ? Buffer.concat([whole.subarray(0, 10), bytes]) : damaged(whole, random)
}

function damaged(whole: Buffer, random: () => number): Buffer {
  switch (below(random, 4)) {
    case 0:
      return whole.subarray(0, below(random, whole.length))
    case 1:
      whole[below(random, whole.length)] ^= 1 << below(random, 8)
      return whole
    case 2:
      return Buffer.concat([whole, pick(random, byteTokens)])
    default:
      return whole
  }
}

/** Records that go by themselves are what deletes are about: drawn more often, and with every other damage. */
const kinds = [...Object.keys(mutations), 'deleteRecords', 'deleteRecords'] as (keyof typeof mutations)[]
/** Kinds that take tens of milliseconds a feed; drawn once in twenty times. */
const costly: ReadonlySet<string> = new Set(['hugeValue', 'deep', 'repeatSlice', 'manyAttributes'])

/** Breaks a sound feed in one to four ways; `done` says which. */
export function mutated(material: Material): { bytes: Buffer; done: string[] } {
  const { random } = material
  let { bytes } = material.sound
  const done: string[] = []
  const times = 1 + Math.floor(4 * random() ** 2)
  while (done.length < times) {
    const kind = pick(random, kinds)
    if (costly.has(kind) && random() < 0.8) continue
    bytes = mutations[kind](bytes, material).subarray(0, largest)
    done.push(kind)
  }
  if (random() < 0.08) {
    done.push('compressed')
    bytes = compressed(bytes, material)
  }
  return { bytes, done }
}
