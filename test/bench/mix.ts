/** Many feeds that are due all the time, where nothing changed: the daemon keeps up, and no feed comes short. */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startDaemon } from './daemon.ts'
import { expected, figure, inFolder, writeFeed } from './measure.ts'
import { configure, feedOf, startService } from './world.ts'

const [, , , size, asked] = process.argv
const many = Number(size)
const times = Number(asked)
const listings = 50
// With few feeds nobody has to wait for minutes.
const [schedule, seconds] = many < 1000 ? ['*/3 * * * * *', 3] : ['* * * * *', 60]

const service = await startService()
await inFolder(async (folder) => {
  const source = writeFeed(folder, 'xml', listings)
  const names = Array.from({ length: many }, (_, at) => `feed-${at}`)
  const feeds = Object.fromEntries(names.map((name) => [name, { ...feedOf(source, 'xml'), chatbot: name, schedule }]))
  const config = configure(folder, service.url, feeds, { store: join(folder, 'store.db') })
  const daemon = startDaemon(config, join(folder, 'memory'))
  try {
    // Each feed's first run loads it.
    await daemon.until(() => new Set(daemon.ends.map(({ feed }) => feed)).size === many)
    // All are due at the same second: counted from the middle between two bursts, or a part of one would be.
    const period = seconds * 1000
    await delay(period - (Date.now() % period) + period / 2)
    await service.told()
    daemon.ends.length = 0
    daemon.others.length = 0
    const before = daemon.processorTime()
    await delay(times * seconds * 1000)
    const ends = [...daemon.ends]
    const taken = daemon.processorTime() - before
    const { Create, Update, Delete } = (await service.told()).calls
    expected('runs that failed', ends.filter(({ isFailed }) => isFailed).length, 0)
    expected('calls that wrote', Create + Update + Delete, 0)
    const counts = names.map((name) => ends.filter(({ feed }) => feed === name).length)
    const what = `${many} feeds of ${listings} listings, due every ${seconds} s`
    figure('mix', `${what}: runs due that were made`, (ends.length / (many * times)) * 100, '%', { least: 98 })
    // The first and the last of a feed may lie just outside of what is counted.
    figure('mix', `${what}: runs of the feed with fewest, of ${times} due`, Math.min(...counts), 'runs', {
      least: times - 1,
    })
    figure('mix', `${what}: a core`, (taken / (times * seconds)) * 100, '%', { most: 100 })
    figure('mix', `${what}: processor time a run`, (taken / ends.length) * 1000, 'ms')
  } finally {
    await daemon.end()
  }
})
await service.end()
