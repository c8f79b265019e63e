import { onTestFinished } from 'vitest'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import { startStandIn } from '../../src/stand-in/stand-in.ts'
import type { StandIn, StandInOptions } from '../../src/stand-in/stand-in.ts'

export const chatbot = 'SN-1'

/** The answer; `json` is undefined for other bodies. */
export interface Answered {
  status: number
  headers: Headers
  text: string
  json: { Data: any; Version: string; Success: boolean; Code: number; Message: string }
}

/** A stand-in that is closed when the test ends. */
export async function started(options: StandInOptions = {}): Promise<StandIn> {
  const standIn = await startStandIn(options)
  onTestFinished(() => standIn.close())
  return standIn
}

/** A body for an invented house that every profile accepts. */
export function house(mlsNumber = 'A-1', patch: Record<string, unknown> = {}): StandInListing {
  return {
    SaleType: 'for_sale',
    Status: 'Active',
    CurrencySymbol: '$',
    PropertyType: 'House',
    Bedrooms: 3,
    Bathrooms: 2.5,
    Url: `https://homes.example/${mlsNumber}`,
    MLSNumber: mlsNumber,
    YearBuilt: 1987,
    DaysOnMarket: 12,
    LotArea: 6000,
    BuildingArea: 1800,
    AreaUnit: 'Square Feet',
    ParkingSpots: 2,
    ...patch,
  }
}

type Body = Record<string, unknown>

const headers = { 'content-type': 'application/json', authorization: 'secret' }

const paths: Record<string, string> = { Edit: 'Chatbot/Edit', ClientAsk: 'Chat/ClientAsk' }

/** POSTs a body as it is to one operation's path. */
export async function post(
  standIn: StandIn,
  operation: string,
  body: string,
  sent: Record<string, string> = headers,
): Promise<Answered> {
  const url = `${standIn.url}/chat/${paths[operation] ?? `Chatbot/RealEstate${operation}`}`
  const response = await fetch(url, { method: 'POST', headers: sent, body: Buffer.from(body), redirect: 'manual' })
  const text = await response.text()
  const json: Answered['json'] = text.startsWith('{') && text.endsWith('}') ? JSON.parse(text) : undefined
  return { status: response.status, headers: response.headers, text, json }
}

export const send = (standIn: StandIn, operation: string, body: object, sent: Record<string, string> = headers) =>
  post(standIn, operation, JSON.stringify({ SerialNumber: chatbot, ...body }), sent)
export const create = (standIn: StandIn, body: object = house()) => send(standIn, 'Create', body)
export const update = (standIn: StandIn, key: string, body: Body | StandInListing, keyType = 'MLSNumber') =>
  send(standIn, 'Update', { ...body, Key: key, KeyType: keyType })
export const remove = (standIn: StandIn, keys: string[], keyType = 'MLSNumber') =>
  send(standIn, 'Delete', { Keys: keys, KeyType: keyType })
export const list = (standIn: StandIn, body: Body = {}) => send(standIn, 'List', body)

export const edit = (standIn: StandIn, body: object, sent?: Record<string, string>) =>
  post(standIn, 'Edit', JSON.stringify({ serialNumber: chatbot, ...body }), sent)
export const ask = (standIn: StandIn, content: string, body: object = {}, sent?: Record<string, string>) =>
  post(standIn, 'ClientAsk', JSON.stringify({ sessionID: 7, content, ...body }), sent)

/** MLSNumbers of one page, as shown. */
export async function shown(standIn: StandIn, body: Body = {}): Promise<string[]> {
  const answered = await list(standIn, body)
  return answered.json.Data.List.map((item: { MLSNumber: string }) => item.MLSNumber)
}

/** The first item of List. */
export async function item(standIn: StandIn): Promise<Record<string, unknown>> {
  return (await list(standIn)).json.Data.List[0]
}
