import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { countInvented, inventedIn, tableOf } from './count.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'listing-sync-invented-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const fixture = (name: string): string => join(import.meta.dirname, '../../fixtures/presets', name)

/** Homes without a word of deal, status or currency; every number but the reference is no key. */
function ownFeed(more: (n: number) => string): string {
  const homes = Array.from({ length: 12 }, (_, n) => {
    const photo = `<photos><photo><url>https://img.example/${n}.jpg</url></photo></photos>`
    const agent = `<agent><id>AG-77${n}</id><phone>+48 600 100 ${200 + n}</phone></agent>`
    return `<dom><price>${n + 2}00000</price><bedrooms>3</bedrooms><city>Radlin</city>${photo}${agent}${more(n)}</dom>`
  })
  const file = join(folder, 'own.xml')
  writeFileSync(file, `<stock><homes>${homes.join('')}</homes></stock>`)
  return file
}

describe('inspect --init', () => {
  it.each(['trulia/feed.xml', 'galactica/feed.xml', 'mls-csv/feed.csv', 'reso-csv/feed.csv', 'rets-compact/feed.xml'])(
    'invents nothing for %s',
    async (name) => {
      expect(await countInvented(fixture(name), folder)).toMatchObject({ invented: [], preset: expect.any(String) })
    },
  )

  it('invents nothing where no preset fits, and leaves open what the feed does not say', async () => {
    const counted = await countInvented(
      ownFeed(() => ''),
      folder,
    )
    expect(counted).toMatchObject({ invented: [], published: 0, records: 12, preset: './presets/own.yaml' })
    expect(counted.open).toEqual(['SaleType', 'Status', 'CurrencySymbol', 'MLSNumber', 'Url'])
    rmSync(folder, { recursive: true })
    folder = mkdtempSync(join(tmpdir(), 'listing-sync-invented-'))
    const numbered = await countInvented(
      ownFeed((n) => `<reference>REF-${100 + n}</reference><currency>PLN</currency>`),
      folder,
    )
    expect(numbered.open).toEqual(['SaleType', 'Status', 'Url'])
    expect(numbered.invented).toEqual([])
  })

  it('counts what would be published as it is', async () => {
    const homes = fixture('reso-syndication/feed.xml')
    expect((await countInvented(homes, folder)).published).toBeGreaterThan(0)
  })

  it('takes the home for the record, not its agents; writes no name of a person; knows a street from a home', async () => {
    const agents = ['1', '2', '3'].map(
      (id) => `<listingAgent id="${id}"><name>Ada Marsh</name><level>2</level><team>North</team></listingAgent>`,
    )
    const seller = '<party><FirstName>Ada</FirstName><LastName>Marsh</LastName></party>'
    const street = '<address><city>Radlin</city><direction type="Lane">North Lane</direction></address>'
    const file = join(folder, 'agents.xml')
    writeFileSync(file, `<list><home>${agents.join('')}${seller}<price>1</price>${street}</home></list>`)
    await countInvented(file, folder)
    const preset = readFileSync(join(folder, 'presets/agents.yaml'), 'utf8')
    expect(parse(preset)).toMatchObject({
      record: 'list/home',
      fields: expect.not.objectContaining({ PropertyType: expect.anything() }),
    })
    expect(preset).toContain('party/FirstName: 100 %: (not shown)')
    expect(preset).not.toContain('Marsh')
  })
})

describe('the count', () => {
  it.each([
    [{ defaults: { SaleType: 'for_sale' } }, 'SaleType', 'given as "for_sale"'],
    [{ placeholders: [{ Status: 'Active' }] }, 'Status', 'given as "Active"'],
    [{ currency: 'USD' }, 'CurrencySymbol', 'currency: USD'],
    [
      { fields: { CurrencySymbol: [{ from: 'currency', as: 'currency' }, { value: '$' }] } },
      'CurrencySymbol',
      'constant $',
    ],
    [{ fields: { SaleType: { from: 'kind', otherwise: 'for_sale' } } }, 'SaleType', 'otherwise for_sale'],
    [{ fields: { MLSNumber: ['ref', 'agent/id'] } }, 'MLSNumber', 'agent/id, which is no key'],
    [{ fields: { Url: 'photos/photo/url' } }, 'Url', 'no page of a listing'],
  ])('finds %j', (written, fact, how) => {
    const found = inventedIn(written, new Set(['ref']))
    expect(found).toEqual([{ fact, how: expect.stringContaining(how) }])
    const counted = { file: 'x', preset: 'y', why: '', records: 1, published: 1, open: [], invented: found }
    expect(tableOf([counted])).toContain('1 invented facts')
  })

  it('takes what is open, or read from the feed, for none', () => {
    const written = { currency: '?', defaults: { Status: '?' }, fields: { MLSNumber: ['ref', '?'], Url: 'page' } }
    expect(inventedIn(written, new Set(['ref']))).toEqual([])
  })
})
