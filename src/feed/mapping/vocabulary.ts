/**
 * Words of many feeds and their meaning, compared by `wordKey`, so that `Single Family Residence`,
 * `SINGLE_FAMILY_RESIDENCE` and `single-family residence` are one word.
 */
const plainWord = /^[a-z\d]*$/

/** Remembered, as feeds have few words and repeat them in every record. */
const keysOfWords = new Map<string, string>()
const [mostWords, longestWord] = [2000, 60]

/** The form in which two words are compared: case folded, letters and digits only. */
export function wordKey(text: string): string {
  const folded = text.toLowerCase()
  if (plainWord.test(folded)) return folded
  const known = folded.length > longestWord ? undefined : keysOfWords.get(folded)
  if (known !== undefined) return known
  const key = folded.replaceAll(/[^\p{L}\p{N}]{1,1000}/gu, '')
  if (folded.length > longestWord) return key
  if (keysOfWords.size >= mostWords) keysOfWords.clear()
  keysOfWords.set(folded, key)
  return key
}

/** Words by `wordKey`, made when they are first asked for. */
function table<Target>(words: readonly (readonly [Target, string])[]): () => ReadonlyMap<string, Target> {
  let made: Map<string, Target> | undefined
  return () =>
    (made ??= new Map(
      words.flatMap(([target, list]) => list.split(',').map((word) => [wordKey(word), target] as const)),
    ))
}

/** Texts that mean absent, compared without case only: `NA` may be a word, `N/A` is not. */
const missingTexts: ReadonlySet<string> = new Set(
  'n/a,n.a.,null,none,nan,not specified,non précisé,keine_angabe,endereço não informado'.split(','),
)

/** How all of these begin: a quick test, as every value is checked. */
const beginsMissing = /^[-–—nke]/i

/** Whether a trimmed text means absent: empty, dashes, `N/A`, `null` … */
export function saysNothing(text: string): boolean {
  if (text.length === 0) return true
  if (text.length > 22 || !beginsMissing.test(text)) return false
  return /^[-–—]+$/.test(text) || missingTexts.has(text.toLowerCase())
}

const noPublicPrice = table<true>(
  [
    'poa,price on application,price on request,on request,on application,contact agent,call for price',
    'auf Anfrage,Preis auf Anfrage,op aanvraag,prijs op aanvraag,prix sur demande,sur demande,nous consulter',
    'consulte,sob consulta,a consultar,consultar,consultar precio,precio a consultar,su richiesta,trattativa riservata',
    'по запросу,договорная',
  ].map((words) => [true, words]),
)

/** Whether a text in place of a price means that it is not shown. */
export function hidesPrice(text: string): boolean {
  // None of them begins with a digit, as nearly every price does.
  return !(text >= '0' && text < ':') && noPublicPrice().has(wordKey(text))
}

const booleans = new Map<string, boolean>([
  ...'true,1,1.0,yes,y,si,sí,oui,ja,j,sim,да,tak,t,+,on,x'.split(',').map((word) => [word, true] as const),
  ...'false,0,0.0,no,n,non,nein,não,нет,nie,f,-,off'.split(',').map((word) => [word, false] as const),
])

/** Reads a yes or no in many languages; null: neither. */
export function readBoolean(text: string): boolean | null {
  return booleans.get(text.trim().toLowerCase()) ?? null
}

/** Square feet per unit. */
export const squareFeetIn = table<number>([
  [1, 'sqft,sq ft,sf,ft²,ft2,feet,square feet,square foot,square foots,squarefoot,ftk'],
  [1 / 0.09290304, 'sqm,sq m,m²,m2,mq,qm,square meter,square meters,square metre,square metres,кв.м,meters,mtk'],
  [43_560, 'acre,acres,ac'],
  [10_000 / 0.09290304, 'hectare,hectares,ha,га'],
  [100 / 0.09290304, 'are,ar,сот,сотка,соток'],
  [9, 'square yard,square yards,sqyd,sq yd,yd²,gaj'],
  [0.0001 / 0.09290304, 'square centimeter,square centimetre'],
  [100, 'square'],
  [3.305785 / 0.09290304, 'tsubo,ping,pyeong'],
])

/** Square feet per AreaUnit. */
export const squareFeetInAreaUnit = { 'Square Feet': 1, 'Square Meters': 1 / 0.09290304 } as const

/** Factors from an amount per period to one per month; null: not a repeated payment. */
export const monthlyFactors = table<number | null>([
  [365 / 12, 'day,daily,per day,night,per night,tag,день,сутки'],
  [52 / 12, 'week,weekly,pw,woche,per week,неделя'],
  [26 / 12, 'biweekly'],
  [2, 'semi-monthly'],
  [1, 'month,monthly,mensuel,monat,pcm,per month,месяц'],
  [1 / 2, 'bi-monthly'],
  [1 / 3, 'quarter,quarterly,квартал'],
  [1 / 6, 'semi-annually,semiannual'],
  [1 / 12, 'year,yearly,annual,annually,jahr,per year,per annum,год'],
  [null, 'one time,seasonal'],
])

/** The values of PropertyType. Duplex is the two-unit building of US feeds; some presets differ. */
const propertyTypes = table<string>([
  ['Single Family', 'single family,single family residence,single family home,single family residential'],
  ['Single Family', 'single family detached,house,haus,einfamilienhaus,maison,maison/villa,villa,finca,bungalow'],
  ['Single Family', 'country house,home,casa,дом,domy,chalet,cabin,residential,vh,bw'],
  ['Condo', 'condo,condos,condominium,condo/co-op,co-ownership,stock cooperative'],
  ['Condo', 'own your own,tenancy in common,timeshare'],
  ['Townhouse', 'townhouse,townhomes,townhome,town house,terrace,reihenhaus,reihenend,reihenmittel,doppelhaushaelfte'],
  ['Townhouse', 'duplexsemi-detached,semi-detached,single family attached,th'],
  ['Multi Family', 'multi family,multi-family (2-4 unit),multi-family (5+ unit),duplex,triplex,quadruplex,bu,wb'],
  [
    'Multi Family',
    'residential income,multi residential,blockofunits,zinshaus_renditeobjekt,mehrfamilienhaus,immeuble',
  ],
  ['Apartment', 'apartment,flat,unit,studio,penthouse,loft,servicedapartment,wohnung,appartement,apartamento'],
  ['Apartment', 'kitchenette/conjugados,flat/aparthotel,квартира,mieszkania,комната,pokoje,zimmer'],
  ['Apartment', 'private room,shared room,ap,ph,dx,ha,large'],
  ['Manufactured', 'manufactured,manufactured home,manufactured on land,manufactured in park,mobile home,mobile'],
  ['Manufactured', 'mobile/manufactured,mobile home park,park home'],
  ['Land', 'land,vacant land,lot/land,lots and land,unimproved land,plot,terrain,terreno,loteamento/condomínio'],
  ['Land', 'участок,dzialki,grundstueck,prop,lp'],
  ['Farm', 'farm,agriculture,farm and agriculture,ranch,rural,vineyard,chácara,land_und_forstwirtschaft,agri,fm'],
  ['Commercial', 'commercial,commercial sale,commercial lease,commercial property,business,business opportunity'],
  ['Commercial', 'retail,industrial,warehouse,hotel/motel,mixed use,local,bureaux,boutique,comercial/industrial'],
  ['Commercial', 'conjunto comercial/sala,lokale,buero_praxen,einzelhandel,gastgewerbe,hallen_lager_prod'],
  ['Commercial', 'office,of,re,sh,sr,wh,fa,indus,gastro'],
  ['Parking', 'parking,deeded parking,boat slip,parking/box,parken,park,garage,garages'],
  ['Other', 'other'],
])

/** Words for SaleType; other spellings are in the presets. */
const saleTypes = table<string>([
  ['for_sale', 'for_sale,sale,sell,buy,purchase,venta,vente,kauf,verkauf,vendita,venda,koop,te koop'],
  ['for_sale', 'продажа,продам,sprzedaż,sprzedaz,satılık,للبيع'],
  ['for_rent', 'for_rent,rent,rental,let,lease,to let,alquiler,location,miete,affitto,aluguel,locação,huur,te huur'],
  ['for_rent', 'аренда,сдам,wynajem,kiralık,للإيجار'],
])

const spaceTypes = table<string>([
  ['Entire place', 'entire place,entire home/apt,entire home'],
  ['Room', 'room,private room,shared room,hotel room,roommate,zimmer,wg,комната,pokoje'],
  ['Room', 'house share,flat share,house_room'],
])

/** Symbols by ISO code; other currencies use their code. */
const currencySymbols = table<string>(
  [
    '$ usd,ars,clp,cop,uyu,$; CA$ cad; A$ aud; NZ$ nzd; MX$ mxn; HK$ hkd; S$ sgd; NT$ twd; R$ brl; RD$ dop; J$ jmd',
    '€ eur; £ gbp; E£ egp; kr sek,nok,dkk,isk; ₽ rub,rur; ₴ uah; ₸ kzt; ₺ try; zł pln; Kč czk; Ft huf; lei ron; лв bgn',
    '₪ ils; R zar; ₦ ngn; KSh kes; GH₵ ghs; ₹ inr; Rs pkr,lkr,npr; ৳ bdt; ฿ thb; ₫ vnd; Rp idr; RM myr; ₱ php',
    '¥ cny,jpy; ₩ krw; S/ pen; ₡ crc; ₾ gel; CHF chf; AED aed; SAR sar; QAR qar; KWD kwd; BHD bhd; OMR omr; MAD mad',
  ].flatMap((line) => line.split('; ').map((pair) => pair.split(' ') as [symbol: string, codes: string])),
)

/** AreaUnit by the unit of an area: the one of the same system. */
const areaUnits = table<string>([
  ['Square Feet', 'sqft,sq ft,sf,ft²,ft2,feet,square feet,square foot,ftk,acre,acres,ac'],
  ['Square Meters', 'sqm,sq m,m²,m2,mq,qm,square meter,square metre,square metres,meters,mtk,hectare,hectares,ha'],
  ['Square Meters', 'кв.м,га,are,ar,сот,сотка'],
])

/** The tables that a preset may name with `table`. */
export const tables = { propertyTypes, saleTypes, spaceTypes, areaUnits, currencySymbols }
export const tableNames = Object.keys(tables) as (keyof typeof tables)[]

const tourHosts =
  /matterport|tourfactory|previsite|kuula\.co|cloudpano|iguide|youriguide|view360|zillow\.com\/view-3d-home|zillow\.com\/view-imx/i

/** Whether an address is that of a walk-through tour, not a video. */
export function is3dTour(url: string): boolean {
  return tourHosts.test(url) && !/youtube\.|youtu\.be|vimeo\./i.test(url)
}
