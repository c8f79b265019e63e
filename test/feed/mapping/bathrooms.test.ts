import { expect, test } from 'vitest'
import { deliveredBy } from '../../support/preset-fixtures.ts'

/** The Bathrooms of the listings in a preset's fixture, by MLSNumber; `change`: what becomes of its text. */
async function bathroomsOf(preset: string, change = (text: string) => text): Promise<Map<string, number>> {
  const { delivered } = await deliveredBy(preset, (bytes) => Buffer.from(change(bytes.toString())))
  return new Map(
    delivered.flatMap((delivered) =>
      delivered.kind === 'listing' ? [[delivered.listing.MLSNumber, delivered.listing.Bathrooms]] : [],
    ),
  )
}

const full = [
  ['homeharvest', 'full_baths'],
  ['hotpads', 'numFullBaths'],
  ['mls-csv', 'Baths Full'],
  ['propertybase', 'fullbathrooms'],
  ['reso-syndication', 'FullBathrooms'],
  ['rets-compact', 'BathsFull'],
  ['trulia', 'num-full-bathrooms'],
  ['worldpostings', 'bathroom_count'],
  ['zillow', 'FullBathrooms'],
]
test.each(full)('%s: half bathrooms are no count where the full ones are not said (%s)', async (preset, name) => {
  expect([...(await bathroomsOf(preset)).values()].some((count) => count % 1 !== 0)).toBe(true)
  const without = await bathroomsOf(preset, (text) => text.replaceAll(new RegExp(`(?<![\\w-])${name}`, 'g'), 'Unsaid'))
  expect([...without.values()].filter((count) => count > 0 && count < 1.5 && count % 1 !== 0)).toEqual([])
})

test.each(['N/A', 'null', 'None', '-'])('full bathrooms of %s are not said', async (word) => {
  const without = await bathroomsOf('mls-csv', (text) => text.replaceAll(',3,2,1,3,', `,3,${word},1,3,`))
  const [before] = [...(await bathroomsOf('mls-csv'))].filter(([, count]) => count === 2.5)
  expect([before[1], without.get(before[0])]).toEqual([2.5, 3])
})

test('of RESO, partial bathrooms count where no others are said, and a total below the half ones is all', async () => {
  const [changed] = [...(await bathroomsOf('reso-csv'))].filter(([, count]) => count === 3.25)
  const having = async (cells: Record<string, string>): Promise<number | undefined> => {
    const found = await bathroomsOf('reso-csv', (text) => {
      const [header, ...rows] = text.split('\n')
      const names = Object.keys(cells)
      const spoiled = header.replace(/Bathrooms/g, 'Unsaid')
      return [
        `${spoiled},${names.join(',')}`,
        ...rows.map((row) => (row === '' ? '' : `${row},${Object.values(cells).join(',')}`)),
      ].join('\n')
    })
    return found.get(changed[0])
  }
  expect(await having({ BathroomsFull: '2', BathroomsPartial: '1' })).toBe(2.5)
  expect(await having({ BathroomsFull: '2', BathroomsThreeQuarter: '1', BathroomsPartial: '1' })).toBe(2.75)
  expect(await having({ BathroomsTotalInteger: '3', BathroomsThreeQuarter: '1', BathroomsPartial: '1' })).toBe(2.75)
  expect(await having({ BathroomsTotalInteger: '0', BathroomsHalf: '1' })).toBe(0)
})

test.each(['reso-csv', 'reso-json'])(
  '%s: of a total, which counts each as one, the half ones are a half',
  async (preset) => {
    const said = await bathroomsOf(preset)
    const [sure] = [...said].find(([, count]) => count % 1 !== 0) ?? []
    const without = await bathroomsOf(preset, (text) => text.replaceAll('BathroomsFull', 'Unsaid'))
    expect(without.get(String(sure))).toBe(said.get(String(sure)))
  },
)
