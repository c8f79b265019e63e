/** Files with a chatbot's settings, YAML or JSON. */
import { resolve } from 'node:path'
import { ConfigError, messageOf } from '../core/errors.ts'
import { issueSentence } from '../core/schema-words.ts'
import type { Located } from '../core/schema-words.ts'
import { writtenSettings } from '../service/settings-file.ts'
import type { ChatbotSettings } from '../service/settings.ts'
import { mappingOf, problemLines, schemaProblems } from './check.ts'
import { readDocument } from './text.ts'

type ReadFile = (path: string) => string

/** The settings of one file. Throws `ConfigError`. */
export function readSettingsFile(file: string, readFile: ReadFile): ChatbotSettings {
  const read = settingsIn(file, readFile)
  if (Array.isArray(read)) throw new ConfigError(file, read)
  return read
}

/** The settings of feeds that name a file for them; parts of `tree`, the configuration, may be wrong. Never throws. */
export function readSettingsFiles(
  tree: unknown,
  directory: string,
  readFile: ReadFile,
): { settings: Map<string, ChatbotSettings>; problems: Located[] } {
  const settings = new Map<string, ChatbotSettings>()
  const problems: Located[] = []
  for (const [name, feed] of Object.entries(mappingOf(mappingOf(tree).feeds))) {
    const file = mappingOf(feed).settings
    if (typeof file !== 'string' || file === '') continue
    const read = settingsIn(resolve(directory, file), readFile)
    if (!Array.isArray(read)) settings.set(name, read)
    else
      for (const problem of read) problems.push({ path: ['feeds', name, 'settings'], problem: `${file}: ${problem}` })
  }
  return { settings, problems: [...problems, ...twiceSaid(tree, settings)] }
}

/** If two feeds set the same setting of one chatbot, each would set it again after every run. */
function twiceSaid(tree: unknown, fromFiles: ReadonlyMap<string, ChatbotSettings>): Located[] {
  const setBy = new Map<string, string>()
  const problems: Located[] = []
  for (const [feed, value] of Object.entries(mappingOf(mappingOf(tree).feeds))) {
    const { chatbot, settings, service } = mappingOf(value)
    const { baseUrl } = mappingOf(service)
    for (const name of Object.keys(mappingOf(fromFiles.get(feed) ?? settings))) {
      const key = JSON.stringify([baseUrl, chatbot, name])
      const other = setBy.get(key)
      if (other === undefined) setBy.set(key, feed)
      else
        problems.push({
          path: ['feeds', feed, 'settings'],
          problem: `sets ${name}, which ${other} also sets for the same chatbot; set it in only one`,
        })
    }
  }
  return problems
}

/** The settings of a file, or its problems. */
function settingsIn(file: string, readFile: ReadFile): ChatbotSettings | string[] {
  let text: string
  try {
    text = readFile(file)
  } catch (error) {
    return [`can't be read: ${messageOf(error)}`]
  }
  const document = readDocument(text)
  if (document.problems.length > 0) return document.problems
  const parsed = writtenSettings.safeParse(document.value, { error: issueSentence, reportInput: true })
  if (parsed.success) return parsed.data
  const problems = schemaProblems(parsed.error, []).map((found) =>
    /^serialNumber$/i.test(found.path.join('.')) ? { ...found, problem: 'is set by chatbot of the feed' } : found,
  )
  return problemLines(problems, document.lineOf, [])
}
