/** The configuration of a daemon: which secrets it takes anew from their files, without being told. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readTextFile } from '../../src/app/text-file.ts'
import { liveConfig } from '../../src/config/live.ts'

const written = `
service: { baseUrl: https://service.example.com, secretKey: one }
notify: [{ url: 'https://example.com/\${file:./hook}', form: json }]
feeds:
  north:
    chatbot: SN-1
    source: ./north.csv
    preset: reso-csv
    fields: { Images: { from: 'media:MediaURL' } }
    join: { media: { source: 'sftp://me:\${file:./secret}@mls.example.com/media.csv', key: ResourceRecordKey, by: ListingKey } }
`

test('where people are told, and the source of a second table, are as their files say', () => {
  const folder = mkdtempSync(join(tmpdir(), 'live-'))
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  write('listing-sync.yaml', written)
  write('secret', 'spring')
  write('hook', 'one')
  const live = liveConfig(join(folder, 'listing-sync.yaml'), {
    env: {},
    readFile: readTextFile,
    learn: () => undefined,
  })
  const named = () => [live.config.notify[0].url, live.config.feeds[0].mapping.joins![0].source]
  const { version } = live.config.feeds[0].mapping
  expect(live.refresh()).toBe(false)
  write('hook', 'two')
  expect(live.refresh()).toBe(true)
  expect(named()).toEqual(['https://example.com/two', 'sftp://me:spring@mls.example.com/media.csv'])
  write('secret', 'autumn')
  expect(live.refresh()).toBe(true)
  expect(named()).toEqual(['https://example.com/two', 'sftp://me:autumn@mls.example.com/media.csv'])
  expect(live.config.feeds[0].mapping.version).toBe(version)
  expect(live.refresh()).toBe(false)
})
