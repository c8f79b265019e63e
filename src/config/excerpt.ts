/** What may be shown of a configuration that is no YAML: a wrong line may be the one with the password. */
import type { YAMLError } from 'yaml'
import { configJsonSchema } from './schema.ts'

/** Keys whose values are no secrets, by nature: words, numbers, times and names. */
const plain = new Set(
  `adopt allowNetworkStore allowPrivateRedirects approve attempts base chatbot clear concurrency confirm deadline deleteBatch
  delivery drift encoding endsWithLineBreak grace growth listen max maxBytes maxRecordBytes ownership pageSize patience preset
  rate repair schedule settle share timeout timezone transferTimeout unchanged virtualCount`.split(/\s+/),
)

/** Whether the value at a key, named by itself, is no secret. */
export function isPlain(key: string | number | undefined): boolean {
  return typeof key === 'string' && plain.has(key)
}

/** A line as far as it may be shown: `rate: 5`, `password: …`, or `…`. */
export function excerpt(line: string): string {
  const [, key = '', value = ''] = /^\s*(?:- +)?([\w-]+) *:(?: +(.*?))?\s*$/.exec(line) ?? []
  known ??= new Set(namesIn(configJsonSchema()))
  if (!known.has(key)) return '…'
  // Anything beyond one plain word or a few may be more than this key's value.
  return isPlain(key) && /^(["']?)[\w.*/ -]{1,60}\1$/.test(value) ? `${key}: ${value}` : `${key}: …`
}

/** The name of every setting. */
let known: ReadonlySet<string> | null = null

function namesIn(schema: unknown): string[] {
  if (schema === null || typeof schema !== 'object') return []
  const { properties = {} } = schema as { properties?: object }
  return [...Object.keys(properties), ...Object.values(schema).flatMap(namesIn)]
}

/** What is wrong with YAML, without what stands there: the library quotes it. */
export function yamlSentence({ code, message }: Pick<YAMLError, 'code' | 'message'>): string {
  if (code === 'TAG_RESOLVE_FAILED') return 'A value that begins with ! must be in quotes'
  if (code === 'BAD_DIRECTIVE') return 'A line that begins with % is a directive of YAML; none is taken'
  if (code === 'MULTIPLE_DOCS') return 'The file holds several documents, which --- divides; only one is taken'
  return message.replace(/(?::|\\|"(?!quote)).*|"/gs, '').trim()
}

/** An alias without its anchor. */
export const aliasSentence = 'A value that begins with * must be in quotes'
