/** JSON that a server nests thousands deep. */

/** Far deeper than the answers of any service; what walks a value that is nested thousands deep runs out of stack. */
export const deepestAnswer = 100

/** Whether JSON is nested deeper than that. */
export function isTooDeep(json: string): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length && depth <= deepestAnswer; i++) {
    const character = json[i]
    if (inString && character === '\\') i++
    else if (character === '"') inString = !inString
    else if (inString) continue
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
  }
  return depth > deepestAnswer
}
