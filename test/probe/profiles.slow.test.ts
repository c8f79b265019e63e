/** The probe finds out every behaviour of a service, claims nothing else, and leaves everything as it was. */
import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { probedForms } from '../../src/app/probe.ts'
import { profileOf } from '../../src/probe/report.ts'
import type { Probed } from '../../src/probe/report.ts'
import { profileSchema } from '../../src/stand-in/profile.ts'
import type { StandInProfileInput } from '../../src/stand-in/profile.ts'
import { home, zillowFeed } from '../support/homes.ts'
import { pick, seeded, testSeed } from '../support/random.ts'
import type { RunWorld } from '../support/run-world.ts'
import { expectedFacts, expectedProfile } from './expected.ts'
import { keys, leftOf, othersOf, probed, probeWorld } from './world.ts'
import { spellings } from '../support/spellings.ts'

const required = (how: 'either' | 'secret' | 'session' | 'both' | 'none') => ({
  Create: how,
  Update: how,
  List: how,
  Delete: how,
})

const profiles: Record<string, StandInProfileInput> = {
  ...spellings,
  'the likeliest answers': {},
  'S1: only the secret key': { headers: required('secret') },
  'S1: only the session key': { headers: required('session') },
  'S1: both keys': { headers: required('both') },
  'S1: no key': { headers: required('none') },
  'S1: another for each operation': {
    headers: { List: 'session', Create: 'secret', Update: 'both', Delete: 'either' },
  },
  'S2: an unrelated identifier': { createdIdentifier: 'guid' },
  "S2: what looks like another listing's ID": { createdIdentifier: 'next-id' },
  'S3: an MLSNumber is unique': { duplicates: 'refused' },
  'S3: unique, unrelated identifier': { duplicates: 'refused', createdIdentifier: 'guid' },
  'S3: a second Create changes the first': { duplicates: 'replaced', updateWithoutMatch: 'created' },
  'S3: only the first of several is touched': { doubles: 'first' },
  'keys without regard to case': { caseInsensitiveKeys: true },
  'S4: what is left out is cleared': { omitted: 'cleared' },
  'S4: cleared, and empties ignored': {
    omitted: 'cleared',
    emptyText: 'ignored',
    emptyChoice: 'ignored',
    emptyArray: 'ignored',
  },
  'S4: empties refused': { emptyText: 'refused', emptyChoice: 'refused', emptyArray: 'refused' },
  'S4: empties ignored': { emptyText: 'ignored', emptyChoice: 'ignored', emptyArray: 'ignored' },
  'S4: cleared, and an empty choice refused': { omitted: 'cleared', emptyChoice: 'refused' },
  'S4: required fields may be missing': { requiredOnUpdate: 'optional', omitted: 'cleared' },
  'S5: Update without match is refused': { updateWithoutMatch: 'refused' },
  'S5: what changes nothing counts nothing': { unchangedUpdate: 'zero' },
  'S6: one key without match refuses all': { deleteWithoutMatch: 'refuse-all' },
  'S6: one key without match is refused after the rest': { deleteWithoutMatch: 'refuse-after', refusalsVia: 'http' },
  'S6: Delete counts keys': { deleteCounts: 'keys' },
  'S6: Delete counts what was sent': { deleteCounts: 'sent' },
  'S7: three keys': { maxKeys: 3 },
  'S7: one key': { maxKeys: 1 },
  'S7: 120 keys, and what matches nothing is refused': { maxKeys: 120, deleteWithoutMatch: 'refuse-all' },
  'S8: 7 a page, clamped': { maxPageSize: 7 },
  'S8: 7 a page, refused above': { maxPageSize: 7, largerPageSize: 'refused' },
  'S8: 333 a page, refused above': { maxPageSize: 333, largerPageSize: 'refused' },
  'S8: one a page, and VirtualCount counts pages': { maxPageSize: 1, virtualCount: 'pages' },
  'S8: any size, the last page again': { maxPageSize: null, pastTheEnd: 'last-page' },
  'S8: past the end a refusal': { pastTheEnd: 'refused', maxPageSize: 10 },
  'S9: oldest first, VirtualCount of pages': { order: 'id', virtualCount: 'pages' },
  'S9: last changed first, VirtualCount 0': { order: 'changed-first', virtualCount: 'zero' },
  'S9: by MLSNumber, VirtualCount of the page': { order: 'MLSNumber', virtualCount: 'items' },
  'S9: shuffled on one page, VirtualCount lags': { order: 'shuffled', virtualCount: 'lagging' },
  'S9: shuffled over pages': { order: 'shuffled', maxPageSize: 20 },
  'the filter finds parts': { mlsNumberFilter: 'contains' },
  'the filter is ignored': { mlsNumberFilter: 'ignored' },
  'the filter is ignored, ten a page': { mlsNumberFilter: 'ignored', maxPageSize: 10, order: 'id' },
  'a list that lags': { listLag: 3 },
  'S10: sale types that say nothing': { saleTypeShown: { for_sale: '1', for_rent: '2' } },
  'S11: comma, S12: plain': { imagesShown: 'comma', moneyShown: 'plain', coordinateDecimals: 4 },
  'S11: semicolon, S12: two decimals': { imagesShown: 'semicolon', numbersShown: 'two-decimals' },
  'S11: bar, S12: many decimals': { imagesShown: 'bar', moneyShown: 'many-decimals', absentCoordinates: 'null' },
  'S11: blank, absent coordinates empty': { imagesShown: 'blank', absentCoordinates: 'empty' },
  'S13: trimmed and escaped': { trim: true, htmlEscape: true },
  'S13: cut': { cut: { Description: 40, Images: 5, City: 4 } },
  'S13: escaped and cut': { htmlEscape: true, cut: { Description: 60 } },
  'S14: refusals by HTTP': { refusalsVia: 'http', duplicates: 'refused' },
  'S14: bad keys get a code of their own': { refusals: { credentials: { code: 460 } } },
  'S21: 0 is refused': { zeroRequired: 'refused', emptyRequired: 'accepted' },
  'S22: long texts are refused': { maxLengths: { Description: 700, Images: 12 } },
}

let world: RunWorld
afterEach(() => world.end())

/** The claims are exactly the stand-in's answers, and no other listing was touched. */
function holdTogether(found: Probed, written: StandInProfileInput, before: string): void {
  const profile = profileSchema.parse(written)
  expect(found.error).toBe(null)
  expect(othersOf(world), 'other listings').toBe(before)
  expect([leftOf(world), [...found.left], [...found.lost]], 'nothing is left').toEqual([[], [], []])
  const facts = Object.fromEntries(found.answers.map(({ key, facts }) => [key, facts]))
  if (profile.mlsNumberFilter === 'ignored') {
    expect(facts['creation']?.['lookUpsBeforeShown']).toBeTypeOf('number')
    delete facts['creation']?.['lookUpsBeforeShown']
  }
  expect(facts).toEqual(expectedFacts(profile))
  expect(profileOf(found)).toEqual(expectedProfile(profile))
  expect(found.calls).toBeLessThan(450)
  for (const { words, notLearnt, title } of found.answers)
    expect(words.length + notLearnt.length, `${title} says something`).toBeGreaterThan(0)
}

/** With the printed configuration, runs make the service equal to the feed. */
async function syncWith(found: Probed, file: string): Promise<void> {
  const printed = probedForms.text(found)
  const yaml = /^service:\n(?: .*\n)*/m.exec(printed)
  const config = parse(readFileSync(file, 'utf8')) as { service: object }
  Object.assign(config.service, (parse(yaml?.[0] ?? 'service: {}') as { service: object }).service)
  writeFileSync(file, stringify(config))
  const homes = Array.from({ length: 12 }, (_, index) => home(index + 101))
  world.deliver(zillowFeed(homes))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { create: 12, delete: 0 } })
  world.deliver(zillowFeed(homes.slice(3).map((home) => ({ ...home, price: home.price + 1 }))))
  expect(await world.run()).toMatchObject({ result: 'ok', counts: { update: 9, delete: 3 } })
  await world.run()
  world.calls()
  await world.run()
  expect(world.calls()).toMatchObject({ Create: 0, Update: 0, Delete: 0 })
}

test.each(Object.entries(profiles))('%s', async (_, profile) => {
  const begun = await probeWorld({ profile, keys })
  world = begun.world
  const found = await probed(world)
  holdTogether(found, profile, begun.before)
  // What it learnt is good for: only where that is not what a run does anyway. A shuffled list is never complete.
  const { pageSize, deleteBatch, clear, saleTypeShown } = profileOf(found)
  if (profile.order === 'shuffled') return
  if ((pageSize ?? deleteBatch ?? saleTypeShown) !== undefined || clear === 'omit')
    await syncWith(found, world.configFile)
})

test('what is against the document is said', async () => {
  const profile = { deleteCounts: 'sent', absentCoordinates: 'null', mlsNumberFilter: 'ignored' } as const
  ;({ world } = await probeWorld({ profile, keys }))
  const contradictions = (await probed(world)).answers.flatMap(({ contradictions }) => contradictions)
  expect(contradictions).toEqual([
    expect.stringContaining('other listings are shown under it'),
    'LATITUDE of a list item is a number, but where it is absent it is null',
    expect.stringContaining('keys that match nothing are counted'),
  ])
})

const combinations = 12
const seed = testSeed(6)

test.each(Array.from({ length: combinations }, (_, index) => seed + index))(
  'answers drawn at random (TEST_SEED=%i)',
  async (drawn) => {
    const profile = drawnProfile(seeded(drawn))
    const begun = await probeWorld({ profile, keys })
    world = begun.world
    holdTogether(await probed(world, drawn), profile, begun.before)
  },
)

function drawnProfile(random: () => number): StandInProfileInput {
  const key = (): 'either' | 'secret' | 'session' | 'both' | 'none' =>
    pick(random, ['either', 'secret', 'session', 'both', 'none'])
  const empties = (): 'clears' | 'ignored' | 'refused' => pick(random, ['clears', 'ignored', 'refused'])
  const yes = (): boolean => random() < 0.5
  const form = (): 'plain' | 'two-decimals' | 'many-decimals' =>
    pick(random, ['plain', 'two-decimals', 'many-decimals'])
  return {
    headers: {
      Create: key(),
      Update: key(),
      List: pick(random, ['either', 'secret', 'session', 'both']),
      Delete: key(),
    },
    createdIdentifier: pick(random, ['id', 'guid', 'next-id']),
    duplicates: pick(random, ['allowed', 'refused', 'replaced']),
    doubles: pick(random, ['all', 'first']),
    caseInsensitiveKeys: yes(),
    omitted: pick(random, ['kept', 'cleared']),
    requiredOnUpdate: pick(random, ['sent', 'optional']),
    emptyText: empties(),
    emptyChoice: empties(),
    emptyArray: empties(),
    updateWithoutMatch: pick(random, ['zero', 'refused', 'created']),
    unchangedUpdate: pick(random, ['counted', 'zero']),
    deleteWithoutMatch: pick(random, ['short-count', 'refuse-all', 'refuse-after']),
    deleteCounts: pick(random, ['rows', 'keys', 'sent']),
    maxKeys: pick(random, [null, 1, 2, 49, 50, 51, 999, 1000]),
    maxPageSize: pick(random, [null, 3, 25, 48, 49, 50, 99, 100, 101, 1000]),
    largerPageSize: pick(random, ['clamped', 'refused']),
    pastTheEnd: pick(random, ['empty', 'last-page', 'refused']),
    order: pick(random, ['id', 'id-descending', 'changed-first', 'MLSNumber']),
    virtualCount: pick(random, ['total', 'pages', 'zero', 'items', 'lagging']),
    mlsNumberFilter: pick(random, ['exact', 'contains']),
    listLag: pick(random, [0, 0, 1, 4]),
    imagesShown: pick(random, ['json', 'comma', 'semicolon', 'bar', 'blank']),
    moneyShown: form(),
    numbersShown: form(),
    coordinateDecimals: pick(random, [null, 0, 3, 6, 12]),
    absentCoordinates: pick(random, ['zero', 'empty', 'null']),
    trim: yes(),
    htmlEscape: yes(),
    cut: pick(random, [{}, { Description: 50 }, { Images: 3 }, { Description: 4999, Images: 29 }]),
    refusalsVia: pick(random, ['http', 'envelope']),
    zeroRequired: pick(random, ['accepted', 'refused']),
    emptyRequired: pick(random, ['accepted', 'refused']),
  }
}
