/** What `export` saves, `backfill --from` puts back; `export.slow.test.ts` has the rest. */
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { homes, zillowFeed } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'

test('an emptied chatbot is filled from its export, and not from one that was cut off', async () => {
  const world = await RunWorld.start()
  const out = join(world.folder, 'saved')
  const backfill = () => world.executed('backfill', '--feed', 'north', '--from', out)
  world.deliver(zillowFeed(homes(1, 3)))
  await world.run('backfill')
  const before = world.listings().map(({ ExtensionColumn: _, ...listing }) => listing)
  expect(await world.executed('export', '--feed', 'north', '--out', out)).toMatchObject({ status: 0 })
  for (const { MLSNumber } of before) world.standIn.remove(chatbot, String(MLSNumber))
  world.loseStore()
  expect(await backfill()).toMatchObject({ status: 0 })
  const byNumber = (a: Record<string, unknown>, b: Record<string, unknown>): number =>
    String(a['MLSNumber']).localeCompare(String(b['MLSNumber']))
  const after = world.listings().map(({ ExtensionColumn: _, ...listing }) => listing)
  expect(after.toSorted(byNumber)).toEqual(before.toSorted(byNumber))
  truncateSync(join(out, 'listings.jsonl'), 100)
  expect(await backfill()).toMatchObject({ status: 1, stderr: expect.stringContaining('when it was exported') })
  await world.end()
})
