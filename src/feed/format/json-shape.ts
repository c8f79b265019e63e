const deepest = 6
const mostPaths = 200
const longestName = 200

interface Open {
  isArray: boolean
  path: string
  name: string
}

/**
 * Guesses from a JSON document's first bytes where its records are: the highest array of objects, or `.` for a root that is
 * an array or an object with many values of its own; null: there is none.
 */
export function jsonShape(head: Buffer): string | null {
  const open: Open[] = []
  const arrays = new Map<string, number>()
  /** Values, other than objects and arrays, in the root. */
  let values = 0
  /** Containers open below those in `open`. */
  let below = 0
  let text: string | null = null
  for (let index = 0; index < head.length; index++) {
    const parent = open.at(-1)
    const mark = String.fromCharCode(head[index])
    if (mark === '"') {
      const end = closingQuote(head, index)
      if (end - index <= longestName) text = head.toString('utf8', index + 1, end)
      index = end
    } else if (mark === ':' && parent !== undefined && below === 0) parent.name = text ?? ''
    else if (mark === ',' && open.length === 1 && below === 0) values++
    else if (mark === '{' || mark === '[') {
      const isArray = mark === '['
      const path = pathOf(parent)
      if (!isArray && parent?.isArray === true && below === 0 && (arrays.has(path) || arrays.size < mostPaths))
        arrays.set(path, open.length)
      if (below > 0 || open.length >= deepest) below++
      else open.push({ isArray, path, name: '' })
    } else if (mark === '}' || mark === ']') {
      if (below > 0) below--
      else open.pop()
    }
  }
  if (!arrays.has('') && values >= 10) return '.'
  const [highest] = [...arrays].toSorted(([, a], [, b]) => a - b)
  return highest === undefined ? null : highest[0] || '.'
}

function pathOf(parent: Open | undefined): string {
  if (parent === undefined || parent.isArray) return parent?.path ?? ''
  return parent.path === '' ? parent.name : `${parent.path}/${parent.name}`
}

function closingQuote(head: Buffer, opening: number): number {
  let index = opening + 1
  while (index < head.length && head[index] !== 34) index += head[index] === 92 ? 2 : 1
  return index
}
