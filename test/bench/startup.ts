/** P9: the built program's commands, beside an empty Node: from the start of a process to its end. */
import { spawnSync } from 'node:child_process'
import { expected, figure, inFolder, sideBySide, writeFeed } from './measure.ts'
import { configure, feedOf, programFile, startService } from './world.ts'

const [, , , , rounds] = process.argv
const service = await startService()
await inFolder(async (folder) => {
  const config = configure(folder, service.url, { bench: feedOf(writeFeed(folder, 'xml', 10), 'xml') })
  const timed = (words: string[], says: RegExp) => async () => {
    const began = performance.now()
    const { status, stdout, stderr } = spawnSync(process.execPath, words, {
      encoding: 'utf8',
      env: { ...process.env, LISTING_SYNC_CONFIG: config },
    })
    const taken = performance.now() - began
    expected(`status of ${words.at(-1)} (${stderr})`, status, 0)
    expected(`what ${words.join(' ')} says`, says.test(stdout), true)
    return taken
  }
  const run = (says: RegExp, ...words: string[]) => timed([programFile, ...words], says)
  const json = ['sync', '--format', 'json'] as const
  await run(/"create": ?10/, ...json)()
  await run(/"unchanged": ?10/, ...json)()
  const times = await sideBySide(
    {
      empty: timed(['-e', '0'], /^$/),
      help: run(/Usage: listing-sync/, '--help'),
      status: run(/10 listings/, 'status'),
      sync: run(/"unchanged": ?10/, ...json),
    },
    Math.max(9, Number(rounds)),
  )
  figure('P9', 'an empty Node', times.empty, 'ms')
  figure('P9', '--help / an empty Node', times.help / times.empty, '×', { most: 2 })
  figure('P9', 'status / an empty Node', times.status / times.empty, '×', { most: 4 })
  figure('P9', 'sync of ten listings, nothing changed / an empty Node', times.sync / times.empty, '×', { most: 8 })
})
await service.end()
