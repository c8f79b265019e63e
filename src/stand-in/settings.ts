import { parseDocument } from 'yaml'
import { z } from 'zod'
import { faultRuleSchema } from './faults.ts'
import { filesSchema } from './files.ts'
import { profileSchema } from './profile.ts'

const settingsSchema = z.strictObject({
  /** Keys that calls must carry; one left out is right whatever it is. */
  keys: z.strictObject({ secret: z.string().optional(), session: z.string().optional() }).prefault({}),
  /** `7: SN-1001`: session 7 is one of that chatbot. Left out: any session is one of the only chatbot. */
  sessions: z.record(z.string().regex(/^-?\d+$/, 'a session ID is an integer'), z.string().min(1)).optional(),
  /** `31: { name: tour.mp4, bytes: 1000 }`. Left out: any ID is a file that fits. */
  files: filesSchema.optional(),
  profile: profileSchema.prefault({}),
  faults: z.array(faultRuleSchema).default([]),
})

/** What a settings file says: the keys, the sessions, the files, the profile and the faults to start with. */
export type StandInSettings = z.output<typeof settingsSchema>

/** A settings file with mistakes, all of them at once; each starts with its path in the file. */
export class StandInSettingsError extends Error {
  override name = 'StandInSettingsError'
  readonly problems: string[]
  constructor(problems: string[]) {
    super(`the stand-in's settings are wrong\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/** Reads settings from YAML; an empty text gives the defaults. Throws `StandInSettingsError`. */
export function readStandInSettings(yamlText: string): StandInSettings {
  const document = parseDocument(yamlText)
  if (document.errors.length > 0) throw new StandInSettingsError(document.errors.map((error) => error.message))
  const settings = settingsSchema.safeParse(document.toJS() ?? {})
  if (!settings.success) throw new StandInSettingsError(problemsOf(settings.error))
  return settings.data
}

/** Each problem as one line: path, colon, what is wrong. */
export function problemsOf(error: z.ZodError): string[] {
  return error.issues.flatMap((issue) => {
    const line = (path: PropertyKey[], message: string) => `${path.map(String).join('.') || '(whole)'}: ${message}`
    if (issue.code !== 'unrecognized_keys') return [line(issue.path, issue.message)]
    return issue.keys.map((key) => line([...issue.path, key], 'unknown'))
  })
}
