/** Reads a question file (`evaluate`). */
import { ConfigError, messageOf } from '../core/errors.ts'
import { issueSentence } from '../core/schema-words.ts'
import { questionsSchema } from '../evaluate/questions.ts'
import type { Questions } from '../evaluate/questions.ts'
import { problemLines, schemaProblems } from './check.ts'
import { readDocument } from './text.ts'

/** The questions of a file. Throws `ConfigError` with every problem, each with its key and line. */
export function readQuestions(file: string, readFile: (path: string) => string): Questions {
  let text: string
  try {
    text = readFile(file)
  } catch (error) {
    throw new ConfigError(file, [`can't be read: ${messageOf(error)}`])
  }
  const document = readDocument(text)
  if (document.problems.length > 0) throw new ConfigError(file, document.problems)
  const parsed = questionsSchema.safeParse(document.value, { error: issueSentence, reportInput: true })
  if (parsed.success) return parsed.data
  throw new ConfigError(file, problemLines(schemaProblems(parsed.error, []), document.lineOf, []))
}
