/** Letter case beyond ASCII, in a file. On PostgreSQL that is up to the database's locale. */
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/store/sqlite.ts'
import { confirmation } from '../contract/store.ts'

const chatbot = 'SN-1001'

test('a home is found by its street, and cities are counted, however they are written', async () => {
  const store = openStore(':memory:')
  onTestFinished(() => store.close())
  const other = { saleType: 'for_sale', currency: '$', areaUnit: null, price: { from: null, to: 1 } } as const
  const home = { address: '1 Rue de l’Église', city: 'Québec', ...other }
  const event = { at: 1, what: 'create', result: 'done', why: 'new', error: null, fields: [] } as const
  await store.changes.note('north', [{ ...event, mlsNumber: 'A', home }])
  expect(await store.changes.find('rue de l’église, QUÉBEC', 9)).toEqual(['A'])
  const sent = (key: string, City: string) =>
    confirmation(key, { sent: { listing: { ...confirmation(key).sent.listing, City }, moving: {} } })
  await store.snapshot.confirm(chatbot, [sent('A', 'Århus'), sent('B', 'ÅRHUS'), sent('C', 'Ry')])
  expect(await store.snapshot.figures(chatbot, 'north')).toMatchObject({ listings: 3, cities: 2 })
})
