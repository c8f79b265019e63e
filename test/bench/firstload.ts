/** P3: the plan of a first load (`diff` of the program: read, parse, map, keep, plan), beside a bare loop of the parser. */
import { createReadStream } from 'node:fs'
import { XMLParser } from 'fast-xml-parser'
import Papa from 'papaparse'
import { expected, figure, inFolder, sideBySide, writeFeed } from './measure.ts'
import { openMapping, receiving } from './pipeline.ts'
import { configure, feedOf, openProgram, startService } from './world.ts'

const [, , , size, rounds] = process.argv
const records = Number(size)

for (const format of ['xml', 'csv'] as const) {
  const service = await startService()
  await inFolder(async (folder) => {
    const file = writeFeed(folder, format, records)
    const program = await openProgram(configure(folder, service.url, { bench: feedOf(file, format) }), null)
    const { ours, bare } = await sideBySide(
      {
        ours: async () => expected('creates', (await program.run('diff', 'changes')).counts.create, records),
        bare: async () => expected('records', await (format === 'xml' ? bareXml(file) : bareCsv(file)), records),
      },
      Number(rounds),
    )
    const title = `first load, ${format.toUpperCase()}, ${records} listings`
    figure('P3', `${title}: the plan`, ours * 1000, 'ms')
    figure('P3', `${title}: plan / a bare loop of the parser`, ours / bare, '×', { most: 1.15 })
    await program.app.close()
  })
  await service.end()
}

async function bareXml(file: string): Promise<number> {
  const parser = new XMLParser({ ignoreAttributes: false })
  let parsed = 0
  for await (const batch of receiving({ mapping: openMapping('zillow') }, file).records) {
    for (const { raw } of batch) {
      parser.parse(raw.toString())
      parsed++
    }
  }
  return parsed
}

async function bareCsv(file: string): Promise<number> {
  const stream = createReadStream(file).pipe(Papa.parse(Papa.NODE_STREAM_INPUT, { header: true }))
  let parsed = 0
  for await (const row of stream) if (row !== null) parsed++
  return parsed
}
