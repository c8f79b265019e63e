/** A run in which one listing changed: the service's whole list read by it, beside look-ups in its place. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expected, figure, inFolder, quickDisk, sideBySide, writeFeed } from './measure.ts'
import { configure, feedOf, openProgram, startService } from './world.ts'

const [, , , size, times] = process.argv
const records = Number(size)
/** Calls a second, as the configuration has it by default. */
const rate = 5

/** A chatbot of its own, loaded; gives a run that finds one listing changed, and the calls of the last one. */
async function loaded(folder: string, observe: string) {
  const service = await startService()
  const source = join(folder, `${observe}.xml`)
  const document = readFileSync(writeFeed(folder, 'xml', records), 'utf8')
  writeFileSync(source, document)
  const feed = { ...feedOf(source, 'xml'), observe, volatile: { refresh: '365d' } }
  const store = join(folder, `${observe}.db`)
  const program = await openProgram(configure(folder, service.url, { bench: feed }, { store }), null)
  await program.run('backfill')
  await program.run('sync')
  await service.told()
  const [price] = /<Price>\d+/.exec(document)!
  let dearer = Number(price.slice('<Price>'.length))
  return {
    calls: { List: 0, Update: 0 },
    async run(): Promise<void> {
      writeFileSync(source, document.replace(price, `<Price>${++dearer}`))
      const { counts } = await program.run('sync')
      expected('what the run found', [counts.update, counts.unchanged], [1, records - 1])
      const { calls } = await service.told()
      expected('updates', calls.Update, 1)
      this.calls = calls
    },
    async end(): Promise<void> {
      await program.app.close()
      await service.end()
    },
  }
}

await inFolder(async (folder) => {
  const [always, seldom] = [await loaded(folder, 'every run'), await loaded(folder, '6h')]
  const medians = await sideBySide({ always: () => always.run(), seldom: () => seldom.run() }, Number(times))
  const what = `${records} listings, one changed`
  const calls = ({ List, Update }: typeof always.calls): number => List + Update
  expected('calls with observe: 6h', calls(seldom.calls), 5)
  figure('', `${what}, observe: every run: calls`, calls(always.calls), '')
  figure('', `${what}, observe: 6h: calls`, calls(seldom.calls), '')
  figure('', `${what}, observe: every run: at ${rate} calls a second`, calls(always.calls) / rate, 's')
  figure('', `${what}, observe: 6h: at ${rate} calls a second`, calls(seldom.calls) / rate, 's')
  figure('', `${what}, observe: every run: processor time`, medians.always * 1000, 'ms')
  figure('', `${what}, observe: 6h: processor time`, medians.seldom * 1000, 'ms')
  figure('', `${what}: time with observe: 6h / every run`, medians.seldom / medians.always, '×', { most: 1 })
  await always.end()
  await seldom.end()
}, quickDisk)
