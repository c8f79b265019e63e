/** What `export` saves, `backfill --from` puts back; `export.slow.test.ts` has the rest. */
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { homes, zillowFeed } from '../support/homes.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'

test('an emptied chatbot is filled from its export, and not from one that was cut off', async () => {
  const world = await RunWorld.start()
  const out = join(world.folder, "Zoë's saved")
  // Its mark names the run.
  const listings = () =>
    new Map(world.listings().map((item) => [item['MLSNumber'], { ...item, ExtensionColumn: undefined }]))
  const backfill = () => world.executed('backfill', '--feed', 'north', '--from', out)
  world.deliver(zillowFeed(homes(1, 3)))
  await world.run('backfill')
  const before = listings()
  expect(await world.executed('export', '--feed', 'north', '--out', out)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(String.raw`--from '${world.folder}/Zoë'\''s saved'`) as string,
  })
  for (const number of before.keys()) world.standIn.remove(chatbot, String(number))
  world.loseStore()
  expect(await backfill()).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('the next sync takes off what the feed does not deliver') as string,
  })
  expect(listings()).toEqual(before)
  truncateSync(join(out, 'listings.jsonl'), 100)
  expect(await backfill()).toMatchObject({ status: 1, stderr: expect.stringContaining('when it was exported') })
  await world.end()
})
