/** Every command of the pages in docs is run, in the order of its page, and what they show is what is printed. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startStandIn } from '../src/stand-in/stand-in.ts'
import { Place, blocksOf, root } from './support/document-pages.ts'
import { stories } from './support/page-stories.ts'

test.each(Object.keys(stories).filter((page) => page !== 'README.md'))('%s', async (page) => {
  const place = await Place.open()
  onTestFinished(() => place.close())
  await place.play(blocksOf(page), stories[page])
})

test('docs/library.md: its program runs', async () => {
  const [{ text }] = blocksOf('docs/library.md').filter(({ language }) => language === 'ts')
  const standIn = await startStandIn({})
  onTestFinished(() => standIn.close())
  standIn.seed('SN-1001', [{ MLSNumber: 'A-1', City: 'Cedar Falls' }])
  const place = await Place.open()
  onTestFinished(() => place.close())
  const code = text.replace("'listing-sync-client'", `'${join(root, 'src/index.ts')}'`)
  writeFileSync(join(place.folder, 'program.mts'), code.replace('https://listings.example.com', standIn.url))
  expect(await place.quietly('node program.mts')).toMatch(/^1 listings\n[^]+\n\d+ tokens\n$/)
})
