import type { FieldRule } from '../../../core/listing.ts'
import { area } from './area.ts'
import { choice, status } from './choice.ts'
import type { Converter } from './converter.ts'
import { currency } from './currency.ts'
import { daysSince } from './date.ts'
import { images } from './images.ts'
import { money, number, sum } from './number.ts'
import { street } from './street.ts'
import { codedText, flags, html, join, key, text, textAfter, url } from './text.ts'
import { tours } from './tours.ts'

/** Every converter by its name in `as`. To add one, write its file and its line here. */
export const converters: Record<string, Converter> = {
  text,
  html,
  codedText,
  textAfter,
  join,
  key,
  url,
  number,
  sum,
  money,
  area,
  daysSince,
  choice,
  currency,
  status,
  street,
  images,
  tours,
  flags,
}

const byField: Partial<Record<FieldRule['name'], string>> = {
  MLSNumber: 'key',
  Status: 'status',
  Url: 'url',
  Description: 'html',
  Address: 'street',
  PropertyType: 'choice',
  SalePrice: 'money',
  RentPrice: 'money',
  EstimatePrice: 'money',
  UnitAreaPrice: 'money',
  HOAMonth: 'money',
  DepositFee: 'money',
}

/** The converter of a rule without `as`. */
export function usualConverter(field: FieldRule | null): string {
  if (field === null) return 'text'
  if (field.choices && field.name !== 'Status') return 'choice'
  const usual = byField[field.name]
  if (usual) return usual
  return field.type === 'number' ? 'number' : field.type === 'images' ? 'images' : 'text'
}
