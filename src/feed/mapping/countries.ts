/**
 * Currencies by code and by country: ISO 3166 (alpha-2, alpha-3, names in several languages) → ISO 4217 → a symbol. The codes
 * are written here, names and symbols are those of `Intl`.
 */
import { tables, wordKey } from './vocabulary.ts'

/** Currency: its countries, each as alpha-2 and alpha-3. Countries whose prices are quoted in several currencies are left out. */
const countriesOf = `
AED AE ARE; ALL AL ALB; AMD AM ARM; ARS AR ARG; AUD AU AUS,KI KIR,NR NRU,TV TUV,CX CXR,CC CCK,NF NFK; AWG AW ABW; AZN AZ AZE
BAM BA BIH; BBD BB BRB; BDT BD BGD; BHD BH BHR; BMD BM BMU; BND BN BRN; BOB BO BOL; BRL BR BRA; BSD BS BHS; BWP BW BWA
BYN BY BLR; BZD BZ BLZ; CAD CA CAN; CHF CH CHE,LI LIE; CLP CL CHL; CNY CN CHN; COP CO COL; CRC CR CRI; CVE CV CPV; CZK CZ CZE
DKK DK DNK,FO FRO,GL GRL; DOP DO DOM; DZD DZ DZA; EGP EG EGY; ETB ET ETH; FJD FJ FJI; GEL GE GEO; GHS GH GHA; GMD GM GMB
EUR AD AND,AT AUT,AX ALA,BE BEL,BL BLM,CY CYP,DE DEU,EE EST,ES ESP,FI FIN,FR FRA,GF GUF,GP GLP,GR GRC,HR HRV,IE IRL,IT ITA
EUR LT LTU,LU LUX,LV LVA,MC MCO,ME MNE,MF MAF,MQ MTQ,MT MLT,NL NLD,PM SPM,PT PRT,RE REU,SI SVN,SK SVK,SM SMR,VA VAT,XK XKX,YT MYT
GBP GB GBR,GG GGY,IM IMN,JE JEY; GIP GI GIB; GTQ GT GTM; HKD HK HKG; HNL HN HND; HUF HU HUN; IDR ID IDN; ILS IL ISR; INR IN IND
ISK IS ISL; JMD JM JAM; JOD JO JOR; JPY JP JPN; KES KE KEN; KGS KG KGZ; KRW KR KOR; KWD KW KWT; KYD KY CYM; KZT KZ KAZ
LKR LK LKA; MAD MA MAR; MDL MD MDA; MKD MK MKD; MOP MO MAC; MUR MU MUS; MVR MV MDV; MXN MX MEX; MYR MY MYS; NAD NA NAM
NGN NG NGA; NIO NI NIC; NOK NO NOR,SJ SJM; NPR NP NPL; NZD NZ NZL,CK COK,NU NIU,PN PCN,TK TKL; OMR OM OMN; PEN PE PER; PHP PH PHL
PKR PK PAK; PLN PL POL; PYG PY PRY; QAR QA QAT; RSD RS SRB; RUB RU RUS; RWF RW RWA; SAR SA SAU; SCR SC SYC; SEK SE SWE; SGD SG SGP
THB TH THA; TND TN TUN; TRY TR TUR; TTD TT TTO; TWD TW TWN; TZS TZ TZA; UAH UA UKR; UGX UG UGA; UYU UY URY; UZS UZ UZB; VND VN VNM
USD US USA,PR PRI,VI VIR,GU GUM,AS ASM,MP MNP,EC ECU,SV SLV,PW PLW,FM FSM,MH MHL,VG VGB,TC TCA,BQ BES
XAF CM CMR,CF CAF,CG COG,GA GAB,GQ GNQ,TD TCD; XOF BJ BEN,BF BFA,CI CIV,GW GNB,ML MLI,NE NER,SN SEN,TG TGO
XCD AG ATG,DM DMA,GD GRD,KN KNA,LC LCA,VC VCT,AI AIA,MS MSR; XPF NC NCL,PF PYF,WF WLF; ZAR ZA ZAF; ZMW ZM ZMB`

/** Names that `Intl` lacks, or has in another form. */
const otherNames: Readonly<Record<string, string>> = {
  'U.S.': 'US',
  'U.S.A.': 'US',
  'United States of America': 'US',
  UK: 'GB',
  'Great Britain': 'GB',
  England: 'GB',
  Scotland: 'GB',
  Wales: 'GB',
  'Northern Ireland': 'GB',
  UAE: 'AE',
  Holland: 'NL',
  'Czech Republic': 'CZ',
  Turkey: 'TR',
  'Russian Federation': 'RU',
}

const namesIn = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'nl',
  'pl',
  'ru',
  'sv',
  'da',
  'nb',
  'fi',
  'cs',
  'hu',
  'el',
  'tr',
  'uk',
]

/** The states of the US and the provinces of Canada, as `State Or Province` has them; code and name. */
const states: Readonly<Record<'USD' | 'CAD', string>> = {
  USD:
    'AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,DE Delaware,DC District of Columbia,' +
    'FL Florida,GA Georgia,HI Hawaii,ID Idaho,IL Illinois,IN Indiana,IA Iowa,KS Kansas,KY Kentucky,LA Louisiana,ME Maine,' +
    'MD Maryland,MA Massachusetts,MI Michigan,MN Minnesota,MS Mississippi,MO Missouri,MT Montana,NE Nebraska,NV Nevada,' +
    'NH New Hampshire,NJ New Jersey,NM New Mexico,NY New York,NC North Carolina,ND North Dakota,OH Ohio,OK Oklahoma,OR Oregon,' +
    'PA Pennsylvania,RI Rhode Island,SC South Carolina,SD South Dakota,TN Tennessee,TX Texas,UT Utah,VT Vermont,VA Virginia,' +
    'WA Washington,WV West Virginia,WI Wisconsin,WY Wyoming,PR Puerto Rico',
  CAD:
    'AB Alberta,BC British Columbia,MB Manitoba,NB New Brunswick,NL Newfoundland and Labrador,NS Nova Scotia,' +
    'NT Northwest Territories,NU Nunavut,ON Ontario,PE Prince Edward Island,QC Quebec,QC Québec,SK Saskatchewan,YT Yukon',
}

/** Made when first needed, as few feeds need it. */
let byCountry: Map<string, string> | null = null
let byState: Map<string, string> | null = null

function countries(): Map<string, string> {
  const found = new Map<string, string>()
  const named = namesIn.map((language) => new Intl.DisplayNames(language, { type: 'region', fallback: 'none' }))
  for (const group of countriesOf.trim().split(/; |\n/)) {
    const [currency, ...codes] = group.split(' ')
    for (const pair of codes.join(' ').split(',')) {
      const [alpha2, alpha3] = pair.split(' ')
      for (const word of [alpha2, alpha3, ...named.map((names) => names.of(alpha2) ?? '')])
        if (word !== '' && !found.has(wordKey(word))) found.set(wordKey(word), currency)
    }
  }
  for (const [name, code] of Object.entries(otherNames)) found.set(wordKey(name), found.get(wordKey(code)) ?? '')
  return found
}

function statesOfBoth(): Map<string, string> {
  const found = new Map<string, string>()
  for (const [currency, list] of Object.entries(states))
    for (const state of list.split(',')) {
      const [code, country] = [state.slice(0, 2), currency.slice(0, 2)]
      // ISO 3166-2 has the country before it: US-CA, CA-ON.
      for (const word of [code, state.slice(3), country + code]) found.set(wordKey(word), currency)
    }
  return found
}

/** The currency (ISO 4217) of a country by its code or name; undefined: no such country. */
export function currencyOfCountry(country: string): string | undefined {
  return (byCountry ??= countries()).get(wordKey(country))
}

/** The currency of a state of the US or a province of Canada, by its code or name; undefined: it is neither. */
export function currencyOfState(state: string): string | undefined {
  return (byState ??= statesOfBoth()).get(wordKey(state))
}

let known: ReadonlySet<string> | undefined

/**
 * The symbol of a currency (ISO 4217): the vocabulary's, else that of `Intl`, else the code itself, as if only its own country writes a
 * bare `$`. undefined: there is no such currency.
 */
export function symbolOfCurrency(code: string): string | undefined {
  const upper = code.toUpperCase()
  const usual = tables.currencySymbols().get(wordKey(code))
  if (usual !== undefined) return usual
  known ??= new Set(Intl.supportedValuesOf('currency'))
  if (!known.has(upper)) return undefined
  const shown = (currencyDisplay: 'symbol' | 'narrowSymbol'): string =>
    new Intl.NumberFormat('en', { style: 'currency', currency: upper, currencyDisplay })
      .formatToParts(1)
      .find(({ type }) => type === 'currency')?.value ?? upper
  const symbol = shown('symbol')
  if (symbol !== upper) return symbol
  const narrow = shown('narrowSymbol')
  return /^\p{Sc}$/u.test(narrow) && !['$', '£', '¥'].includes(narrow) ? narrow : upper
}

let symbols: ReadonlySet<string> | undefined

/** Whether a text is a symbol of the vocabulary, as it is written there. */
export function isCurrencySymbol(text: string): boolean {
  return (symbols ??= new Set(tables.currencySymbols().values())).has(text)
}
