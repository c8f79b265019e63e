/** A live source as the configuration of a feed writes it. */
import { z } from 'zod'
import { headerValue, later, positiveDuration, text } from '../../core/setting-kinds.ts'
import type { Located } from '../../core/schema-words.ts'
import { anyOf } from '../../core/schema-words.ts'
import { isLoopback } from '../../core/loopback.ts'
import { vendors, vendorOf } from './vendors.ts'
import type { VendorName } from './vendors.ts'

const address = (description: string) =>
  text(description).superRefine((value, context) => {
    const message = addressProblem(value)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })

/** What is wrong with an address that credentials are sent to; null: nothing. Does not quote the address. */
function addressProblem(value: string): string | null {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'is not an https address'
  if (url.username !== '' || url.password !== '') return 'has a user or a password; write credentials under auth'
  if (url.search !== '' || url.hash !== '') return 'has a query; what to ask for stands under filter, select and expand'
  if (url.protocol === 'http:' && !isLoopback(value))
    return 'is http, which only this machine may be asked by; use https'
  return null
}

const names = Object.keys(vendors) as [VendorName, ...VendorName[]]
const fieldNames = (description: string) =>
  z
    .array(z.string().regex(/^[A-Za-z_]\w*$/, 'is not the name of a field'))
    .min(1)
    .optional()
    .meta({ description })

export const resoSchema = later(() =>
  z.strictObject({
    reso: address('Root of a RESO Web API, such as https://api.cotality.com/trestle/odata: Property is below it'),
    vendor: z
      .enum(names)
      .meta({ description: 'Whose API it is: each has rules of its own. generic: the bare standard' }),
    auth: z
      .strictObject({
        token: headerValue.min(1).optional().describe('A token that does not change'),
        clientId: text('Client credentials: the ID').optional(),
        clientSecret: text('Client credentials: the secret').optional(),
        tokenUrl: address('Where client credentials become a token').optional(),
        scope: text('Scope to ask the token for').optional(),
      })
      .meta({ description: 'token, or clientId with clientSecret' }),
    filter: text("Which records the source is about, as OData: OriginatingSystemName eq 'maris'").optional(),
    select: fieldNames('Fields to ask for; default: all'),
    expand: fieldNames('Resources to have in each record, such as Media'),
    keys: positiveDuration('How often all keys are walked. Only such a walk tells what is gone').prefault('1d'),
  }),
)
/** The settings of a live source. Times in milliseconds. */
export type ResoSettings = z.output<typeof resoSchema>

/** The secrets in a live source as written; any part may have a wrong type. */
export function resoSecrets(source: unknown): { name: string; value: string }[] {
  const auth = mapping(mapping(source).auth)
  return ['token', 'clientSecret'].flatMap((name) => {
    const value = auth[name]
    return typeof value === 'string' && value !== '' ? { name, value } : []
  })
}

const mapping = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {}

/** What does not fit together in a live source, with paths from it on. */
export function resoProblems({ reso, vendor: name, auth, filter = '', expand = [] }: ResoSettings): Located[] {
  const vendor = vendorOf(name)
  const problems: Located[] = []
  const at = (path: string[], problem: string): void => void problems.push({ path, problem })
  const host = URL.parse(reso)?.hostname ?? ''
  const owner = names.find((other) => vendorOf(other).hosts.includes(host))
  if (owner !== undefined && owner !== name)
    at(['vendor'], `${host} is ${vendorOf(owner).title}: write vendor: ${owner}`)
  const client = auth.clientId !== undefined || auth.clientSecret !== undefined
  if (auth.token !== undefined && client) at(['auth'], 'has a token and client credentials; give one of the two')
  else if (auth.token === undefined && (auth.clientId === undefined || auth.clientSecret === undefined))
    at(['auth'], 'needs a token, or a clientId and a clientSecret')
  // A secret may go to the vendor's own host, or to the host that is written.
  if (client && auth.tokenUrl === undefined && !(vendor.token?.url && vendor.hosts.includes(host)))
    at(['auth', 'tokenUrl'], 'is missing: client credentials become a token there')
  if (!client) {
    for (const key of ['tokenUrl', 'scope'] as const)
      if (auth[key] !== undefined) at(['auth', key], 'goes with a clientId')
  }
  if (vendor.noPictures !== null && expand.includes('Media'))
    at(['expand'], `${vendor.title} can't be asked for Media to show: ${vendor.noPictures}; leave Media out`)
  const used = fieldsOf(filter)
  if (vendor.fixes !== null && !new RegExp(String.raw`\b${vendor.fixes}\s+eq\s+'`).test(filter))
    at(
      ['filter'],
      `${vendor.title} answers only about one ${vendor.fixes}: begin with ${vendor.fixes} eq '…', in lower case`,
    )
  const mixed =
    vendor.fixes === null ? null : new RegExp(`\\b${vendor.fixes}\\s+eq\\s+'([^']*[A-Z][^']*)'`).exec(filter)
  if (mixed !== null)
    at(
      ['filter'],
      `${vendor.title} has its systems in lower case: write ${vendor.fixes} eq '${mixed[1].toLowerCase()}'`,
    )
  const { searchable } = vendor
  const foreign = searchable === null ? [] : used.filter((field) => !searchable.includes(field))
  if (searchable !== null && foreign.length > 0)
    at(
      ['filter'],
      `${vendor.title} can't search ${foreign.join(', ')}, only ${anyOf(searchable)}; leave it out, and choose records with where`,
    )
  return problems
}

/** The names that a filter compares, without its texts. */
function fieldsOf(filter: string): string[] {
  const bare = filter.replace(/'(?:[^']|'')*'/g, "''")
  const words = bare.match(/[A-Za-z_][\w./]*/g) ?? []
  const language = new Set(
    'and or not eq ne gt ge lt le in has null true false contains startswith endswith tolower toupper date year month day now any all T Z'.split(
      ' ',
    ),
  )
  return [...new Set(words.filter((word) => !language.has(word) && !word.includes('.') && !/^[TZ]?\d/.test(word)))]
}
