/**
 * P1, P2, P5, P10: runs of the program in which nothing changed, in processor time, beside what nobody can do without (a
 * pass over the file that hashes the raw records, and the service's pages parsed) and beside pipelines that parse every record.
 * Those take so much for each record and nothing else, so that they are given a fifth of the records, and counted five times.
 */
import { createReadStream, readFileSync } from 'node:fs'
import { hash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { XMLParser } from 'fast-xml-parser'
import Papa from 'papaparse'
import { SaxesParser } from 'saxes'
import { shortHash } from '../../src/core/hash.ts'
import type { RecordFields, RecordNode } from '../../src/feed/format/format.ts'
import { expected, figure, inFolder, sideBySide, writeFeed } from './measure.ts'
import { moment, openMapping, receiving } from './pipeline.ts'
import { readPages, withLoaded } from './world.ts'
import type { Program, Service } from './world.ts'

const [, , name, size, rounds] = process.argv
const records = Number(size)
const format = name === 'nochange-csv' || name === 'growth' ? 'csv' : 'xml'
const goal = format === 'xml' ? 'P1' : 'P2'
/** So many times fewer records are given to the pipelines beside it. */
const part = 5
const mapping = openMapping(format === 'xml' ? 'zillow' : 'reso-csv')

await inFolder(async (folder) => {
  if (name === 'growth') return growth(folder)
  if (name === 'unchanged') return unchangedSource(folder)
  const file = writeFeed(folder, format, records)
  await withLoaded(file, format, records, async (program, service) => {
    const some = writeFeed(folder, format, records / part)
    const found = new Set<string>()
    const others: Record<string, () => Promise<void>> =
      format === 'xml'
        ? { naive: () => parsingAll(some, found), saxes: () => withSaxes(some, found) }
        : {
            papaparse: () => withPapaparse(some, (row) => add(row, found)),
            'papaparse, rows not mapped,': () =>
              withPapaparse(some, (row) => found.add(shortHash(JSON.stringify(row)))),
          }
    const pipelines = Object.fromEntries(
      Object.entries(others).map(([which, pipeline]) => [
        which,
        async () => {
          found.clear()
          await pipeline()
          expected(`listings of ${which}`, found.size, records / part)
        },
      ]),
    )
    const times: Record<string, number> = await sideBySide(
      {
        ours: () => unchanged(program, service),
        floor: async () => {
          expected('records of the pass', await pass(file), records)
          expected('items of the list', await readPages(service.url), records)
        },
        pass: async () => expected('records of the pass', await pass(file), records),
        ...pipelines,
      },
      Number(rounds),
    )
    const [title, ours] = [`${format.toUpperCase()}, ${records} listings, nothing changed`, times['ours']]
    figure(goal, `${title}: the run`, ours * 1000, 'ms')
    figure(goal, `${title}: a pass over the file`, times['pass'] * 1000, 'ms')
    figure(goal, `${title}: the service's pages, parsed`, (times['floor'] - times['pass']) * 1000, 'ms')
    figure(goal, `${title}: run / (pass + pages)`, ours / times['floor'], '×', { most: 2 })
    // The pages would be asked for by all of them, so this is about what each does besides.
    const pages = times['floor'] - times['pass']
    for (const which of Object.keys(others)) {
      const least = { naive: 20, saxes: 7, papaparse: 6 }[which]
      const rest = (times[which] * part) / (ours - pages)
      figure(
        goal,
        `${title}: ${which} / run, both without the pages`,
        rest,
        '×',
        least === undefined ? null : { least },
      )
    }
  })
})

async function unchanged(program: Program, service: Service, listings = records): Promise<void> {
  const { counts, remote, delivery } = await program.run('sync')
  expected('unchanged listings', counts.unchanged, listings)
  expected('records of the delivery', delivery.records, listings)
  expected('listings of the service', remote.listings, listings)
  const { Create, Update, Delete } = (await service.told()).calls
  expected('writing calls', Create + Update + Delete, 0)
}

async function pass(file: string): Promise<number> {
  let passed = 0
  for await (const batch of receiving({ mapping }, file).records)
    for (const record of batch) if (hash('sha256', record.raw, 'base64url') !== '') passed++
  return passed
}

/** What every import plug-in does: parse each record with fast-xml-parser, normalise it, hash the result and look it up. */
async function parsingAll(file: string, found: Set<string>): Promise<void> {
  const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '@', parseTagValue: false })
  for await (const batch of receiving({ mapping }, file).records)
    for (const { raw } of batch) {
      const document = parser.parse(raw.toString()) as Record<string, RecordFields>
      for (const fields of Object.values(document)) add(fields, found)
    }
}

function add(fields: RecordFields, found: Set<string>): void {
  for (const delivered of mapping.normalise(fields, '', moment))
    if (delivered.kind === 'listing') found.add(shortHash(JSON.stringify(delivered.listing)))
}

/** The same with the fastest parser there is: saxes builds each record, which is normalised, hashed and looked up. */
async function withSaxes(file: string, found: Set<string>): Promise<void> {
  const parser = new SaxesParser()
  const open: RecordFields[] = []
  let text = ''
  parser.on('opentag', () => {
    open.push({})
    text = ''
  })
  parser.on('text', (more) => (text += more))
  parser.on('cdata', (more) => (text += more))
  parser.on('closetag', ({ name: tag }) => {
    const fields = open.pop()!
    const parent = open.at(-1)
    if (parent === undefined) return
    if (open.length > 1) {
      const node: RecordNode = Object.keys(fields).length === 0 ? text : fields
      const before = parent[tag]
      parent[tag] = before === undefined ? node : Array.isArray(before) ? (before.push(node), before) : [before, node]
    } else add(fields, found)
    text = ''
  })
  for await (const chunk of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 }))
    parser.write(chunk as string)
  parser.close()
}

/** papaparse as its README shows it for Node; each row is normalised, hashed and looked up, as XML's records are. */
async function withPapaparse(file: string, take: (row: RecordFields) => void): Promise<void> {
  const stream = createReadStream(file).pipe(Papa.parse(Papa.NODE_STREAM_INPUT, { header: true }))
  for await (const row of stream) take(row as RecordFields)
}

/** P5: ten times as many listings. */
async function growth(folder: string): Promise<void> {
  const small = Math.ceil(records / 10)
  await withLoaded(writeFeed(folder, format, small), format, small, async (less, lesser) =>
    withLoaded(writeFeed(folder, format, records), format, records, async (more, larger) => {
      const { few, many } = await sideBySide(
        { few: () => unchanged(less, lesser, small), many: () => unchanged(more, larger) },
        Number(rounds),
      )
      figure('P5', `nothing changed: ${records} listings / ${small}`, many / few, '×', { most: 11 })
      figure('P5', `nothing changed: ${records} listings`, many * 1000, 'ms')
      figure('P5', `nothing changed: ${small} listings`, few * 1000, 'ms')
    }),
  )
}

/** P10: a source that says by its ETag that it has not changed. */
async function unchangedSource(folder: string): Promise<void> {
  const content = readFileSync(writeFeed(folder, format, records))
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.headers['if-none-match'])
    if (request.headers['if-none-match'] === '"one"') response.writeHead(304).end()
    else response.writeHead(200, { 'content-type': 'text/xml', etag: '"one"' }).end(content)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed.xml`
  await withLoaded(source, format, records, async (program, service) => {
    const requests: number[] = []
    const { ours, pages } = await sideBySide(
      {
        async ours() {
          asked.length = 0
          const { counts } = await program.run('sync')
          expected('changes', counts.create + counts.update + counts.delete + counts.hold, 0)
          expected('requests and their ETags', asked, ['"one"'])
          requests.push(asked.length)
        },
        pages: async () => expected('items of the list', await readPages(service.url), records),
      },
      Number(rounds),
    )
    figure('P10', 'requests to a source that has not changed', Math.max(...requests), '', { most: 1 })
    figure('P10', `${records} listings, source not changed: run / pages parsed`, ours / pages, '×')
  })
  await new Promise((closed) => server.close(closed))
}
