/**
 * The HTML report as people see it, in a real browser: at a desk, on a phone, in the dark and on paper, of nothing up to
 * 100,000 changes. SHOTS=folder keeps pictures of it.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { htmlForm } from '../../src/report/html.ts'
import { markdownForm } from '../../src/report/markdown.ts'
import type { Report, ReportedChange } from '../../src/report/report.ts'
import { readReport, render } from '../contract/report-form.ts'
import { findBrowser, noBrowser } from '../support/browser.ts'

const executablePath = findBrowser()
const folder = mkdtempSync(join(tmpdir(), 'listing-sync-page-'))
let browser: Browser
const files = new Map<string, string>()

beforeAll(async () => {
  if (executablePath === null) return
  browser = await chromium.launch({ executablePath })
  for (const size of sizes) files.set(`${size}`, await written(`${size}`, reportOf(size)))
  files.set('hostile', await written('hostile', reportOf(100, hostile)))
}, 120_000)
afterAll(async () => {
  if (executablePath !== null) await browser.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(({ skip }) => {
  if (executablePath === null) skip(noBrowser)
})

const sizes = [0, 100, 5000, 100_000]
const streets = ['Olive Street', 'Elm Street', 'Prairie Rose Avenue', 'Ridgeway Lane', 'College Boulevard #19']
const cities = ['Cedar Falls', 'Grundy Center', 'Waverly', 'Dike']
/** As long as it may be, without a blank, and with markup. */
const hostile = `<script>document.title='run'</script>"'\`&amp;${'W'.repeat(150)}\u202e${'|'.repeat(50)}`

async function written(name: string, report: Report): Promise<string> {
  const form = htmlForm()
  const file = join(folder, `${name}.html`)
  writeFileSync(file, form.document.before + (await render(form, report)) + form.document.after)
  return file
}

/** As of a year of changes: a tenth held, then updates, creates and deletes. */
function reportOf(size: number, text?: string): Report {
  const report = readReport(size === 0 ? 'nothing' : 'held')
  const held = Math.floor(size / 10)
  const kinds = ['update', 'update', 'create', 'delete'] as const
  const count = (kind: string): number =>
    Array.from({ length: size - held }, (_, at) => kinds[at % 4]).filter((other) => other === kind).length
  function* changes(): Generator<ReportedChange> {
    for (let at = 0; at < size; at++) {
      const kind = at < held ? 'hold' : kinds[(at - held) % 4]
      const isRent = at % 5 === 2
      const price = isRent ? 900 + (at % 900) : 150_000 + ((at * 1370) % 700_000)
      const cut = Math.round(price * 0.97)
      const isUpdate = kind === 'update'
      yield {
        kind,
        cause: kind === 'hold' ? 'guard' : 'changed',
        mlsNumber: text ?? `IA2${String(at).padStart(7, '0')}`,
        why:
          text ?? (kind === 'hold' ? 'gone from the feed; held: too many listings would leave' : 'changed in the feed'),
        fields: isUpdate ? [{ field: isRent ? 'RentPrice' : 'SalePrice', from: price, to: cut }] : [],
        rules: kind === 'hold' ? ['leaving'] : [],
        withheld: [],
        home: {
          address: text ?? `${101 + at} ${streets[at % 5]}`,
          city: text ?? cities[at % 4],
          saleType: isRent ? 'for_rent' : 'for_sale',
          currency: text ?? '$',
          areaUnit: 'Square Feet',
          price: { from: kind === 'create' ? null : price, to: isUpdate ? cut : kind === 'create' ? price : null },
        },
        held: kind === 'hold' ? 'delete' : null,
        heldSince: null,
        outcome: null,
      }
    }
  }
  const counts = {
    ...report.counts,
    update: count('update'),
    create: count('create'),
    delete: count('delete'),
    hold: held,
  }
  return { ...report, counts, changes, rejects: () => [], ...(size > 0 && text !== undefined && { notes: [text] }) }
}

const looks: Record<string, BrowserContextOptions> = {
  desktop: { viewport: { width: 1120, height: 720 } },
  phone: { viewport: { width: 375, height: 760 } },
  dark: { viewport: { width: 1120, height: 720 }, colorScheme: 'dark' },
}

async function opened(name: string, look: BrowserContextOptions): Promise<Page> {
  const page = await browser.newPage(look)
  const problems: string[] = []
  page.on('console', (message) => problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith('file:')) problems.push(request.url())
  })
  await page.goto(pathToFileURL(files.get(name)!).href)
  expect(problems).toEqual([])
  return page
}

/** Run in the page: texts whose contrast is below 4.5:1, and words that are cut in two. */
const survey = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number)
  const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0)
  const ground = (one) => {
    for (let up = one; up; up = up.parentElement) {
      const color = channels(getComputedStyle(up).backgroundColor)
      if (color.length === 3 || color[3] > 0) return color
    }
    return [255, 255, 255]
  }
  const faint = new Set()
  const broken = new Set()
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let seen = 0; walker.nextNode() && seen < 4000; seen++) {
    const node = walker.currentNode
    const parent = node.parentElement
    if (node.data.trim() === '' || parent.closest('script, option') || !parent.checkVisibility()) continue
    const [a, b] = [light(channels(getComputedStyle(parent).color)), light(ground(parent))].toSorted((x, y) => y - x)
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.add(node.data)
    for (const word of node.data.matchAll(/[^\\s-]{2,24}(?![^\\s-])/g)) {
      const range = document.createRange()
      range.setStart(node, word.index)
      range.setEnd(node, word.index + word[0].length)
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.add(word[0])
    }
  }
  return { faint: [...faint], broken: [...broken], wide: document.documentElement.scrollWidth - innerWidth }
})()`

async function shot(page: Page, name: string): Promise<void> {
  const shots = process.env['SHOTS']
  if (shots === undefined) return
  mkdirSync(shots, { recursive: true })
  await page.screenshot({ path: join(shots, `${name}.png`) })
}

describe.each(Object.entries(looks))('%s', (look, options) => {
  test.each(['0', '100', '5000', '100000'])(
    '%s changes: nothing faint, no word broken, nothing beside the screen',
    async (name) => {
      const page = await opened(name, options)
      expect(await page.evaluate(survey)).toEqual({
        faint: [],
        broken: [],
        wide: expect.toSatisfy((wide: number) => wide <= 0),
      })
      await shot(page, `${look}-${name}`)
      await page.close()
    },
  )

  test('a feed whose every text is hostile stays readable, and runs nothing', async () => {
    const page = await opened('hostile', options)
    const found = (await page.evaluate(survey)) as { faint: string[]; wide: number }
    expect(found.faint).toEqual([])
    expect(found.wide).toBeLessThanOrEqual(0)
    expect(await page.title()).toBe('listing-sync report')
    await shot(page, `${look}-hostile`)
    await page.close()
  })
})

describe('what is there', () => {
  test('all of 5,000 changes, unfolded, with what is held first', async () => {
    const page = await opened('5000', {})
    expect(await page.locator('tr.row').count()).toBe(5000)
    expect(await page.locator('details.page').count()).toBe(0)
    expect(await page.locator('p.left').count()).toBe(0)
    expect(await page.locator('h2').first().innerText()).toBe('Held by the guard: leaving (500)')
    await page.close()
  })

  test('of 100,000 as much as 20 MB hold, folded; what is left out is said at the top', async () => {
    expect(statSync(files.get('100000')!).size).toBeLessThan(20_000_000)
    expect(statSync(files.get('100000')!).size).toBeGreaterThan(15_000_000)
    const page = await opened('100000', {})
    const rows = await page.locator('tr.row').count()
    expect(rows).toBeGreaterThan(40_000)
    const left = page.locator('p.left')
    const lost = (rows < 100_000 ? await left.innerText() : '').matchAll(/([\d,]+) of [\d,]+ under/g)
    const lostRows = [...lost].reduce((sum, [, count]) => sum + Number(count.replaceAll(',', '')), 0)
    expect(rows + lostRows).toBe(100_000)
    expect(await page.locator('details.page').count()).toBeGreaterThan(rows / 500 - 1)
    await page.close()
  })

  test('as Markdown 100,000 changes are at most 65,000 characters', async () => {
    const text = await render(markdownForm(), reportOf(100_000))
    expect(text.length).toBeLessThanOrEqual(65_000)
    expect(text.length).toBeGreaterThan(50_000)
    expect(text.match(/<details>/g)!.length).toBe(text.match(/<\/details>/g)!.length)
  })
})

test('search and kind filter the rows, and say how many are left', async () => {
  const page = await opened('5000', looks['desktop'])
  const visible = (): Promise<number> => page.locator('tr.row:visible').count()
  await page.fill('#search', 'olive street')
  expect(await visible()).toBe(1000)
  await page.selectOption('#kind', 'hold')
  expect(await visible()).toBe(100)
  expect(await page.locator('#found').innerText()).toBe('100 of 5000 rows')
  expect(await page.locator('section:visible').count()).toBe(1)
  await page.fill('#search', 'IA20000000')
  expect(await visible()).toBe(1)
  await page.fill('#search', '')
  await page.selectOption('#kind', '')
  expect(await visible()).toBe(5000)
  await page.close()
})

test('on paper every table repeats its head, no row is cut, and what is folded is open', async () => {
  const page = await opened('100', looks['desktop'])
  await page.emulateMedia({ media: 'print' })
  const found = await page.evaluate(`({
    heads: [...new Set([...document.querySelectorAll('.rows thead')].map((one) => getComputedStyle(one).display))],
    rows: [...new Set([...document.querySelectorAll('tr.row')].map((one) => getComputedStyle(one).breakInside))],
    tools: getComputedStyle(document.querySelector('.tools')).display,
  })`)
  expect(found).toEqual({ heads: ['table-header-group'], rows: ['avoid'], tools: 'none' })
  expect(await page.evaluate(survey)).toMatchObject({ faint: [] })
  await shot(page, 'print-100')
  await page.emulateMedia({ media: null })
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
  expect(await page.locator('details:not([open])').count()).toBe(0)
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`)
  expect(await page.locator('details:not([open])').count()).toBeGreaterThan(0)
  const paper = await page.pdf({ format: 'A4' })
  expect(paper.toString('latin1').match(/\/Type \/Page\b/g)!.length).toBeGreaterThan(2)
  await page.close()
})

test('pictures are shown of the hosts that were named, and of no other', async () => {
  const report = readReport('changes')
  const none = await render(htmlForm(), report)
  expect(none).not.toContain('<img')
  const form = htmlForm({ images: ['img.example'] })
  expect(form.document.before).toContain('img-src https://img.example http://img.example;')
  // Two that come and one that goes, and that of a home that is new.
  const html = await render(form, report)
  expect(html.match(/<img src="https:\/\/img\.example\/[^"]*" alt="" loading="lazy">/g)).toHaveLength(4)
  expect(await render(htmlForm({ images: ['example'] }), report)).not.toContain('<img')
})
