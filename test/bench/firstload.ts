/**
 * P3: reading a first load, every record parsed and mapped under watch as the program does it, beside a bare loop of the parser
 * that gives objects; and the plan, for which the program keeps, hashes, compares and guards them as well (`diff`).
 */
import { createReadStream } from 'node:fs'
import { XMLParser } from 'fast-xml-parser'
import Papa from 'papaparse'
import { systemClock } from '../../src/core/machine.ts'
import { readBudget } from '../../src/feed/format/budget.ts'
import { collectYoung, expected, figure, inFolder, median, sideBySide, writeFeed } from './measure.ts'
import { moment, openMapping, receiving } from './pipeline.ts'
import { configure, feedOf, openProgram, startService } from './world.ts'

const [, , , size, rounds] = process.argv
const records = Number(size)

for (const format of ['xml', 'csv'] as const) {
  const service = await startService()
  await inFolder(async (folder) => {
    const feed = feedOf(writeFeed(folder, format, records), format)
    const program = await openProgram(configure(folder, service.url, { bench: feed }), null)
    const parser = format === 'xml' ? bareXml : bareCsv
    const onOne = { read: [] as number[], bare: [] as number[] }
    const { plan, read, bare } = await sideBySide(
      {
        plan: async () => expected('creates', (await program.run('diff', 'changes')).counts.create, records),
        read: () => onMainThread(onOne.read, async () => expected('listings', await mapped(feed), records)),
        bare: () => onMainThread(onOne.bare, async () => expected('records', await parser(feed.source), records)),
      },
      Number(rounds),
      collectYoung,
    )
    // The first round warms up.
    const [readOnOne, bareOnOne] = [onOne.read, onOne.bare].map((all) => median(all.slice(1)))
    const title = `first load, ${format.toUpperCase()}, ${records} listings`
    const beside = 'parsed and mapped / a bare loop of the parser'
    figure('P3', `${title}: parsed and mapped, one thread`, readOnOne * 1000, 'ms')
    figure('P3', `${title}: ${beside}, one thread`, readOnOne / bareOnOne, '×', { most: 1.15 })
    figure('P3', `${title}: ${beside}, with V8's own threads`, read / bare, '×')
    figure('P3', `${title}: the whole plan / a bare loop of the parser, with V8's own threads`, plan / bare, '×')
    await program.app.close()
  })
  await service.end()
}

/** Notes the processor time of the thread that reads: V8 compiles and collects on others beside it. */
async function onMainThread(all: number[], job: () => Promise<void>): Promise<void> {
  const before = process.threadCpuUsage()
  await job()
  const { user, system } = process.threadCpuUsage(before)
  all.push((user + system) / 1e6)
}

async function mapped({ preset, source }: { preset: string; source: string }): Promise<number> {
  const mapping = openMapping(preset)
  const reading = receiving({ mapping }, source)
  const budget = readBudget({ stall: 10_000, total: 3_600_000 }, new AbortController().signal, systemClock)
  let listings = 0
  for await (const batch of reading.records)
    for (const step of budget.steps(batch))
      for (const [delivered] of budget.each(step, (record) =>
        mapping.normalise(reading.parse(record), record.at, moment),
      ))
        if (delivered.kind === 'listing') listings++
  budget.end()
  return listings
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
