/** A service that changes MLSNumbers: test listings are found by their Url, removed, and reported. */
import { afterEach, expect, test } from 'vitest'
import { probedForms, resultOf } from '../../src/app/probe.ts'
import { chatbot } from '../support/run-world.ts'
import type { RunWorld } from '../support/run-world.ts'
import { leftOf, others, othersOf, probed, probeWorld } from './world.ts'

let world: RunWorld
let before: string
afterEach(() => world.end())

const ways = [
  ['upper-case', 'zero', /is listed as LISTING-SYNC-PROBE-NORTH-[0-9A-F]{12}-2\./],
  ['upper-case', 'created', /is listed as LISTING-SYNC-PROBE-NORTH-[0-9A-F]{12}-\d\./],
  ['cut', 'zero', /is listed as listing-sync-probe-n\./],
  ['cut', 'created', /is listed as listing-sync-probe-n\./],
] as const

test.each(ways)('kept %s, an Update without match %s', async (mlsNumberKept, updateWithoutMatch, listed) => {
  ;({ world, before } = await probeWorld({ profile: { mlsNumberKept, updateWithoutMatch, maxPageSize: 20 } }))
  const found = await probed(world)
  expect(leftOf(world)).toEqual([])
  expect(othersOf(world)).toBe(before)
  expect([found.error, [...found.left], [...found.lost], found.removed]).toEqual([null, [], [], []])
  expect(resultOf(found)).toBe('partial')
  expect(found.notes.filter((note) => listed.test(note))).toHaveLength(1)
})

test('what a process that was killed left under another number goes, too; what may be anothers stays', async () => {
  ;({ world } = await probeWorld({ profile: { maxPageSize: 20 } }))
  const Url = 'https://listing-sync.invalid/probe/00ff00ff00ff/2/4'
  const goes = ['LISTING-SYNC-PROBE-SOUTH-00FF00FF00FF-2', 'listing-sync-prob']
  // Another number altogether; one that somebody else's listing has, too, but for its case.
  const stays = ['X-1', 'LISTING-SYNC-PROBE-NORTH']
  expect(others.map(({ MLSNumber }) => MLSNumber)).toContain(stays[1].toLowerCase())
  const made = [...goes, ...stays].map((MLSNumber) => ({ MLSNumber, Url }))
  world.standIn.seed(chatbot, made)
  before = othersOf(world)
  const found = await probed(world)
  expect(found.removed.toSorted()).toEqual(goes)
  expect(leftOf(world)).toEqual(stays)
  expect(othersOf(world)).toBe(before)
  const text = probedForms.text(found).replace(/\s+/g, ' ')
  for (const name of stays) expect(text).toContain(`the listing with MLSNumber ${name} has the Url of a test listing`)
})
