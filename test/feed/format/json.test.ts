/** What JSON documents say of their own end, and records that are not what they seem. */
import { expect, test } from 'vitest'
import { FeedError } from '../../../src/core/errors.ts'
import { json } from '../../../src/feed/format/json.ts'
import { ndjson } from '../../../src/feed/format/ndjson.ts'
import { read } from '../../contract/format.ts'

const options = { record: 'value', counter: '@odata.count', nextPage: '@odata.nextLink' }
const page = (more: string, records = '{"Id": "A1"}'): string => `{"value": [${records}]${more}}`
const reasonsOf = async (document: string): Promise<string[]> => (await read(json, document, options)).reasons

test('a page that names the next one is not the whole feed', async () => {
  const next = '"https://api.example/Property?$skip=1"'
  expect(await reasonsOf(page(`, "@odata.nextLink": ${next}`))).toEqual([
    'the document is one page of several: its @odata.nextLink names the next one, which is not in it',
  ])
  expect(await reasonsOf(page(', "@odata.nextLink": null'))).toEqual([])
})

const unnamed = { record: 'value' }
const link = '"https:\\/\\/api.example\\/homes?page=2"'

test.each([
  ['next', ', "next": "https://api.example/homes?page=2"'],
  ['next_page_url', `, "next_page_url": ${link}`],
  ['links/next', `, "links": {"self": ${link}, "next": "/homes?page=2"}`],
  ['_links/next/href', `, "_links": {"next": {"href": ${link}}}`],
  ['@odata.nextLink', ', "@odata.nextLink": "?$skip=1"'],
  ['paging/nextPage', ', "paging": {"page": 1, "nextPage": 2}'],
  ['meta/next_cursor', ', "meta": {"next_cursor": "eyJpZCI6MX0"}'],
  ['hasMore', ', "hasMore": true'],
])('a next page is found where the preset does not name it: %s', async (path, more) => {
  const reasons = [
    `the document is one page of several: its ${path} names the next one, which is not in it (if it does not, name another member as nextPage in the preset)`,
  ]
  expect((await read(json, page(more), unnamed)).reasons).toEqual(reasons)
  // A name in the preset is the only one that counts.
  expect((await read(json, page(more), { ...unnamed, nextPage: 'more' })).reasons).toEqual([])
  expect((await read(json, `{"Id": "A1"${more}}`, { record: '.' })).reasons).toEqual([])
})

test.each([
  ', "next": null, "links": {"next": null, "next_page_url": ""}, "next_cursor": "", "next_page": 0',
  ', "next": "2026-12-01", "nextExport": "https://api.example/homes", "next_token": null',
  ', "next_cursor": 0, "next_token": -1, "next_page": 1',
  `, "next": ${link}, "meta": {"has_more": false}`,
  `, "agents": [{"next": ${link}, "has_more": true}]`,
])('no next page: %s', async (more) => {
  expect((await read(json, page(more), unnamed)).reasons).toEqual([])
})

test('its own count of records must be right', async () => {
  expect(await reasonsOf(page(', "@odata.count": 2'))).toEqual(['@odata.count is 2, but the document holds 1 record'])
  expect(await reasonsOf(page(', "@odata.count": 1'))).toEqual([])
  expect(await reasonsOf(page(', "@odata.count": "many"'))).toEqual([
    '@odata.count of the document is not a number of records',
  ])
})

test.each([
  [', "error": {"code": "ODATA-500", "message": "The query timed out"}', 'ODATA-500'],
  [', "errors": [{"message": "could not load all homes"}]', 'could not load all homes'],
  [', "error": true', 'true'],
])('an error beside the records means that some may be missing: %s', async (more, said) => {
  expect(await reasonsOf(page(more))).toEqual([
    `the document says beside its records that something went wrong ("${said}")`,
  ])
})

test.each([
  ', "error": null, "errors": []',
  ', "error": false',
  ', "error": "", "errors": {}',
  ', "error": {"code": 0, "message": "OK"}',
  ', "error": "No error"',
  ', "error": {"code": "0000", "message": "No errors."}',
  ', "meta": {"error": "none of the root"}',
])('no error: %s', async (more) => {
  expect(await reasonsOf(page(more))).toEqual([])
})

test('an answer without the array of records is no feed with no listings', async () => {
  const error = '{"error": {"code": "401", "message": "no"}}'
  await expect(read(json, error, options)).rejects.toThrow('error message of a server')
  await expect(read(json, error, { record: ['value', '.'] })).rejects.toThrow('error message of a server')
  await expect(read(json, '{"value": "none"}', options)).rejects.toThrow('without an array of records "value"')
  await expect(read(json, '"value"', options)).rejects.toBeInstanceOf(FeedError)
  expect(await read(json, '{"value": []}', options)).toEqual({ records: [], places: [], reasons: [] })
})

test('two records that became one are none: neither of them counts as the other', async () => {
  const { records } = await read(
    json,
    page('', '{"Id": "A1", "City": "X", "Id": "A2"}, {"a": {"x": 1}, "b": {"x": 1}}'),
    options,
  )
  expect(records).toEqual([
    'the record has two members of one name; the end of another record may be missing in it',
    { a: { x: '1' }, b: { x: '1' } },
  ])
})

test('nesting that no feed has: of a record it breaks that one, around records it ends the reading', async () => {
  const nested = (depth: number): string => `{"Id": "A1", "a": ${'['.repeat(depth)}1${']'.repeat(depth)}}`
  for (const deep of [
    nested(101),
    nested(5000),
    nested(101).replace('[1]', '{"b": 1}'),
    '{"a":'.repeat(200) + '1' + '}'.repeat(200),
  ]) {
    const { records, reasons } = await read(json, page('', `${deep}, {"Id": "A2"}`), options)
    expect(records).toEqual(['the record nests deeper than 100', { Id: 'A2' }])
    expect(reasons).toEqual([])
  }
  expect((await read(json, page('', nested(90)), options)).records).toEqual([{ Id: 'A1', a: '1' }])
  const around = await read(json, page(`, "b": ${'['.repeat(101)}`), options)
  expect(around).toMatchObject({ records: [{ Id: 'A1' }], reasons: [expect.stringContaining('nests deeper than 100')] })
})

test('names of prototypes are left out', async () => {
  const { records } = await read(
    json,
    page(
      '',
      '{"Id": "A1", "__proto__": {"Id": "A2", "City": "X"}, "constructor": "c", "a": {"prototype": "p", "x": 1}}',
    ),
    options,
  )
  expect(records).toEqual([{ Id: 'A1', a: { x: '1' } }])
  expect(Object.getPrototypeOf(records[0])).toBeNull()
})

test('what is no record breaks itself alone, and what is out of place ends the reading', async () => {
  const { records, reasons } = await read(json, page('', '{"Id": A1}, 7, {"Id": "A2"}'), options)
  expect(records).toEqual(['the record is not as JSON has it', 'the record is no object', { Id: 'A2' }])
  expect(reasons).toEqual([])
  const lost = await read(json, page('', '{"Id": "A1"} {"Id": "A2"}'), options)
  expect(lost.records).toEqual([{ Id: 'A1' }])
  expect(lost.reasons).toEqual(['byte 24 of the document is not as JSON has it; the rest of the document was not read'])
  expect(await reasonsOf(`${page('')}{}`)).toHaveLength(1)
})

test.each([1, 7, 64, 1 << 20])('a record that is too long is left out, in chunks of %i', async (size) => {
  const long = `{"Id": "${'x'.repeat(300)}"}`
  const { records, reasons } = await read(
    json,
    page('', `${long}, {"Id": "A2"}`),
    { ...options, maxRecordBytes: 100 },
    size,
  )
  expect(records).toEqual(['the record is longer than 100 bytes (maxRecordBytes)', { Id: 'A2' }])
  expect(reasons).toEqual([])
  const lines = await read(ndjson, `{"Id": "A1"}\n${long}\n{"Id": "A2"}\n`, { maxRecordBytes: 100 }, size)
  expect(lines.records).toEqual([{ Id: 'A1' }, 'the line is longer than 100 bytes (maxRecordBytes)', { Id: 'A2' }])
})

test('a line that is no object breaks itself alone', async () => {
  const { records } = await read(ndjson, '{"Id": "A1"}\n[1]\n{"Id"\n{"Id": "A2"}\n', {})
  expect(records).toEqual([{ Id: 'A1' }, 'the record is no object', 'the record is not as JSON has it', { Id: 'A2' }])
})
