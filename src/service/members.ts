/**
 * Reads the members of an answer of the service: as documented (docs/service.md), and in the other spellings and types that a
 * JSON service of this kind may use, where their meaning is certain. Nothing is guessed: all else throws `Misread`.
 */

/** A member that can't be understood; `came`: the value, undefined: none. */
export class Misread extends Error {
  override name = 'Misread'
  readonly #came: unknown
  constructor(member: string, expected: string, came: unknown) {
    super(`${member} has to be ${expected}`)
    this.#came = came
  }

  /** The message with the first 200 characters of what came, made safe to show by `clean`. */
  inWords(clean: (text: string) => string): string {
    const came = this.#came
    if (came === undefined) return `${this.message}, and is missing`
    // Cleaned before it is cut: half a secret would not be known.
    const text = clean((typeof came === 'string' ? came : JSON.stringify(came)).slice(0, 10_000))
    const shown = text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
    return `${this.message}, and is ${typeof came === 'string' ? `"${shown}"` : shown}`
  }
}

const longestShown = 200

/** An object of JSON. */
export type Members = Record<string, unknown>

/** The value as an object. `name`: what messages call it. Throws `Misread`. */
export function readMembers(value: unknown, name: string): Members {
  if (isMembers(value)) return value
  throw new Misread(name, 'an object', value)
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member by its name or, where there is none, by its name in any letter case; undefined: neither, or null. */
export function member(object: Members, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name] ?? undefined
  const folded = name.toLowerCase()
  const other = Object.keys(object).find((each) => each.toLowerCase() === folded)
  return other === undefined ? undefined : (object[other] ?? undefined)
}

/** A whole number, or its digits as text. */
export function readInteger(value: unknown, name: string): number {
  const number = typeof value === 'string' && /^\s*-?\d{1,15}\s*$/.test(value) ? Number(value) : value
  if (Number.isSafeInteger(number)) return number as number
  throw new Misread(name, 'a whole number', value)
}

/** A number of listings. */
export function readCount(value: unknown, name: string): number {
  const count = readInteger(value, name)
  if (count >= 0) return count
  throw new Misread(name, 'a whole number from 0', value)
}

/** true or false, or the word as text. */
export function readBoolean(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string' && /^\s*(?:true|false)\s*$/i.test(value)) return value.trim().toLowerCase() === 'true'
  throw new Misread(name, 'true or false', value)
}

/** An identifier: text, or a whole number, which becomes its digits. */
export function readIdentifier(value: unknown, name: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value
  if (Number.isSafeInteger(value)) return String(value)
  throw new Misread(name, 'an identifier', value)
}

/**
 * Objects with the names as documented. A service spells all names of an answer by one rule, so the first object shows whether
 * there is anything to do.
 */
export function withNames(objects: Members[], names: ReadonlyMap<string, string>): Members[] {
  const [first] = objects
  if (first === undefined || Object.keys(first).every((name) => (names.get(name.toLowerCase()) ?? name) === name))
    return objects
  return objects.map((object) =>
    Object.fromEntries(
      Object.entries(object).flatMap(([name, value]) => {
        const documented = names.get(name.toLowerCase()) ?? name
        return documented === name || !Object.hasOwn(object, documented) ? [[documented, value]] : []
      }),
    ),
  )
}
