import { fieldRules } from '../listing.ts'
import type { FieldValue } from '../listing.ts'
import { printable, shorten } from '../text.ts'
import type { Sample } from './findings.ts'
import type { Paint } from './text.ts'

const width = 100
const nameWidth = 17

/** How some records would map, field by field; of those that can't, why. */
export function* sampleLines(samples: readonly Sample[], paint: Paint): Generator<string> {
  if (samples.length === 0) return
  yield ''
  yield paint('bold', 'How records would map')
  for (const sample of samples) {
    const { at, mlsNumber, listing, missing, problems, why } = sample
    yield shorten(`  ${printable(at)}: ${mlsNumber === null ? 'no MLSNumber' : printable(mlsNumber)}`, width)
    if (listing === null) {
      if (why !== null) yield line('removal', why, paint)
      for (const { field, value, problem } of problems)
        yield line(field, `${value === null ? '' : `"${value}" `}${problem}`, paint, 'yellow')
      continue
    }
    for (const { name } of fieldRules) {
      const value = listing[name]
      if (missing.includes(name)) yield line(name, 'missing', paint, 'yellow')
      else if (value !== undefined) yield line(name, valueText(value), paint)
    }
  }
}

function line(name: string, text: string, paint: Paint, style?: 'yellow'): string {
  const plain = shorten(printable(text), width - nameWidth - 6)
  return `    ${paint('dim', shorten(printable(name), nameWidth).padEnd(nameWidth))} ${style === undefined ? plain : paint(style, plain)}`
}

function valueText(value: FieldValue): string {
  if (!Array.isArray(value)) return String(value)
  const texts = value.map((one) => (typeof one === 'string' ? one : `${one.Key}: ${one.value}`))
  return `${texts.length}: ${texts.join(', ')}`
}
