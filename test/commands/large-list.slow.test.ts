/** A list far larger than the memory of the program (docs/faults.md, F92) is never held in memory. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { home, zillowFeed } from '../support/homes.ts'
import { program } from '../support/program.ts'

const megabyte = 1024 * 1024
/** What the program's objects may take, of which its own code takes half. */
const heap = 40
const listings = 40_000
const pageSize = 500
/** As long a text as listings have; without a repeated part, so that no two are one text. */
const words = Array.from({ length: 250 }, (_, index) => `word${index}`).join(' ')

function item(number: number): string {
  return JSON.stringify({
    ID: number,
    MLSNumber: `X-${number}`,
    SaleType: 'for_sale',
    Status: 'Active',
    CurrencySymbol: '$',
    Price: '$350,000',
    PropertyType: 'Condo',
    Bedrooms: 2,
    Bathrooms: 1,
    Url: `https://homes.example/${number}`,
    SalePrice: 350_000 + number,
    Description: `${number} ${words}`,
  })
}

test('is compared in little memory, and every listing of it is counted', async () => {
  let bytes = 0
  const service = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (part: Buffer) => pieces.push(part))
    request.on('end', () => {
      const { PageNumber, PageSize } = JSON.parse(Buffer.concat(pieces).toString())
      const from = (PageNumber - 1) * PageSize
      const items = Array.from({ length: Math.max(0, Math.min(PageSize, listings - from)) }, (_, i) =>
        item(from + i + 1),
      )
      const body = `{"Data":{"List":[${items.join()}],"VirtualCount":${listings}},"Version":"1.0.0","Success":true,"Code":200,"Message":""}`
      bytes += body.length
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    })
  })
  await new Promise<void>((resolve) => {
    service.listen(0, '127.0.0.1', resolve)
  })
  const folder = mkdtempSync(join(tmpdir(), 'listing-sync-large-'))
  try {
    writeFileSync(join(folder, 'north.xml'), zillowFeed([home(1), home(2)]))
    const { port } = service.address() as AddressInfo
    const config = {
      service: { baseUrl: `http://127.0.0.1:${port}`, secretKey: 'key', rate: 1000, profile: { pageSize } },
      feeds: { north: { chatbot: 'SN-1', source: './north.xml', preset: 'zillow' } },
    }
    writeFileSync(join(folder, 'listing-sync.yaml'), stringify(config))
    const bounded = [`--max-old-space-size=${heap}`, '--max-semi-space-size=4', program]
    const command = ['--config', join(folder, 'listing-sync.yaml'), 'diff', '--format', 'json']
    const ended = await promisify(execFile)(process.execPath, [...bounded, ...command]).catch(
      (error: unknown) => error as { code: number; stdout: string; stderr: string },
    )
    expect('code' in ended ? `${ended.code} ${ended.stderr.slice(0, 500)}` : '0').toBe('2 ')
    expect(JSON.parse(ended.stdout)).toMatchObject({
      remote: { complete: true, pages: listings / pageSize + 1, listings },
      counts: { create: 2, update: 0, delete: 0 },
    })
    expect(bytes).toBeGreaterThan(2 * heap * megabyte)
  } finally {
    service.close()
    service.closeAllConnections()
    rmSync(folder, { recursive: true, force: true })
  }
})
