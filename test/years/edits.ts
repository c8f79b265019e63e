/** What is done to single listings, by offices that change them all and by feeds that get them all wrong. */
import type { Listing } from '../../src/core/listing.ts'
import { unit } from './chance.ts'
import type { How } from './world.ts'

/** `seed`: the same edit of the same listing is the same each night. Gives another object, or the same one where nothing changes. */
type Edit = (listing: Listing, how: How, seed: number) => Listing

const feetInMetre = 10.7639

const scaled = (listing: Listing, factor: (price: number) => number): Listing => ({
  ...listing,
  ...(listing.SalePrice !== undefined && { SalePrice: factor(listing.SalePrice) }),
  ...(listing.RentPrice !== undefined && { RentPrice: factor(listing.RentPrice) }),
})

const metric = (area: number): number => Math.round(area / feetInMetre)

export const edits: Readonly<Record<string, Edit>> = {
  footer: (listing, _, seed) =>
    listing.Description === undefined
      ? listing
      : { ...listing, Description: `${listing.Description.split('\n')[0]}\nCall us any time, line ${seed % 1000}.` },
  reword: (listing, _, seed) => ({ ...listing, Description: reworded(listing, seed) }),
  photoHost: (listing, _, seed) => ({
    ...listing,
    ...(listing.Images && {
      Images: listing.Images.map((image) => image.replace(/\/\/[^/]+/, `//cdn${seed % 997}.example`)),
    }),
  }),
  round: (listing) => scaled(listing, (price) => Math.round(price / 50) * 50),
  index: (listing, _, seed) => scaled(listing, (price) => Math.round(price * (1.01 + 0.04 * unit(seed)))),
  cut: (listing, _, seed) =>
    scaled(listing, (price) => Math.round(price * (0.85 + 0.1 * unit(seed, listing.MLSNumber)))),
  roundAreas: (listing) => ({
    ...listing,
    BuildingArea: Math.round(listing.BuildingArea / 10) * 10,
    LotArea: Math.round(listing.LotArea / 100) * 100,
  }),
  geocode(listing, { metres = 500 }, seed) {
    const { Latitude, Longitude, MLSNumber } = listing
    if (Latitude === undefined || Longitude === undefined) return listing
    const degrees = (metres / 111_200) * 0.7
    const moved = (at: number, name: string) =>
      Number((at + degrees * (2 * unit(seed, MLSNumber, name) - 1)).toFixed(6))
    return { ...listing, Latitude: moved(Latitude, 'north'), Longitude: moved(Longitude, 'east') }
  },
  days: (listing, _, seed) => ({ ...listing, DaysOnMarket: listing.DaysOnMarket + 1 + (seed % 30) }),
  openHouse: (listing) => ({ ...listing, Tours: 'OpenHouse' }),
  metric: (listing) =>
    listing.AreaUnit === 'Square Meters'
      ? listing
      : {
          ...listing,
          AreaUnit: 'Square Meters',
          BuildingArea: metric(listing.BuildingArea),
          LotArea: metric(listing.LotArea),
        },
  euro: (listing) =>
    listing.CurrencySymbol === '€'
      ? listing
      : { ...scaled(listing, (price) => Math.round(price * 0.9)), CurrencySymbol: '€' },
  types: (listing) => ({ ...listing, PropertyType: `${listing.PropertyType} home` }),
  set: (listing, { fields }) => ({ ...listing, ...(fields as Partial<Listing>) }),
  clear: (listing, { fields }) => ({
    ...listing,
    ...Object.fromEntries((fields as string[]).map((field) => [field, undefined])),
  }),
  times: (listing, { by = 1 }) => scaled(listing, (price) => Math.round(price * by)),
  priceOne: (listing) => scaled(listing, () => 1),
  areas: (listing, { by = 1 }) => ({
    ...listing,
    BuildingArea: Math.round(listing.BuildingArea * by),
    LotArea: Math.round(listing.LotArea * by),
  }),
  rent: (listing) => ({
    ...listing,
    SaleType: listing.SaleType === 'for_sale' ? 'for_rent' : 'for_sale',
    SalePrice: listing.RentPrice,
    RentPrice: listing.SalePrice,
  }),
  swapPosition: (listing) => ({ ...listing, Latitude: listing.Longitude, Longitude: listing.Latitude }),
  shiftFields: (listing) => ({
    ...listing,
    Bedrooms: listing.Bathrooms,
    Bathrooms: listing.YearBuilt,
    YearBuilt: listing.BuildingArea,
    BuildingArea: listing.LotArea,
    LotArea: listing.Bedrooms,
  }),
  garble: (listing) => ({
    ...listing,
    ...(listing.Description && { Description: listing.Description.replaceAll(/[aeo]/g, '\u00C3\u00A9') }),
  }),
}

const words = ['bright', 'quiet', 'spacious', 'charming', 'sunny', 'modern', 'cosy', 'elegant']

export function reworded({ Description, MLSNumber }: Listing, seed: number): string {
  const word = words[Math.floor(unit(seed, MLSNumber) * words.length)]
  const [text, ...footer] = (Description ?? 'A home.').split('\n')
  return [`A ${word} home. ${text.replace(/^A \w+ home\. /, '')}`, ...footer].join('\n')
}

export function edited(listing: Listing, how: How, seed: number): Listing {
  const edit = edits[how.edit ?? '']
  if (edit === undefined) throw new Error(`the world names an edit ${how.edit} that edits.ts lacks`)
  return edit(listing, how, seed)
}
