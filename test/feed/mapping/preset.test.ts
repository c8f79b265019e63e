import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/core/errors.ts'
import { loadPreset } from '../../../src/feed/mapping/load-preset.ts'

const good = `
name: tiny
title: A tiny format
format: xml
record: homes/home
delivery: full
numbers: { decimal: '.', group: ',' }
fields:
  MLSNumber: id
  Bedrooms: beds
`

function problemsOf(yaml: string): string[] {
  try {
    loadPreset(yaml, 'tiny.yaml')
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('loadPreset', () => {
  it('reads a preset and fills what may be left out', () => {
    expect(loadPreset(good, 'tiny.yaml')).toMatchObject({
      file: 'tiny.yaml',
      dates: ['ISO'],
      statuses: {},
      formatOptions: { record: 'homes/home' },
    })
  })

  it('names every problem with its path', () => {
    const problems = problemsOf(`${good}  Bathroms: baths\n  Url: { form: link }\nstatusses: {}\ndelivery2: full\n`)
    expect(problems).toHaveLength(4)
    expect(problems).toContainEqual('fields.Bathroms: a listing has no such field; did you mean Bathrooms?')
    expect(problems).toContainEqual('statusses: unknown key; did you mean "statuses"?')
    expect(problems).toContainEqual('delivery2: unknown key; did you mean "delivery"?')
    expect(problems).toContainEqual('fields.Url.form: unknown key; did you mean "from"?')
  })

  it('says which keys are not for its format', () => {
    expect(problemsOf(`${good}columns: 3\n`)).toEqual(['columns: is for CSV only'])
    const table = good.replace('xml\nrecord: homes/home', 'csv')
    expect(problemsOf(`${table}counter: '@count'\n`)).toEqual(['counter: is for XML or JSON only'])
    expect(problemsOf(`${table}columns: 3\nrequiredHeaders: [id]\n`)).toEqual([
      'requiredHeaders: a file with columns by position has no headers',
    ])
    expect(problemsOf(`${good}counter: '@homes/count'\n`)).toEqual([
      expect.stringMatching(/^counter: an attribute of the/),
    ])
  })

  it('knows ways around the records that can match nothing', () => {
    const elsewhere = (way: string) => `${way} can match nothing: the records are in homes, so it begins there, too`
    expect(problemsOf(`${good}counter: head/total\n`)).toEqual([`counter: ${elsewhere('head/total')}`])
    expect(problemsOf(`${good}header: { sent: head/@sent }\nwritten: head/@sent\n`)).toEqual([
      `written: ${elsewhere('head/@sent')}`,
      `header.sent: ${elsewhere('head/@sent')}`,
    ])
    expect(problemsOf(good.replace('homes/home', 'homes/../home'))).toContainEqual(
      'record: homes/../home can match nothing: a path goes down from the root',
    )
    expect(problemsOf(`${good}counter: homes/head/total\nwritten: homes/head/sent\n`)).toEqual([])
    expect(problemsOf(`${good}written: homes/home\n`)).toEqual(['written: homes/home is a record, or contains them'])
  })

  it('takes no header from an element that may come again', () => {
    const nested = good.replace('homes/home', 'homes/region/home')
    expect(problemsOf(`${nested}header: { tab: homes/region/@tab }\n`)).toEqual([
      'header.tab: homes/region/@tab belongs to an element that contains records and may repeat with another value; write it under around',
    ])
    expect(problemsOf(`${nested}header: { sent: homes/@sent, mode: homes/regions/@mode }\n`)).toEqual([])
  })

  it('knows a tab that is none, and what a path of another language means', () => {
    const table = good.replace('xml\nrecord: homes/home', 'csv')
    expect(problemsOf(`${table}delimiter: '\\t'\n`)).toEqual([expect.stringContaining('in double quotes')])
    expect(problemsOf(`${table}delimiter: "\\t"\n`)).toEqual([])
    expect(problemsOf(`${table}delimiter: =====\n`)).toEqual(['delimiter: takes up to four characters'])
    expect(problemsOf(`${good}  City: place/city/text()\n`)).toEqual([
      'fields.City: text() in the path "place/city/text()" is not needed: a path that ends at an element yields its text',
    ])
  })

  it('names unknown fields, all at once', () => {
    expect(problemsOf(`${good}  Bathroms: baths\n  Yearbuilt: year\n`)).toEqual([
      'fields.Bathroms: a listing has no such field; did you mean Bathrooms?',
      'fields.Yearbuilt: a listing has no such field; did you mean YearBuilt?',
    ])
  })

  it.each([
    ['  Url: { from: link, as: areas }', /^fields\.Url.*/],
    ['  Url: { from: link, as: number }', /number gives number, Url takes text/],
    ['  LotArea: { from: lot, as: area }', /area needs unit or unitFrom/],
    ['  LotArea: { from: lot, as: area, unit: acers }', /unknown unit of area "acers"/],
    ['  Url: { from: link, unit: acres }', /unit does not apply to url/],
    ['  Url: { template: "https://a.example/{Url}" }', /\{Url\} is not available yet when Url is made/],
    ['  Url: { template: "https://a.example/{MLSNumber" }', /unmatched brace/],
    ['  Url: { value: not-an-address }', /http/],
    ['  AreaUnit: { value: Acres }', /one of Square Feet, Square Meters/],
    ['  City: address//city', /an empty step in the path/],
    ['  City: "address[kind]/city"', /should be like \[FeeType=HOA\]/],
    ['  DaysOnMarket: { from: date, as: daysSince, formats: [YYYY-MM] }', /lacks a day/],
    [
      '  Status: { from: status, as: status }\n  SaleType: { from: kind, as: choice, choices: { K: sale } }',
      /"sale" is not a value of SaleType/,
    ],
    ['  ExtensionColumn: extra', /written under extension/],
    ['  MLSNumber: other', /unique/],
  ])('refuses a rule that cannot work: %s', (rule, problem) => {
    expect(problemsOf(`${good}${rule}\n`).join('\n')).toMatch(problem)
  })

  it.each([
    ['- a list', /is a map/],
    ['name: [', /./],
    ['name: Tiny Format', /lower-case letters/],
    [good.replace('record: homes/home\n', ''), /record: an XML preset needs it/],
    [good.replace("group: ','", "group: '.'"), /must differ/],
    [`${good}hideAddress: [{ from: a }]`, /needs one of is and equals/],
  ])('refuses %j', (yaml, problem) => {
    expect(problemsOf(yaml).join('\n')).toMatch(problem)
  })
})

describe('extends', () => {
  const files: Record<string, string> = {
    base: good
      .replace('fields:', "counter: '@count'\nstatuses: { live: Active }\nfields:")
      .replace('Bedrooms: beds', 'Bedrooms: beds\n  City: town'),
    loop: 'extends: loop\nname: loop',
  }
  const load = (yaml: string) =>
    loadPreset(yaml, 'mine.yaml', (name) => ({ text: files[name] ?? '', file: `${name}.yaml` }))

  it('takes over what it does not say itself; null takes away', () => {
    const mine = load(
      'extends: base\nname: mine\ntitle: Mine\nfields: { City: place, Bedrooms: null }\nstatuses: { gone: remove }',
    )
    expect(mine).toMatchObject({ name: 'mine', title: 'Mine', delivery: 'full', file: 'mine.yaml' })
    expect(mine.fields).toEqual({ MLSNumber: 'id', City: 'place' })
    expect(mine.statuses).toEqual({ live: 'Active', gone: 'remove' })
    expect(mine.formatOptions).toMatchObject({ record: 'homes/home', counter: '@count' })
  })

  it('leaves the keys of another format behind', () => {
    const mine = load('extends: base\nname: mine\nformat: csv')
    expect(mine.formatOptions).toEqual({ requiredHeaders: [] })
  })

  it('says what is wrong', () => {
    expect(() => load('extends: loop\nname: mine')).toThrow('extends: more than 5 presets extend one another')
    expect(() => load('extends: 7')).toThrow('extends: takes the name of a preset, or the path of its file')
    expect(() => load('extends: base\nfields: { Citty: place }')).toThrow('fields.Citty: a listing has no such field')
  })
})
