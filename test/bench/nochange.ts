/**
 * P1 and P2: a run in which nothing changed, from file to empty plan against SQLite, beside its floor (splitting and
 * hashing the raw records) and beside the pipelines that parse every record.
 */
import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { hash } from 'node:crypto'
import Papa from 'papaparse'
import { SaxesParser } from 'saxes'
import { shortHash } from '../../src/core/hash.ts'
import type { Listing } from '../../src/core/listing.ts'
import type { RecordFields, RecordNode } from '../../src/feed/format/format.ts'
import { inFolder, ratio, sideBySide, writeFeed } from './measure.ts'
import { planned, receiving, remembered } from './pipeline.ts'
import type { Pipeline } from './pipeline.ts'

const [, , name, size] = process.argv
const records = Number(size)
const format = name === 'nochange-xml' ? 'xml' : 'csv'

await inFolder(async (folder) => {
  const file = writeFeed(folder, format, records)
  const pipeline = await remembered(file, format, join(folder, 'store.db'))
  console.log(`${name}, ${records} records, nothing changed`)
  const ours = async (): Promise<void> => {
    const counts = await planned(pipeline, file)
    if (counts.changes !== 0 || counts.unchanged !== records)
      throw new Error(`the plan was not empty: ${JSON.stringify(counts)}`)
  }
  const floor = async (): Promise<void> => {
    let bytes = 0
    for await (const batch of receiving(pipeline, file).records)
      for (const record of batch) bytes += hash('sha256', record.raw, 'base64url').length
    if (bytes === 0) throw new Error('nothing was read')
  }
  const naive = (): Promise<void> => parsingAll(pipeline, file)
  const others: Record<string, () => Promise<void>> =
    format === 'xml' ? { naive, saxes: () => withSaxes(pipeline, file) } : { papaparse: () => withPapaparse(file) }
  // At fifty milliseconds a round, the first dozen measure how fast the code becomes fast; all subjects get their time.
  const small = records <= 20_000
  const times = await sideBySide({ floor, ours }, small ? 31 : 7)
  Object.assign(times, await sideBySide(others, small ? 5 : 1))
  for (const [subject, time] of Object.entries(times))
    console.log(`  ${subject.padEnd(60)} ${time.toFixed(0).padStart(8)} ms`)
  if (format === 'xml') {
    ratio('ours / floor', times['ours'] / times['floor'], 'at most 1.60')
    ratio('naive (split, parse, normalise, hash every record) / ours', times['naive'] / times['ours'], 'at least 20')
    ratio('saxes (parse, normalise, hash every record) / ours', times['saxes'] / times['ours'], 'at least 7')
  } else {
    ratio('ours / floor', times['ours'] / times['floor'], '(none set)')
    ratio('papaparse the usual way, with a diff / ours', times['papaparse'] / times['ours'], 'at least 6')
  }
  await pipeline.store.close()
})

/** What every import plug-in does: parse each record, normalise it, hash the result and look it up. */
async function parsingAll({ mapping, store, moment }: Pipeline, file: string): Promise<void> {
  const reading = receiving({ mapping }, file)
  for await (const batch of reading.records) {
    const hashes: string[] = []
    for (const record of batch) {
      for (const one of mapping.normalise(reading.parse(record), record.at, moment)) {
        if (one.kind === 'listing') hashes.push(shortHash(JSON.stringify(one.listing satisfies Listing)))
      }
    }
    await store.snapshot.baselines('bench', hashes)
  }
}

/** The same with the fastest parser there is: saxes builds each record, which is normalised, hashed and looked up. */
async function withSaxes({ mapping, store, moment }: Pipeline, file: string): Promise<void> {
  const parser = new SaxesParser()
  const open: RecordFields[] = []
  let hashes: string[] = []
  let text = ''
  parser.on('opentag', () => {
    open.push({})
    text = ''
  })
  parser.on('text', (more) => (text += more))
  parser.on('cdata', (more) => (text += more))
  parser.on('closetag', ({ name }) => {
    const fields = open.pop()!
    const parent = open.at(-1)
    if (parent === undefined) return
    if (open.length > 1) {
      const node: RecordNode = Object.keys(fields).length === 0 ? text : fields
      const before = parent[name]
      parent[name] = before === undefined ? node : Array.isArray(before) ? (before.push(node), before) : [before, node]
    } else {
      for (const one of mapping.normalise(fields, '', moment)) {
        if (one.kind === 'listing') hashes.push(shortHash(JSON.stringify(one.listing)))
      }
    }
    text = ''
  })
  for await (const chunk of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
    parser.write(chunk as string)
    await store.snapshot.baselines('bench', hashes)
    hashes = []
  }
  parser.close()
}

/** papaparse as its README shows it for Node, and the diff against a table of hashes. */
async function withPapaparse(file: string): Promise<void> {
  const Database = createRequire(import.meta.url)('better-sqlite3') as typeof import('better-sqlite3')
  const database = new Database(':memory:')
  database.exec('CREATE TABLE seen (hash TEXT PRIMARY KEY) WITHOUT ROWID')
  const add = database.prepare('INSERT OR IGNORE INTO seen VALUES (?)')
  const stream = createReadStream(file).pipe(Papa.parse(Papa.NODE_STREAM_INPUT, { header: true }))
  database.exec('BEGIN')
  for await (const row of stream) add.run(shortHash(JSON.stringify(row)))
  database.exec('COMMIT')
  database.close()
}
