import { expect, test } from 'vitest'
import { chatbot, create, house, item, list, post, remove, send, shown, started, update } from './caller.ts'

test('a listing goes through create, list, update, list, delete', async () => {
  const standIn = await started()
  const created = await create(standIn)
  expect(created.json).toEqual({ Data: '1001', Version: '1.0.0', Success: true, Code: 200, Message: '' })
  expect(await shown(standIn)).toEqual(['A-1'])
  expect((await update(standIn, 'A-1', house('A-1', { SalePrice: 410000 }))).json.Data).toBe(1)
  expect(await item(standIn)).toMatchObject({ SalePrice: '410000.00', Price: '410000.00' })
  expect((await remove(standIn, ['A-1'])).json.Data).toEqual({ SuccessCount: 1 })
  expect((await list(standIn)).json.Data).toEqual({ List: [], VirtualCount: 0 })
})

test('an item has the names and types of the interface, and no others', async () => {
  const standIn = await started()
  standIn.seed(chatbot, [
    house('A-1', {
      Images: ['https://img.example/1.jpg', 'https://img.example/2.jpg'],
      Tours: '3D',
      Description: 'Bright & airy',
      ExtensionColumn: [{ Key: 'Pool', value: 'yes' }],
      Location: 'Corner of Elm',
      Address: '1 Elm St',
      City: 'Springfield',
      State: 'IL',
      ZIP: '02134',
      Latitude: 39.5,
      Longitude: -89.25,
      SalePrice: 400000,
      UnitAreaPrice: 222.222,
      HOAMonth: 90,
      EstimatePrice: 395000.5,
    }),
  ])
  expect(await item(standIn)).toEqual({
    ID: 1001,
    PropertyType: 'House',
    SaleType: 'For Sale',
    Status: 'Active',
    Images: '["https://img.example/1.jpg","https://img.example/2.jpg"]',
    CurrencySymbol: '$',
    Price: '400000.00',
    State: 'IL',
    City: 'Springfield',
    Address: '1 Elm St',
    ZIP: '02134',
    LATITUDE: 39.5,
    LONGITUDE: -89.25,
    Area: '1800 Square Feet',
    Bathrooms: '2.5',
    Bedrooms: '3',
    Url: 'https://homes.example/A-1',
    Tours: '3D',
    YearBuilt: '1987',
    MLSNumber: 'A-1',
    DaysOnMarket: '12',
    LotArea: '6000',
    BuildingArea: '1800',
    ParkingSpots: '2',
    Description: 'Bright & airy',
    ExtensionColumn: '[{"Key":"Pool","value":"yes"}]',
    RentPrice: '',
    SpaceType: '',
    DepositFee: '',
    SalePrice: '400000.00',
    UnitAreaPrice: '222.22',
    EstimatePrice: '395000.50',
    HOAMonth: '90.00',
  })
})

test('Price of a rented listing is its rent', async () => {
  const standIn = await started()
  standIn.seed(chatbot, [house('A-1', { SaleType: 'for_rent', RentPrice: 2100, SalePrice: 5 })])
  expect(await item(standIn)).toMatchObject({ SaleType: 'For Rent', Price: '2100.00', RentPrice: '2100.00' })
})

test.each(['NativeId', 'MLSNumber', 'URL'])('update and delete find a listing by %s', async (keyType) => {
  const standIn = await started({ profile: { createdIdentifier: 'guid' } })
  const identifier = (await create(standIn)).json.Data
  const key = { NativeId: identifier, MLSNumber: 'A-1', URL: 'https://homes.example/A-1' }[keyType]
  await create(standIn, house('A-2'))
  expect((await update(standIn, key, house('A-1', { City: 'Ogdenville' }), keyType)).json.Data).toBe(1)
  expect(standIn.listings(chatbot).map((row) => row.listing.City)).toEqual(['Ogdenville', undefined])
  expect((await remove(standIn, [key], keyType)).json.Data.SuccessCount).toBe(1)
  expect(await shown(standIn)).toEqual(['A-2'])
})

test.each([
  [{ CityName: 'Springfield' }, ['A-1']],
  [{ SaleType: 'for_rent' }, ['A-2']],
  [{ MLSNumber: 'A-2' }, ['A-2']],
  [{ CityName: 'Springfield', SaleType: 'for_rent' }, []],
  [{ PageNumber: 2, PageSize: 1 }, ['A-2']],
])('list narrowed by %j', async (body, expected) => {
  const standIn = await started({ profile: { order: 'id' } })
  standIn.seed(chatbot, [
    house('A-1', { City: 'Springfield' }),
    house('A-2', { City: 'Shelbyville', SaleType: 'for_rent' }),
  ])
  expect(await shown(standIn, body)).toEqual(expected)
})

test('a page has 20 items unless asked otherwise, and chatbots do not see each other', async () => {
  const standIn = await started()
  standIn.seed(
    chatbot,
    Array.from({ length: 25 }, (_, index) => house(`A-${index}`)),
  )
  standIn.seed('SN-2', [house('B-1')])
  expect(await shown(standIn)).toHaveLength(20)
  expect(await shown(standIn, { PageNumber: 2 })).toHaveLength(5)
  expect(await shown(standIn, { SerialNumber: 'SN-2' })).toEqual(['B-1'])
})

const without = (name: string) => Object.fromEntries(Object.entries(house()).filter(([key]) => key !== name))

const refusals: [operation: string, body: object, message: string][] = [
  ...Object.keys(house()).map((name) => ['Create', without(name), `${name} is required`] as [string, object, string]),
  ['Create', { ...house(), SerialNumber: undefined }, 'SerialNumber is required'],
  ['Create', { ...house(), SerialNumber: '' }, 'SerialNumber must not be empty'],
  ['Create', { ...house(), Bedrooms: '3' }, 'Bedrooms must be a number'],
  ['Create', { ...house(), YearBuilt: null }, 'YearBuilt must be a number'],
  ['Create', { ...house(), SaleType: 'For Sale' }, 'SaleType must be one of for_sale, for_rent'],
  ['Create', { ...house(), Status: 'active' }, 'Status must be one of Active, PreOnMarket, Sold'],
  ['Create', { ...house(), AreaUnit: 'sqft' }, 'AreaUnit must be one of Square Feet, Square Meters'],
  ['Create', { ...house(), Tours: 'Video' }, 'Tours must be one of OpenHouse, 3D'],
  ['Create', { ...house(), SpaceType: 'Flat' }, 'SpaceType must be one of Entire place, Room'],
  ['Create', { ...house(), ZIP: 2134 }, 'ZIP must be a string'],
  ['Create', { ...house(), City: null }, 'City must be a string'],
  ['Create', { ...house(), Latitude: '39.5' }, 'Latitude must be a number'],
  ['Create', { ...house(), Images: 'https://img.example/1.jpg' }, 'Images must be an array of strings'],
  ['Create', { ...house(), Images: [1] }, 'Images must be an array of strings'],
  ['Create', { ...house(), Description: ['a'] }, 'Description must be a string'],
  ['Create', { ...house(), ExtensionColumn: [{ key: 'Pool', value: 'yes' }] }, 'ExtensionColumn must be an array of'],
  ['Create', { ...house(), ExtensionColumn: [{ Key: 'Pool', value: 1 }] }, 'ExtensionColumn must be an array of'],
  ['Create', { ...house(), Price: 1 }, 'Price is not a field of Create'],
  ['Create', { ...house(), LATITUDE: 1 }, 'LATITUDE is not a field of Create'],
  ['Create', { ...house(), Key: 'A-1' }, 'Key is not a field of Create'],
  ['Update', { ...house(), KeyType: 'MLSNumber' }, 'Key is required'],
  ['Update', { ...house(), Key: 'A-1', KeyType: 'MlsNumber' }, 'KeyType must be one of NativeId, MLSNumber, URL'],
  ['Update', { Key: 'A-1', KeyType: 'MLSNumber' }, 'SaleType is required'],
  ['List', { PageSize: '20' }, 'PageSize must be an integer of at least 1'],
  ['List', { PageNumber: 0 }, 'PageNumber must be an integer of at least 1'],
  ['List', { SaleType: 'For Sale' }, 'SaleType must be one of'],
  ['List', { City: 'Springfield' }, 'City is not a field of List'],
  ['Delete', { Keys: 'A-1', KeyType: 'MLSNumber' }, 'Keys must be an array of strings'],
  ['Delete', { Keys: [], KeyType: 'MLSNumber' }, 'Keys must be an array of strings'],
  ['Delete', { Keys: [1], KeyType: 'MLSNumber' }, 'Keys must be an array of strings'],
  ['Delete', { Keys: ['A-1'] }, 'KeyType must be one of'],
]

test.each(refusals)('%s %j is refused', async (operation, body, message) => {
  const standIn = await started()
  standIn.seed(chatbot, [house()])
  const { status, json } = await send(standIn, operation, body)
  expect({ status, ...json }).toMatchObject({ status: 200, Success: false, Code: 400, Data: null })
  expect(json.Message).toContain(message)
  expect(standIn.listings(chatbot)).toHaveLength(1)
})

test('everything wrong with a body is named at once', async () => {
  const standIn = await started()
  const { json } = await create(standIn, { ...house(), Bedrooms: '3', Tours: 'Video', Colour: 'red' })
  expect(json.Message.split('; ')).toHaveLength(3)
})

test.each(['', '{', '[]', 'null', '"text"', '{"SerialNumber":"SN-1"'])('the body %j is refused', async (body) => {
  const standIn = await started()
  expect((await post(standIn, 'List', body)).json).toMatchObject({ Success: false, Code: 400 })
})

test('a name from the prototype is a field like any other unknown one', async () => {
  const standIn = await started()
  const { json } = await post(standIn, 'List', '{"SerialNumber":"SN-1","__proto__":{"a":1},"constructor":1}')
  expect(json.Message).toBe('__proto__ is not a field of List; constructor is not a field of List')
})

test('a body beyond all measure is cut off', async () => {
  const standIn = await started()
  await expect(post(standIn, 'List', ' '.repeat(9 * 1024 * 1024))).rejects.toThrow()
  expect(await shown(standIn)).toEqual([])
})

test('only POST, only the six paths', async () => {
  const standIn = await started()
  expect((await fetch(`${standIn.url}/chat/Chatbot/RealEstateList`)).status).toBe(405)
  expect((await fetch(`${standIn.url}/chat/chatbot/realestatelist`, { method: 'POST' })).status).toBe(404)
})
