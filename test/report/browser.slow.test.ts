/** The HTML report in a real browser: text of a feed stays text, and where it did not, the page's policy would stop it. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findBrowser, noBrowser } from '../support/browser.ts'
import { home, zillowFeed, zillowRecord } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

const executablePath = findBrowser()

/** What reached the server: the name of each attack that worked. */
const reached: string[] = []
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url!, base)
  // A browser asks for it by itself, at some time after a page of the server is open.
  if (pathname !== '/favicon.ico') reached.push(pathname.slice(1))
  response.end()
})
let browser: Browser
let base = ''
let world: RunWorld
/** The report over the hostile feed, as the program writes it. */
let report = ''

beforeAll(async () => {
  if (executablePath === null) return
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await chromium.launch({ executablePath })
  world = await RunWorld.start()
  report = await hostileReport()
})
afterAll(async () => {
  if (executablePath === null) return
  await browser.close()
  server.close()
  await world.end()
})
beforeEach(({ skip }) => {
  if (executablePath === null) skip(noBrowser)
  reached.length = 0
})

/** Markup that does something by itself or when it is clicked; each asks the server for its own name when it works. */
const attacks: Record<string, (url: string) => string> = {
  'a script': (url) => `<script>fetch('${url}')</script>`,
  'a script of another host': (url) => `<script src="${url}"></script>`,
  'an event handler': (url) => `<svg onload="fetch('${url}')"></svg>`,
  'an error handler': (url) => `<img src="data:x" onerror="fetch('${url}')">`,
  'a link of javascript:': (url) => `<a id="click" href="javascript:fetch('${url}')">x</a>`,
  'a document in a frame': (url) => `<iframe srcdoc="<script>fetch('${url}')</script>"></iframe>`,
  'a frame': (url) => `<iframe src="${url}"></iframe>`,
  'an image': (url) => `<img src="${url}">`,
  'an object': (url) => `<object data="${url}"></object>`,
  'a style sheet': (url) => `<link rel="stylesheet" href="${url}">`,
  'an import of styles': (url) => `<style>@import "${url}";</style>`,
  'a style': (url) => `<p style="background: url('${url}')">x</p>`,
  'a form': (url) => `<form action="${url}"><button id="click">x</button></form>`,
  'another base': (url) => `<base href="${url}"><a id="click" href="">x</a>`,
}

const addressOf = (name: string): string => `${base}/${name.replaceAll(/\W/g, '-')}`

/** Opens a page and clicks what asks for it; waits for `until`, or until nothing is on its way any more. */
async function opened(html: string, until?: () => boolean): Promise<Page> {
  const file = join(world.folder, 'page.html')
  writeFileSync(file, html)
  const page = await browser.newPage()
  await page.goto(pathToFileURL(file).href)
  for (const button of await page.locator('#click').all()) await button.click({ noWaitAfter: true })
  const isOver = until ?? (() => false)
  for (let waited = 0; waited < (until ? 10_000 : 500) && !isOver(); waited += 50) await page.waitForTimeout(50)
  return page
}

/** A text of a record. */
const fields = />([^<>\s][^<>]*|<!\[CDATA\[.*?\]\]>)</g
const escaped = (text: string): string => `"'>${text}`.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** A feed for each text that a record has; in that, each of its records has an attack. */
async function hostileReport(): Promise<string> {
  const places = [...zillowRecord({ ...home(1), photos: 1 }).matchAll(fields)].length
  const names = Array.from({ length: places }, (_, place) => `field-${place}`)
  world.configure(Object.fromEntries(names.map((name) => [name, {}])))
  for (const [place, name] of names.entries()) {
    // Of one problem the first few records are shown: each attack comes first in some field.
    const all = Object.entries(attacks)
    const first = place % all.length
    const records = [...all.slice(first), ...all.slice(0, first)].map(([kind, attack], index) => {
      let at = 0
      const record = zillowRecord({ ...home(100 * place + index + 1), photos: 1 })
      return record.replaceAll(fields, (whole) => (at++ === place ? `>${escaped(attack(addressOf(kind)))}<` : whole))
    })
    world.deliver(zillowFeed([]).replace('</Listings>', `${records.join('')}</Listings>`), `${name}.xml`)
  }
  return (await world.executed('diff', '--format', 'html')).stdout
}

describe('text of a feed', () => {
  test('makes no element, no attribute, no request and runs nothing, whatever field it is in', async () => {
    for (const name of Object.keys(attacks)) expect(report).toContain(addressOf(name))
    const page = await opened(report)
    const ours = 'aria-hidden aria-label class hidden id open placeholder scope type value width'.split(' ')
    // As a text, since the types of a page are none of this project.
    const found: unknown = await page.evaluate(`(() => {
      const all = [...document.querySelectorAll('body, body *')]
      return {
        elements: [...new Set(all.map(({ localName }) => localName))].toSorted(),
        attributes: [...new Set(all.flatMap((one) => one.getAttributeNames()))].filter((name) => !${JSON.stringify(ours)}.includes(name)),
        tone: getComputedStyle(document.querySelector('h1')).borderLeftStyle,
        text: document.body.innerText,
      }
    })()`)
    expect(found).toMatchObject({
      elements: (
        'article body code details div h1 h2 input li option output p script section select span summary ' +
        'table tbody td th thead tr ul'
      )
        .split(' ')
        .filter((name) => report.includes(`<${name}`) || name === 'body'),
      attributes: [],
      // The page's own style is applied.
      tone: 'solid',
      text: expect.stringContaining('<script>fetch('),
    })
    expect(reached).toEqual([])
    await page.close()
  })
})

describe.each(Object.entries(attacks))('the policy of the page, if the escaping failed: %s', (name, attack) => {
  const within = (html: string): string => html.replace('<article>', `<article>${attack(addressOf(name))}`)

  test('does nothing', async () => {
    const page = await opened(within(report))
    expect(await page.locator('article').count()).toBeGreaterThan(20)
    expect(reached).toEqual([])
    await page.close()
  })

  test('would work without it', async () => {
    const bare = report.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '')
    expect(bare).not.toBe(report)
    const page = await opened(within(bare), () => reached.length > 0)
    expect(reached).toContain(addressOf(name).slice(base.length + 1))
    await page.close()
  })
})
