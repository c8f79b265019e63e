/** Writes the demo's two deliveries into fixtures/demo; run it again when test/support/homes.ts changes. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { home, zillowEnd, zillowRecord, zillowStart } from '../test/support/homes.ts'
import type { Home } from '../test/support/homes.ts'

const folder = new URL('../fixtures/demo/', import.meta.url)
const first = Array.from({ length: 220 }, (_, number) => home(number))

const vanished = new Set([17, 58, 96, 143, 201])
const sold = new Set([5, 77, 160])
const cheaper = new Set([3, 40, 61, 88, 119, 154, 190])
const rewritten = new Set([12, 130])

function nextDay(one: Home, number: number): Home {
  if (sold.has(number)) return { ...one, status: 'Sold' }
  if (cheaper.has(number)) return { ...one, price: Math.round((one.price * 0.97) / 10) * 10 }
  if (rewritten.has(number))
    return { ...one, description: `${one.description} Open to offers.`, photos: one.photos + 2 }
  return one
}

const second = first.map(nextDay).filter((_, number) => !vanished.has(number))
for (let number = 220; number < 226; number++) second.push(home(number))
// One unreadable record, which must be reported and must stop nothing.
const unreadable = { ...home(226), description: 'The agent typed the rooms as a word.' }

mkdirSync(folder, { recursive: true })
const feed = (homes: Home[], tail = ''): string =>
  zillowStart + homes.map((one) => zillowRecord(one)).join('') + tail + zillowEnd
writeFileSync(new URL('first.xml', folder), feed(first))
const tail = zillowRecord(unreadable).replace(/<Bedrooms>\d<\/Bedrooms>/, '<Bedrooms>three</Bedrooms>')
writeFileSync(new URL('second.xml', folder), feed(second, tail))
