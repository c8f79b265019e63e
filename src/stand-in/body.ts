/*
 * Reading single members of a request's body. Each function notes what is wrong in `problems` and gives a value of the
 * right type all the same, so that everything wrong with a body is named at once.
 */

/** The own members of a request's JSON object. */
export type Body = Map<string, unknown>

/** A text that must be there and not be empty. */
export function text(body: Body, name: string, problems: string[]): string {
  const value = anyText(body, name, problems)
  if (value === '' && body.get(name) === '') problems.push(`${name} must not be empty`)
  return value
}

/** A text that must be there and may be empty. */
export function anyText(body: Body, name: string, problems: string[]): string {
  const value = body.get(name)
  if (typeof value === 'string') return value
  problems.push(body.has(name) ? `${name} must be a string` : `${name} is required`)
  return ''
}

export function choice<Value extends string>(
  body: Body,
  name: string,
  values: readonly Value[],
  problems: string[],
): Value {
  const found = values.find((value) => value === body.get(name))
  if (!found) problems.push(`${name} must be one of ${values.join(', ')}`)
  return found ?? values[0]
}

/** An integer of at least 1; `usual` where it is left out. */
export function count(body: Body, name: string, usual: number, problems: string[]): number {
  const value = body.has(name) ? body.get(name) : usual
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value
  problems.push(`${name} must be an integer of at least 1`)
  return usual
}

export function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}
