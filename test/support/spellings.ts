/** Answers that are off by a type or a letter case, as profiles of the stand-in. */
import type { StandInProfileInput } from '../../src/stand-in/profile.ts'

const answers: Record<string, NonNullable<StandInProfileInput['answers']>> = {
  'null in place of an empty list': { noListings: 'null' },
  'no List at all where there are no listings': { noListings: 'missing' },
  'whole numbers as text': { integers: 'text' },
  'the identifier of Create as a number': { createdAs: 'number' },
  'names in camel case': { names: 'camelCase' },
  'names in small letters': { names: 'lower-case' },
  'names in capitals': { names: 'upper-case' },
  'tokens null': { tokens: 'null' },
  'no tokens': { tokens: 'missing' },
  'members that the interface does not name': { moreMembers: true },
  'all at once': {
    noListings: 'missing',
    integers: 'text',
    names: 'camelCase',
    tokens: 'missing',
    moreMembers: true,
  },
}

export const spellings: Record<string, StandInProfileInput> = Object.fromEntries(
  Object.entries(answers).map(([what, spelling]) => [`spelled: ${what}`, { answers: spelling }]),
)
