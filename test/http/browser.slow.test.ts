/**
 * The pages in a real browser: somebody logs in and approves, at a desk and on a phone, under the pages' own policy.
 * SHOTS=folder keeps pictures of them.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { homes, zillowFeed } from '../support/homes.ts'
import { findBrowser, noBrowser } from '../support/browser.ts'
import { until } from '../support/until.ts'
import { Served, token } from './served.ts'

const executablePath = findBrowser()
let browser: Browser
let served: Served
beforeAll(async () => {
  if (executablePath !== null) browser = await chromium.launch({ executablePath })
}, 120_000)
afterAll(async () => {
  if (executablePath !== null) await browser.close()
})
beforeEach(({ skip }) => {
  if (executablePath === null) skip(noBrowser)
})
afterEach(async () => {
  if (executablePath !== null) await served.end()
})

/** A page of a new visitor; `complaints`: what the browser says against it. */
async function visitor(width: number): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: 'light' })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, complaints }
}

const overflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')

async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['SHOTS']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
}

test('from the link to the approval, by hand: log in, look, approve; on a phone nothing scrolls sideways', async () => {
  served = await Served.start(
    { token, approve: true },
    {
      feeds: { north: { schedule: '0 * * * *' }, south: { schedule: '30 * * * *', chatbot: 'SN-2' } },
      deliver: (world) => {
        world.deliver(zillowFeed(homes(1, 30)))
        world.deliver(zillowFeed(homes(41, 60)).replace(/<Bedrooms>[^<]*/, '<Bedrooms>a few'), 'south.xml')
      },
    },
  )
  await until(() => served.runs() === 2)
  for (let times = 0; times < 6; times++) await served.runAgain()
  served.world.deliver(zillowFeed(homes(1, 18)))
  await served.runAgain()

  const { page, complaints } = await visitor(1100)
  await page.goto(`${served.address}/feeds/north/held`)
  expect(page.url()).toContain('/login?to=')
  await page.getByLabel('Your name').fill('Anna Broker')
  await page.getByLabel('Token').fill('not-the-token-0123456789')
  await page.getByRole('button', { name: 'Log in' }).click()
  expect(await page.getByRole('alert').textContent()).toContain('This is not the token.')
  await page.getByLabel('Your name').fill('Anna Broker')
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
  expect(page.url()).toBe(`${served.address}/feeds/north/held`)
  expect(await page.locator('tbody tr').count()).toBe(12)
  expect(await page.evaluate("getComputedStyle(document.querySelector('h1')).borderLeftStyle")).toBe('solid')
  await shoot(page, 'page-held')
  await page.goto(served.address)
  await shoot(page, 'page-feeds')
  await page.getByRole('link', { name: '12 changes' }).click()
  await page.getByRole('button', { name: /^Approve/ }).click()
  expect(await page.getByRole('status').textContent()).toContain('Approved.')
  await page.locator('tbody a').first().click()
  expect(await page.locator('body').textContent()).toContain('approved by Anna Broker (page)')
  // The wrong token was a 401, which browsers log; else nothing.
  expect(complaints.filter((text) => !text.includes('401'))).toEqual([])

  const { page: phone, complaints: small } = await visitor(375)
  await phone.context().addCookies(await page.context().cookies())
  for (const path of [
    '/',
    '/feeds/north',
    '/feeds/north/held',
    '/feeds/south/rejected',
    '/listings?q=IA20000001',
    '/login',
  ]) {
    await phone.goto(served.address + path)
    expect([path, await overflow(phone)]).toEqual([path, 0])
  }
  // A report under its own policy: its script runs.
  await phone.goto(`${served.address}/feeds/north/runs/1`)
  expect(await phone.locator('.tools').isVisible()).toBe(true)
  expect(small).toEqual([])
})
