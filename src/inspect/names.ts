/** Tells by a field's name whose data it is, and whether it hides an address. */
import type { FieldFacts } from './findings.ts'

/** `ListingId`, `listing_id` and `listing-id` are two words. */
export function wordsOf(name: string): string[] {
  return name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '')
}

const hasWord = (path: string, word: RegExp): boolean =>
  path.split('/').some((step) => wordsOf(step).some((found) => word.test(found)))

const others =
  /^(?:agents?|offices?|contacts?|phones?|telephones?|auctions?|brokers?|brokerage|kontakt|kontaktperson|makler|realtors?)$/
const personal =
  /^(?:agents?|brokers?|offices?|contacts?|kontakt|kontaktperson|makler|realtors?|phones?|telephones?|telefon|tel|mobile?|fax|whatsapp|e?mails?|owner|vendor|seller|landlord|lessor|username|password|login)$/
/** Of two words, or of another language: `FirstName`, `nachname`. */
const personalName =
  /(?:first|last|middle|given|family|full|user)[-_ ]?name|surname|vorname|nachname|nazwisko|imie$|apellidos?|prenom|prénom|cognome/i
const media =
  /^(?:images?|imgs?|photos?|pictures?|media|multimedia|videos?|documents?|blueprints?|floorplans?|pdfs?|logo|tours?|files?|anhang)$/

/** Whether a field is in a block that is not about the home, but an agent, an office or an auction. */
export const isOfOthers = (path: string): boolean => hasWord(path, others)

/** Whether a field belongs to a picture, a video or a file, so that its address is not the listing's page. */
export const isOfMedia = (path: string): boolean => hasWord(path, media)

const mail = /[^\s@]+@[^\s@]+\.[^\s@]+/
const telephone = /^\+?[\d\s()./-]{9,20}$/
const date = /^(?:(?:19|20)\d\d[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d\d)$/

/** Examples that may be printed and written: none of a person's data. */
export function examplesOf(path: string, examples: readonly string[]): string[] {
  if (hasWord(path, personal) || personalName.test(path)) return []
  const isTelephone = (text: string): boolean =>
    telephone.test(text) && /[+()]|\d[\s/-]\d/.test(text) && !date.test(text)
  return examples.filter((text) => !mail.test(text) && !isTelephone(text))
}

const place = /address|adress|adresse|street|geo|location|coord|thoroughfare|strasse/
const showing = /^(?:display|show|shown|print|publish|visible|hide|hidden|suppress)$/
const hides = /^(?:hide|hidden|suppress)$/

/** Words that say little of what a number is. */
const general =
  /^(?:total|number|num|no|integer|count|size|area|units?|year|yr|on|of|is|value|type|full|half|build|built|the|and)$/

/** Whether the last word of a path and one of these names have a word in common, in singular or plural, or as its beginning. */
export function isLike(path: string, names: readonly string[]): boolean {
  const tellingWords = (name: string): string[] =>
    wordsOf(name.split('/').at(-1) ?? '').flatMap((word) => {
      const singular = word.replace(/s$/, '')
      return singular.length < 3 || general.test(word) ? [] : singular
    })
  const known = names.flatMap(tellingWords)
  return tellingWords(path).some((telling) =>
    known.some((word) => word.startsWith(telling) || telling.startsWith(word)),
  )
}

/** Whether a field says that the address must not be shown: by a yes (`hides`) or by a no. null: it is not about that. */
function hidingOf(path: string): { hides: boolean } | null {
  if (/adressdruck/i.test(path)) return { hides: false }
  const steps = path.split('/')
  const last = wordsOf(steps[steps.length - 1])
  const verb = last.find((word) => showing.test(word))
  if (verb === undefined || isOfOthers(path)) return null
  const near = [...last.filter((word) => word !== verb), ...wordsOf(steps.at(-2) ?? '')].join(' ')
  return place.test(near) ? { hides: hides.test(verb) } : null
}

/** Flags that hide an address and that no rule reads, each with the rule that would. */
export function unreadFlags(fields: readonly FieldFacts[]): { from: string; is: boolean }[] {
  return fields.flatMap(({ path, filled, usedFor }) => {
    const flag = filled > 0 && usedFor.length === 0 ? hidingOf(path) : null
    return flag === null ? [] : [{ from: path, is: flag.hides }]
  })
}
