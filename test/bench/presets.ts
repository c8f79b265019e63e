/**
 * Records a second of every preset: its fixture's records over and over, read by the real format and mapping, beside the
 * floor of the same run (splitting and hashing the raw records). The records are the fixture's, full of dirt: many end as
 * rejects, and short ones count as much as long ones. Compare a preset with itself, not with its neighbour.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shortHash } from '../../src/core/hash.ts'
import type { Mapping } from '../../src/feed/mapping/mapping.ts'
import { figure, inFolder, sideBySide } from './measure.ts'
import { moment, openMapping, receiving } from './pipeline.ts'

const atLeast = Number(process.argv[3])
const rounds = Number(process.argv[4])

const fixtures = fileURLToPath(new URL('../../fixtures/presets', import.meta.url))

await inFolder(async (folder) => {
  for (const name of readdirSync(fixtures)) {
    const mapping = openMapping(name, optionsOf(name))
    const file = join(folder, name)
    const records = await writeRepeated(mapping, fixtureOf(name), file)
    const times = await sideBySide(
      { floor: () => hashed(mapping, file), ours: () => normalised(mapping, file, records) },
      rounds,
    )
    figure('presets', `${name}: read and mapped`, records / times.ours, 'records/s')
    figure('presets', `${name}: read and mapped / split and hashed`, times.ours / times.floor, '×')
  }
})

function fixtureOf(name: string): string {
  const folder = join(fixtures, name)
  return join(
    folder,
    readdirSync(folder).find((file) => file.startsWith('feed.'))!,
  )
}

function optionsOf(name: string): unknown {
  const file = join(fixtures, name, 'options.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}

/**
 * Writes the document with its first records over and over, and gives the number of all. They are those with the same text
 * between each two of them, which lies between the turns, too: what is parted by more may lie in another element.
 */
async function writeRepeated(mapping: Mapping, fixture: string, file: string): Promise<number> {
  const records: Buffer[] = []
  for await (const batch of receiving({ mapping }, fixture).records) records.push(...batch.map(({ raw }) => raw))
  const document = readFileSync(fixture)
  const [first, second] = records.slice(0, 2).map((raw) => inFile(document, raw))
  const start = document.indexOf(first)
  const between = document.subarray(start + first.length, document.indexOf(second, start + first.length))
  let end = start + first.length
  let count = 1
  for (const raw of records.slice(1)) {
    const next = Buffer.concat([between, inFile(document, raw)])
    if (document.indexOf(next, end) !== end) break
    end += next.length
    count++
  }
  const turns = Math.ceil(atLeast / count)
  const body = Array.from({ length: turns }, () => [document.subarray(start, end), between])
    .flat()
    .slice(0, -1)
  writeFileSync(file, Buffer.concat([document.subarray(0, start), ...body, document.subarray(end)]))
  return turns * count + records.length - count
}

/** A record's bytes as the document has them, which may be in Latin-1. */
function inFile(document: Buffer, raw: Buffer): Buffer {
  const found = [raw, Buffer.from(raw.toString(), 'latin1')].find((bytes) => document.includes(bytes))
  if (found === undefined) throw new Error(`this record is not found in its document: ${raw.toString('latin1', 0, 80)}`)
  return found
}

async function hashed(mapping: Mapping, file: string): Promise<void> {
  for await (const batch of receiving({ mapping }, file).records) for (const { raw } of batch) shortHash(raw)
}

async function normalised(mapping: Mapping, file: string, records: number): Promise<void> {
  const reading = receiving({ mapping }, file)
  let read = 0
  for await (const batch of reading.records) {
    for (const record of batch) mapping.normalise(reading.parse(record), record.at, moment)
    read += batch.length
  }
  if (read !== records) throw new Error(`${file}: ${read} of ${records} records were read`)
}
