/** `$filter` of OData, as much of it as listings are asked for by. */

type Fields = Readonly<Record<string, unknown>>
export type Test = (record: Fields) => boolean

export class FilterError extends Error {
  override name = 'FilterError'
}

const tokens = /\s*(?:('(?:[^']|'')*')|([()])|([^\s()']+))/y

/** Compiles a filter. Gives the test and the fields that it names; throws `FilterError`. */
export function compileFilter(text: string): { test: Test; fields: string[]; hasWords: string[] } {
  const words: string[] = []
  tokens.lastIndex = 0
  while (tokens.lastIndex < text.trimEnd().length) {
    const found = tokens.exec(text)
    if (found === null) throw new FilterError(`Syntax error in $filter`)
    words.push(found[1] ?? found[2] ?? found[3])
  }
  const fields: string[] = []
  const hasWords: string[] = []
  let next = 0
  const either = (): Test => {
    const tests = [both()]
    while (words[next] === 'or') {
      next++
      tests.push(both())
    }
    return (record) => tests.some((test) => test(record))
  }
  const both = (): Test => {
    const tests = [comparison()]
    while (words[next] === 'and') {
      next++
      tests.push(comparison())
    }
    return (record) => tests.every((test) => test(record))
  }
  const comparison = (): Test => {
    if (words[next] === '(') {
      next++
      const test = either()
      if (words[next++] !== ')') throw new FilterError('A ) is missing in $filter')
      return test
    }
    let [field, operator, value] = words.slice(next, next + 3)
    next += 3
    if (value === undefined || !/^[A-Za-z_]\w*$/.test(field)) throw new FilterError('Syntax error in $filter')
    if (operator === 'has') {
      value = words[next - 1].replace(/^[\w.]+$/, '') || (words[next++] ?? '')
      hasWords.push(field)
      operator = 'eq'
    }
    fields.push(field)
    const wanted = literal(value)
    const compare = operators[operator]
    if (compare === undefined) throw new FilterError(`Unknown operator ${operator} in $filter`)
    return (record) => compare(order(record[field], wanted))
  }
  const test = either()
  if (next < words.length) throw new FilterError('Syntax error at the end of $filter')
  return { test, fields, hasWords }
}

const operators: Record<string, ((order: number) => boolean) | undefined> = {
  eq: (order) => order === 0,
  ne: (order) => order !== 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
  lt: (order) => order < 0,
  le: (order) => order <= 0,
}

function literal(text: string): unknown {
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'")
  if (/^(true|false)$/.test(text)) return text === 'true'
  if (text === 'null') return null
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return instant(text)
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  throw new FilterError(`${text} is no literal`)
}

class Instant {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const instant = (text: string): Instant => new Instant(sortable(text))

/** A timestamp in UTC with nine digits behind the second, whose order is that of its text. */
export function sortable(text: string): string {
  const [, seconds, digits = '', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? []
  if (seconds === undefined) throw new FilterError(`${text} is no timestamp`)
  const utc = zone === 'Z' ? seconds : new Date(`${seconds}${zone}`).toISOString().slice(0, 19)
  return `${utc}.${digits.padEnd(9, '0')}`
}

/** Negative, 0 or positive; NaN where the two can't be compared. */
function order(found: unknown, wanted: unknown): number {
  if (found === null || found === undefined) return wanted === null ? 0 : NaN
  const [a, b] =
    wanted instanceof Instant && typeof found === 'string' ? [sortable(found), wanted.text] : [found, wanted]
  if (typeof a !== typeof b) return NaN
  return (a as string) < (b as string) ? -1 : Number((a as string) > (b as string))
}
