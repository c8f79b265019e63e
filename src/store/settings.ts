/** What was applied of a chatbot's settings, and the feed's figures that their texts may use. */
import type Database from 'better-sqlite3'
import type { FeedFigures } from '../core/figures.ts'
import type { SettingValue, Store, StoreReader } from './store.ts'

interface Group {
  saleType: string
  currency: string
  listings: number
  least: number
}

/** `city` is compared as feeds spell it, but for letter case and blanks around it. */
const onOffer = `FROM listing JOIN payload USING (id)
  WHERE chatbot = @chatbot AND feed = @feed AND owned = 1 AND payload.listing IS NOT NULL
    AND json_extract(payload.listing, '$.Status') <> 'Sold'`

export function createSettingsReader(database: Database.Database): Pick<StoreReader, 'appliedSettings' | 'figures'> {
  const applied = database.prepare<[string], { name: string; value: string }>(
    'SELECT name, value FROM setting WHERE chatbot = ? ORDER BY name',
  )
  const counts = database.prepare<[{ chatbot: string; feed: string }], { listings: number; cities: number }>(
    `SELECT count(*) AS listings,
      count(DISTINCT nullif(lower(trim(json_extract(payload.listing, '$.City'))), '')) AS cities ${onOffer}`,
  )
  const prices = database.prepare<[{ chatbot: string; feed: string }], Group>(
    `SELECT saleType, currency, count(*) AS listings, min(price) AS least FROM (
      SELECT json_extract(payload.listing, '$.SaleType') AS saleType,
        json_extract(payload.listing, '$.CurrencySymbol') AS currency,
        CASE json_extract(payload.listing, '$.SaleType')
          WHEN 'for_sale' THEN json_extract(payload.listing, '$.SalePrice')
          ELSE json_extract(payload.listing, '$.RentPrice') END AS price ${onOffer})
    WHERE price > 0 GROUP BY saleType, currency`,
  )
  return {
    appliedSettings: (chatbot) =>
      new Map(applied.all(chatbot).map(({ name, value }) => [name, JSON.parse(value) as SettingValue])),
    figures: (chatbot, feed) => ({ ...counts.get({ chatbot, feed })!, minPrice: least(prices.all({ chatbot, feed })) }),
  }
}

/** Homes for sale come before rentals, and among currencies, which can't be compared, the one of most listings. */
function least(groups: Group[]): FeedFigures['minPrice'] {
  const [first] = groups.sort(
    (a, b) =>
      Number(b.saleType === 'for_sale') - Number(a.saleType === 'for_sale') ||
      b.listings - a.listings ||
      (a.currency < b.currency ? -1 : 1),
  )
  return first === undefined ? null : { amount: first.least, currency: first.currency }
}

export function createSettingsWriter(database: Database.Database): Pick<Store, 'rememberSettings' | 'forgetSettings'> {
  const remember = database.prepare('INSERT OR REPLACE INTO setting (chatbot, name, value, at) VALUES (?, ?, ?, ?)')
  const forget = database.prepare('DELETE FROM setting WHERE chatbot = ? AND name = ?')
  return {
    rememberSettings(chatbot, settings, now) {
      for (const [name, value] of settings) remember.run(chatbot, name, JSON.stringify(value), now)
    },
    forgetSettings(chatbot, names) {
      for (const name of names) forget.run(chatbot, name)
    },
  }
}
