/** Status words of a few languages in answers; others are not understood. */
import type { Listing } from '../core/listing.ts'
import { onOneLine } from './answer-text.ts'

type Status = Listing['Status']
type SaleType = Listing['SaleType']

const words = (pattern: string): RegExp => new RegExp(`(?<!\\p{L})(?:${onOneLine(pattern)})(?!\\p{L})`, 'giu')

/** In this order: text that matched a phrase is removed for later ones. */
const phrases: [RegExp, Status | 'Gone' | null][] = [
  [
    words(
      'not (?:yet |been |yet been |currently )?sold|unsold|sold (?:as[ -]is|furnished|by owner|separately|with)|best available',
    ),
    null,
  ],
  [
    words(
      'pre-? ?on-? ?market|pre-? ?market|coming soon|not yet (?:on the market|available|listed)|demnächst|prochainement|próximamente|em breve|prossimamente|скоро в продаже',
    ),
    'PreOnMarket',
  ],
  [
    words(
      `no longer (?:active|available|listed|on the market|for sale|for rent)|not (?:currently |longer )?(?:active|available|listed|on the market|for sale|for rent)|isn't (?:available|listed|for sale|for rent|on the market)
      |unavailable|off the market|(?:removed|taken|pulled) from the market|delisted|off-market|withdrawn|nicht mehr (?:verfügbar|zu haben)|n'est plus disponible|ya no está disponible|no está disponible|não está (?:mais )?disponível|non è più disponibile|niet meer beschikbaar`,
    ),
    'Gone',
  ],
  [
    words(
      `(?:do not|don't|does not|doesn't|did not|didn't|could not|couldn't|cannot|can't|was not able to|wasn't able to|unable to) (?:currently |seem to |actually )?(?:have|find|locate|see|show|match|recognize)|(?:have|has|found|find|is|there are|there's|matches) no (?:listing|home|property|information|record|details|such)
      |not found|no (?:matching )?(?:listing|property|home|record)s?|not in (?:our|my) (?:listings|database|records)|nicht gefunden|keine? (?:immobilie|anzeige|informationen)|pas trouvé|no encuentro|no encontré|não encontrei|non ho trovato|не найден\\p{L}*`,
    ),
    'Gone',
  ],
  [
    words(
      'sold|under contract|sale (?:has )?closed|verkauft|vendue?|vendid[oa]|vendut[oa]|verkocht|продан[аоы]?|sprzedan[aeoy]|såld|rented out|already rented|vermietet|alquilad[oa]|alugad[oa]',
    ),
    'Sold',
  ],
  [
    words(
      'active|available|on the market|actively listed|verfügbar|disponible|disponível|disponibile|beschikbaar|доступн\\p{L}*|aktiv',
    ),
    'Active',
  ],
]

const saleTypes: [RegExp, SaleType][] = [
  [
    words(
      'for rent|to rent|for lease|to let|zu vermieten|zur miete|à louer|en alquiler|para alugar|in affitto|te huur|в аренду|do wynajęcia|uthyres',
    ),
    'for_rent',
  ],
  [
    words(
      'for sale|zu verkaufen|zum verkauf|à vendre|en venta|à venda|in vendita|te koop|на продажу|na sprzedaż|till salu',
    ),
    'for_sale',
  ],
]

export interface SaidStatus {
  /** `Gone`: no longer offered, or not known to the chatbot. */
  statuses: Set<Status | 'Gone'>
  saleTypes: Set<SaleType>
}

export function statusIn(text: string): SaidStatus {
  let rest = text.replaceAll(/[’´]/g, "'")
  const statuses = new Set<Status | 'Gone'>()
  for (const [pattern, status] of phrases)
    rest = rest.replaceAll(pattern, () => {
      if (status !== null) statuses.add(status)
      return ' ; '
    })
  const found = saleTypes.flatMap(([pattern, saleType]) => (rest.search(pattern) < 0 ? [] : [saleType]))
  // "Status: Sold" decides, whatever else is said.
  const stated = [...text.matchAll(/\bstatus(?: is| of|:)? *(?:is |: *)?"?(active|pre-? ?on-? ?market|sold)\b/giu)]
  const decided = stated.map(([, word]): Status =>
    /^active/i.test(word) ? 'Active' : /^sold/i.test(word) ? 'Sold' : 'PreOnMarket',
  )
  return { statuses: decided.length > 0 ? new Set(decided) : statuses, saleTypes: new Set(found) }
}
