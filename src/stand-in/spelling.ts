/** Answers that are off by a type or a letter case, as those of services that are built or generated otherwise. */
import type { StandInProfile } from './profile.ts'

type Spelling = StandInProfile['answers']

/** Whether answers are spelled as documented; then they need not be walked. */
export function isDocumented({ names, integers, createdAs, noListings, tokens, moreMembers }: Spelling): boolean {
  const usual = names === 'documented' && integers === 'number' && createdAs === 'text' && noListings === 'list'
  return usual && tokens === 'number' && !moreMembers
}

/** The body of an answer in the profile's spelling. */
export function spelled(body: { Data: unknown }, spelling: Spelling): unknown {
  const { Data, ...rest } = body
  return respelled({ Data: withoutNothing(Data, spelling), ...rest }, spelling)
}

/** The final object of a stream, or a piece. */
export function spelledPart(part: object, spelling: Spelling): unknown {
  return respelled(withoutNothing(part, spelling), spelling)
}

/** What the service doesn't say: listings where there are none, tokens, identifiers as text. */
function withoutNothing(data: unknown, { noListings, tokens, createdAs }: Spelling): unknown {
  if (typeof data === 'string') return createdAs === 'number' && /^\d{1,15}$/.test(data) ? Number(data) : data
  if (typeof data !== 'object' || data === null) return data
  const left = Object.entries(data).flatMap(([name, value]: [string, unknown]) => {
    const is = { isList: Array.isArray(value) && value.length === 0, isTokens: /^totalToken$/i.test(name) }
    const way = is.isList && noListings !== 'list' ? noListings : is.isTokens && tokens !== 'number' ? tokens : null
    return way === null ? [[name, value]] : way === 'null' ? [[name, null]] : []
  })
  return Object.fromEntries(left)
}

/** Names, numbers and members that the interface does not know, in the whole value. */
function respelled(value: unknown, spelling: Spelling): unknown {
  if (Number.isInteger(value)) return spelling.integers === 'text' ? String(value) : value
  if (Array.isArray(value)) return value.map((each) => respelled(each, spelling))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [
    names[spelling.names](name),
    respelled(member, spelling),
  ])
  const more = spelling.moreMembers
    ? [
        ['traceId', '00-4bf92f35'],
        ['$extra', { list: [null, 1] }],
      ]
    : []
  return Object.fromEntries([...members, ...more])
}

const names: Record<Spelling['names'], (name: string) => string> = {
  documented: (name) => name,
  /** As .NET's camel case: a row of capitals at the beginning becomes small, all but the last before a small letter. */
  camelCase: (name) => name.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+(?![a-z])|^[A-Z]/, (start) => start.toLowerCase()),
  'lower-case': (name) => name.toLowerCase(),
  'upper-case': (name) => name.toUpperCase(),
}
