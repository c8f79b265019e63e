import { expect, test } from 'vitest'
import type { StandInProfileInput } from '../../src/stand-in/profile.ts'
import { readStandInSettings } from '../../src/stand-in/settings.ts'
import type { StandIn } from '../../src/stand-in/stand-in.ts'
import { chatbot, create, house, item, list, remove, send, shown, started, update } from './caller.ts'

const json = { 'content-type': 'application/json' }
const secret = { ...json, authorization: 'secret' }
const session = { ...json, 'chatrobot-sessionkey': 'session' }
const both = { ...secret, ...session }

test.each([
  ['either', json, false],
  ['either', secret, true],
  ['either', session, true],
  ['either', { ...json, authorization: 'Bearer secret' }, false],
  ['secret', session, false],
  ['secret', secret, true],
  ['session', secret, false],
  ['session', session, true],
  ['both', secret, false],
  ['both', both, true],
  ['none', json, true],
] as const)('S1: with %s asked for, %j is let in: %j', async (wanted, headers, letIn) => {
  const profile = { headers: { Create: wanted, Update: wanted, List: wanted, Delete: wanted } }
  const standIn = await started({ profile, keys: { secret: 'secret', session: 'session' } })
  const bodies = {
    Create: house(),
    Update: { ...house(), Key: 'A-1', KeyType: 'MLSNumber' },
    List: {},
    Delete: { Keys: ['A-1'], KeyType: 'MLSNumber' },
  }
  for (const [operation, body] of Object.entries(bodies)) {
    const answered = await send(standIn, operation, body, headers)
    expect(answered.json).toMatchObject({ Success: letIn, Code: letIn ? 200 : 401 })
  }
})

test('S1: without keys of its own the stand-in takes any', async () => {
  const standIn = await started()
  expect((await send(standIn, 'List', {}, { ...json, authorization: 'whatever' })).json.Success).toBe(true)
})

test.each([
  ['json-when-given', {}, true],
  ['json-when-given', { 'content-type': 'text/plain' }, false],
  ['json-when-given', { 'content-type': 'application/json; charset=utf-8' }, true],
  ['required', {}, false],
  ['required', json, true],
  ['any', { 'content-type': 'text/plain' }, true],
] as const)('Content-Type %s: %j is let in: %j', async (contentType, headers, letIn) => {
  const standIn = await started({ profile: { contentType } })
  expect((await send(standIn, 'List', {}, { authorization: 'k', ...headers })).json.Success).toBe(letIn)
})

/** Two houses there before the API is used. */
async function twoHouses(profile: StandInProfileInput): Promise<StandIn> {
  const standIn = await started({ profile: { order: 'id', ...profile } })
  standIn.seed(chatbot, [
    house('A-1', { City: 'Springfield', Images: ['https://img.example/1.jpg'], Tours: '3D' }),
    house('A-2'),
  ])
  return standIn
}

/** Each row: a profile, an action, and the expected result. */
const answers: [string, StandInProfileInput, (standIn: StandIn) => Promise<unknown>, unknown][] = [
  ['a chatbot that exists', { chatbots: [chatbot] }, async (s) => (await list(s)).json.Code, 200],
  ['a chatbot that does not', { chatbots: ['SN-9'] }, async (s) => (await list(s)).json.Code, 404],

  ['S2 id', { createdIdentifier: 'id' }, async (s) => (await create(s, house('A-3'))).json.Data, '1003'],
  ['S2 next-id', { createdIdentifier: 'next-id' }, async (s) => (await create(s, house('A-3'))).json.Data, '1004'],
  [
    'S2 guid',
    { createdIdentifier: 'guid' },
    async (s) => (await create(s, house('A-3'))).json.Data,
    expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  ],

  [
    'S3 duplicates allowed',
    {},
    async (s) => [(await create(s)).json.Code, await shown(s)],
    [200, ['A-1', 'A-2', 'A-1']],
  ],
  [
    'S3 duplicates refused',
    { duplicates: 'refused' },
    async (s) => [(await create(s)).json.Code, (await update(s, 'A-2', house('A-1'))).json.Code, await shown(s)],
    [409, 409, ['A-1', 'A-2']],
  ],
  [
    'S3 duplicates replaced',
    { duplicates: 'replaced' },
    async (s) => [
      (await create(s, house('A-1', { YearBuilt: 1 }))).json.Code,
      await shown(s),
      await shown(s, { MLSNumber: 'A-1' }),
    ],
    [200, ['A-1', 'A-2'], ['A-1']],
  ],
  [
    'S3 an Update may keep its own number',
    { duplicates: 'refused' },
    async (s) => (await update(s, 'A-1', house('A-1'))).json.Code,
    200,
  ],
  [
    'doubles: all',
    {},
    async (s) => [await create(s), (await remove(s, ['A-1'])).json.Data, await shown(s)].slice(1),
    [{ SuccessCount: 2 }, ['A-2']],
  ],
  [
    'doubles: first',
    { doubles: 'first' },
    async (s) => [await create(s), (await remove(s, ['A-1'])).json.Data, await shown(s)].slice(1),
    [{ SuccessCount: 1 }, ['A-2', 'A-1']],
  ],
  ['case-sensitive keys', {}, async (s) => (await update(s, 'a-1', house())).json.Data, 0],
  ['case-insensitive keys', { caseInsensitiveKeys: true }, async (s) => (await update(s, 'a-1', house())).json.Data, 1],
  ['case-insensitive filter', { caseInsensitiveKeys: true }, async (s) => shown(s, { MLSNumber: 'a-2' }), ['A-2']],

  ['S4 omitted kept', {}, async (s) => [await update(s, 'A-1', house()), (await item(s)).City][1], 'Springfield'],
  [
    'S4 omitted cleared',
    { omitted: 'cleared' },
    async (s) => [await update(s, 'A-1', house()), (await item(s)).City][1],
    '',
  ],
  ['S4 "" clears', {}, async (s) => [await update(s, 'A-1', house('A-1', { City: '' })), (await item(s)).City][1], ''],
  [
    'S4 "" ignored',
    { emptyText: 'ignored' },
    async (s) => [await update(s, 'A-1', house('A-1', { City: '' })), (await item(s)).City][1],
    'Springfield',
  ],
  [
    'S4 "" refused',
    { emptyText: 'refused' },
    async (s) => (await update(s, 'A-1', house('A-1', { City: '' }))).json.Code,
    400,
  ],
  [
    'S4 "" clears a choice',
    {},
    async (s) => [await update(s, 'A-1', house('A-1', { Tours: '' })), (await item(s)).Tours][1],
    '',
  ],
  [
    'S4 "" for a choice ignored',
    { emptyChoice: 'ignored' },
    async (s) => [await update(s, 'A-1', house('A-1', { Tours: '' })), (await item(s)).Tours][1],
    '3D',
  ],
  [
    'S4 "" for a choice refused',
    { emptyChoice: 'refused' },
    async (s) => (await update(s, 'A-1', house('A-1', { Tours: '' }))).json.Message,
    'Tours must not be empty',
  ],
  [
    'S4 [] clears',
    {},
    async (s) => [await update(s, 'A-1', house('A-1', { Images: [] })), (await item(s)).Images][1],
    '',
  ],
  [
    'S4 [] ignored',
    { emptyArray: 'ignored' },
    async (s) => [await update(s, 'A-1', house('A-1', { Images: [] })), (await item(s)).Images][1],
    '["https://img.example/1.jpg"]',
  ],
  [
    'S4 [] refused',
    { emptyArray: 'refused' },
    async (s) => (await update(s, 'A-1', house('A-1', { Images: [] }))).json.Message,
    'Images must not be an empty array',
  ],
  [
    'S4 required fields may be left out of an Update',
    { requiredOnUpdate: 'optional', omitted: 'cleared' },
    async (s) => [(await update(s, 'A-1', { Bedrooms: 4 })).json.Data, await item(s)],
    [1, expect.objectContaining({ Bedrooms: '4', Bathrooms: '2.5', City: '' })],
  ],

  [
    'S5 zero',
    {},
    async (s) => (await update(s, 'A-9', house('A-9'))).json,
    expect.objectContaining({ Data: 0, Success: true }),
  ],
  [
    'S5 refused',
    { updateWithoutMatch: 'refused' },
    async (s) => (await update(s, 'A-9', house('A-9'))).json,
    expect.objectContaining({ Success: false, Code: 404, Message: 'There is no listing with MLSNumber A-9' }),
  ],
  [
    'S5 created',
    { updateWithoutMatch: 'created' },
    async (s) => [(await update(s, 'A-9', house('A-9'))).json.Data, await shown(s)],
    [1, ['A-1', 'A-2', 'A-9']],
  ],
  ['S5 unchanged counted', {}, async (s) => (await update(s, 'A-2', house('A-2'))).json.Data, 1],
  ['S5 unchanged zero', { unchangedUpdate: 'zero' }, async (s) => (await update(s, 'A-2', house('A-2'))).json.Data, 0],
  [
    'S5 changed is still counted',
    { unchangedUpdate: 'zero' },
    async (s) => (await update(s, 'A-2', house('A-2', { YearBuilt: 1 }))).json.Data,
    1,
  ],

  ['S6 short', {}, async (s) => (await remove(s, ['A-1', 'A-9'])).json.Data, { SuccessCount: 1 }],
  [
    'S6 refused, nothing done',
    { deleteWithoutMatch: 'refuse-all' },
    async (s) => [(await remove(s, ['A-1', 'A-9'])).json.Code, await shown(s)],
    [404, ['A-1', 'A-2']],
  ],
  [
    'S6 refused, the rest done',
    { deleteWithoutMatch: 'refuse-after' },
    async (s) => [(await remove(s, ['A-1', 'A-9'])).json.Code, await shown(s)],
    [404, ['A-2']],
  ],
  [
    'S6 counts rows',
    {},
    async (s) => [await create(s), (await remove(s, ['A-1', 'A-2'])).json.Data][1],
    { SuccessCount: 3 },
  ],
  [
    'S6 counts keys',
    { deleteCounts: 'keys' },
    async (s) => [await create(s), (await remove(s, ['A-1', 'A-2', 'A-9'])).json.Data][1],
    { SuccessCount: 2 },
  ],
  [
    'S6 counts what was sent',
    { deleteCounts: 'sent' },
    async (s) => (await remove(s, ['A-1', 'A-9'])).json.Data,
    { SuccessCount: 2 },
  ],
  ['S7 within', { maxKeys: 2 }, async (s) => (await remove(s, ['A-1', 'A-2'])).json.Data, { SuccessCount: 2 }],
  [
    'S7 above',
    { maxKeys: 1 },
    async (s) => [(await remove(s, ['A-1', 'A-2'])).json.Code, await shown(s)],
    [400, ['A-1', 'A-2']],
  ],

  ['S8 clamped', { maxPageSize: 1 }, async (s) => shown(s, { PageSize: 50 }), ['A-1']],
  [
    'S8 refused',
    { maxPageSize: 1, largerPageSize: 'refused' },
    async (s) => (await list(s, { PageSize: 2 })).json.Message,
    'PageSize must not be more than 1',
  ],
  ['S8 no limit', { maxPageSize: null }, async (s) => shown(s, { PageSize: 5000 }), ['A-1', 'A-2']],
  ['S8 past the end: empty', {}, async (s) => shown(s, { PageNumber: 3, PageSize: 1 }), []],
  [
    'S8 past the end: last page',
    { pastTheEnd: 'last-page' },
    async (s) => shown(s, { PageNumber: 9, PageSize: 1 }),
    ['A-2'],
  ],
  [
    'S8 past the end: refused',
    { pastTheEnd: 'refused' },
    async (s) => (await list(s, { PageNumber: 2 })).json.Code,
    404,
  ],
  [
    'S8 the first page is never past the end',
    { pastTheEnd: 'refused' },
    async (s) => (await list(s, { SerialNumber: 'SN-2' })).json.Code,
    200,
  ],

  ['S9 id', { order: 'id' }, (s) => shown(s), ['A-1', 'A-2']],
  ['S9 id descending', { order: 'id-descending' }, (s) => shown(s), ['A-2', 'A-1']],
  [
    'S9 changed first',
    { order: 'changed-first' },
    async (s) =>
      [await shown(s), await update(s, 'A-1', house('A-1', { YearBuilt: 1 })), await shown(s)].toSpliced(1, 1),
    [
      ['A-2', 'A-1'],
      ['A-1', 'A-2'],
    ],
  ],
  [
    'S9 by MLSNumber',
    { order: 'MLSNumber' },
    async (s) => [await create(s, house('A-0')), await shown(s)][1],
    ['A-0', 'A-1', 'A-2'],
  ],
  ...(
    [
      ['total', 2],
      ['pages', 2],
      ['zero', 0],
      ['items', 1],
      ['lagging', 1],
    ] as const
  ).map(([virtualCount, expected]): (typeof answers)[number] => [
    `S9 VirtualCount ${virtualCount}`,
    { virtualCount },
    async (s) => (await list(s, { PageSize: 1 })).json.Data.VirtualCount,
    expected,
  ]),

  ['filter exact', {}, async (s) => [await create(s, house('A-11')), await shown(s, { MLSNumber: 'A-1' })][1], ['A-1']],
  [
    'filter contains',
    { mlsNumberFilter: 'contains' },
    async (s) => [await create(s, house('A-11')), await shown(s, { MLSNumber: 'A-1' })][1],
    ['A-1', 'A-11'],
  ],
  ['filter ignored', { mlsNumberFilter: 'ignored' }, (s) => shown(s, { MLSNumber: 'A-1' }), ['A-1', 'A-2']],

  ['S19', { version: '2.0.0' }, async (s) => (await list(s)).json.Version, '2.0.0'],
  ['S21 0 accepted', {}, async (s) => (await create(s, house('A-3', { YearBuilt: 0 }))).json.Code, 200],
  [
    'S21 0 refused',
    { zeroRequired: 'refused' },
    async (s) => (await create(s, house('A-3', { YearBuilt: 0 }))).json.Message,
    'YearBuilt must not be 0',
  ],
  [
    'S21 0 in an optional field',
    { zeroRequired: 'refused' },
    async (s) => (await create(s, house('A-3', { HOAMonth: 0 }))).json.Code,
    200,
  ],
  [
    'S21 "" refused',
    {},
    async (s) => (await create(s, house('A-3', { PropertyType: '' }))).json.Message,
    'PropertyType must not be empty',
  ],
  [
    'S21 "" accepted',
    { emptyRequired: 'accepted' },
    async (s) => (await create(s, house('A-3', { PropertyType: '' }))).json.Code,
    200,
  ],
  [
    'S22 text',
    { maxLengths: { Description: 3 } },
    async (s) => [
      (await create(s, house('A-3', { Description: 'abc' }))).json.Code,
      (await create(s, house('A-4', { Description: 'abcd' }))).json.Message,
    ],
    [200, 'Description is longer than 3'],
  ],
  [
    'S22 array',
    { maxLengths: { Images: 1 } },
    async (s) => (await create(s, house('A-3', { Images: ['https://a.example', 'https://b.example'] }))).json.Message,
    'Images is longer than 1',
  ],

  ['S14 over HTTP', { refusalsVia: 'http' }, async (s) => (await list(s, { PageSize: 0 })).status, 400],
  ['S14 in the envelope', { refusalsVia: 'envelope' }, async (s) => (await list(s, { PageSize: 0 })).status, 200],
  [
    'S14 a code and a text of its own',
    { refusals: { invalid: { code: 10021, message: 'Parameter error' } } },
    async (s) => (await list(s, { PageSize: 0 })).json,
    expect.objectContaining({ Success: false, Code: 10021, Message: 'Parameter error' }),
  ],
  [
    'S14 one reason over HTTP',
    { refusals: { notFound: { via: 'http' } }, updateWithoutMatch: 'refused' },
    async (s) => (await update(s, 'A-9', house())).status,
    404,
  ],
]

test.each(answers)('%s', async (_name, profile, act, expected) => {
  expect(await act(await twoHouses(profile))).toEqual(expected)
})

const shownForms: [string, StandInProfileInput, Record<string, unknown>, Record<string, unknown>][] = [
  ['S10', { saleTypeShown: { for_sale: 'Sale', for_rent: 'Lease' } }, {}, { SaleType: 'Sale' }],
  ['S10', { saleTypeShown: { for_rent: 'Lease' } }, { SaleType: 'for_rent' }, { SaleType: 'Lease' }],
  ...(
    [
      ['json', '["https://a.example/1","https://a.example/2"]'],
      ['comma', 'https://a.example/1,https://a.example/2'],
      ['semicolon', 'https://a.example/1;https://a.example/2'],
      ['bar', 'https://a.example/1|https://a.example/2'],
      ['blank', 'https://a.example/1 https://a.example/2'],
    ] as const
  ).map(([imagesShown, Images]): (typeof shownForms)[number] => [
    'S11',
    { imagesShown },
    { Images: ['https://a.example/1', 'https://a.example/2'] },
    { Images },
  ]),
  ['S12', { moneyShown: 'plain' }, { SalePrice: 1500.5 }, { SalePrice: '1500.5', Price: '1500.5' }],
  ['S12', { moneyShown: 'many-decimals' }, { SalePrice: 1500.5 }, { SalePrice: '1500.5000000000' }],
  ['S12', { numbersShown: 'two-decimals' }, {}, { Bedrooms: '3.00', YearBuilt: '1987.00' }],
  ['S12', { coordinateDecimals: 3 }, { Latitude: 39.123456, Longitude: -89 }, { LATITUDE: 39.123, LONGITUDE: -89 }],
  ['S12', {}, {}, { LATITUDE: 0, LONGITUDE: 0 }],
  ['S12', { absentCoordinates: 'empty' }, {}, { LATITUDE: '', LONGITUDE: '' }],
  ['S12', { absentCoordinates: 'null' }, {}, { LATITUDE: null, LONGITUDE: null }],
  ['S13', { trim: true }, { Description: ' Bright \n' }, { Description: 'Bright' }],
  ['S13', {}, { Description: ' Bright \n' }, { Description: ' Bright \n' }],
  [
    'S13',
    { htmlEscape: true },
    { Description: `<b>"A" & 'B'</b>` },
    { Description: '&lt;b&gt;&quot;A&quot; &amp; &#39;B&#39;&lt;/b&gt;' },
  ],
  [
    'S13',
    { cut: { Description: 4, Images: 1 } },
    { Description: 'Bright', Images: ['a', 'b'] },
    { Description: 'Brig', Images: '["a"]' },
  ],
]

test.each(shownForms)('%s: under %j, %j is shown as %j', async (_unknown, profile, fields, expected) => {
  const standIn = await started({ profile })
  expect((await create(standIn, house('A-1', fields))).json.Success).toBe(true)
  expect(await item(standIn)).toMatchObject(expected)
})

test('S9: a shuffled order differs from request to request, and not from repetition to repetition', async () => {
  const walks = await Promise.all(
    [1, 2].map(async () => {
      const standIn = await started({ profile: { order: 'shuffled', seed: 7 } })
      standIn.seed(
        chatbot,
        Array.from({ length: 20 }, (_, index) => house(`A-${index}`)),
      )
      return [await shown(standIn), await shown(standIn)]
    }),
  )
  expect(walks[0]).toEqual(walks[1])
  expect(walks[0][0]).not.toEqual(walks[0][1])
  expect(walks[0][0].toSorted()).toEqual(walks[0][1].toSorted())
})

test('a lagging list shows a write only after so many further requests', async () => {
  const standIn = await started({ profile: { listLag: 2, order: 'id' } })
  standIn.seed(chatbot, [house('A-1', { City: 'Old' }), house('A-2')])
  await create(standIn, house('A-3'))
  await update(standIn, 'A-1', house('A-1', { City: 'New' }))
  await remove(standIn, ['A-2'])
  expect(standIn.listings(chatbot).map((row) => row.listing.MLSNumber)).toEqual(['A-1', 'A-3'])
  const walk = async () =>
    (await list(standIn)).json.Data.List.map((value: any) => `${value.MLSNumber} ${value.City}`.trim())
  expect(await walk()).toEqual(['A-1 Old', 'A-2', 'A-3'])
  expect(await walk()).toEqual(['A-1 New', 'A-2', 'A-3'])
  expect(await walk()).toEqual(['A-1 New', 'A-3'])
})

test("a person's edit is shown at once even where lists lag", async () => {
  const standIn = await started({ profile: { listLag: 5 } })
  await create(standIn)
  expect(standIn.edit(chatbot, 'A-1', { City: 'Ogdenville' })).toBe(1)
  expect((await item(standIn)).City).toBe('Ogdenville')
})

test.each([
  [{ callsPerSecond: 2 }, 429, '1'],
  [{ callsPerSecond: 2, retryAfter: 'date' }, 429, 'Sat, 21 Nov 2026 10:00:02 GMT'],
  [{ callsPerSecond: 2, retryAfter: 'none' }, 429, null],
  [{ callsPerSecond: 2, via: 'envelope' }, 200, '1'],
] as const)('S15: %j', async (rateLimit, status, retryAfter) => {
  let now = Date.parse('2026-11-21T10:00:00.500Z')
  const standIn = await started({ profile: { rateLimit }, now: () => now })
  await list(standIn)
  await list(standIn)
  const refused = await list(standIn)
  expect([refused.status, refused.json.Code, refused.headers.get('retry-after')]).toEqual([status, 429, retryAfter])
  now += 1000
  expect((await list(standIn)).json.Code).toBe(200)
})

test('another profile can be given on the way', async () => {
  const standIn = await twoHouses({ version: '1.5.0' })
  standIn.changeProfile({ order: 'id-descending' })
  expect(await shown(standIn)).toEqual(['A-2', 'A-1'])
  expect((await list(standIn)).json.Version).toBe('1.5.0')
  // @ts-expect-error what a settings file may hold is not of the type either
  expect(() => standIn.changeProfile({ order: 'sideways' })).toThrow('order')
})

test.each([
  ['answers: { noListings: null, tokens: null }', { answers: { noListings: 'null', tokens: 'null' } }],
  ["answers: { noListings: 'null' }", { answers: { noListings: 'null' } }],
  ['absentCoordinates: null', { absentCoordinates: 'null' }],
  ['answers: { names: camelCase, integers: text }', { answers: { names: 'camelCase', integers: 'text' } }],
])('a settings file may say null without quotes: %s', (written, profile) => {
  expect(readStandInSettings(`profile: { ${written} }`)).toMatchObject({ profile })
  expect(() => readStandInSettings('profile: { answers: { names: null } }')).toThrow('profile.answers.names')
})
