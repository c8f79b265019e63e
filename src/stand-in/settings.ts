import { parseDocument } from 'yaml'
import { z } from 'zod'
import { faultRuleSchema } from './faults.ts'
import { profileSchema } from './profile.ts'

/** Uploaded files by their ID in digits (the upload is not documented). The extension is the format. */
export const filesSchema = z.record(
  z.string().regex(/^\d+$/, 'a file ID is an integer'),
  z.strictObject({
    name: z.string(),
    bytes: z.int().min(0).default(1),
    /** For a GIF. */
    animated: z.boolean().default(false),
  }),
)
const settingsSchema = z.strictObject({
  /** Keys that calls must carry; a missing one accepts any value. */
  keys: z.strictObject({ secret: z.string().optional(), session: z.string().optional() }).prefault({}),
  /** `7: SN-1001`: session 7 belongs to that chatbot. Default: any session belongs to the only chatbot. */
  sessions: z.record(z.string().regex(/^-?\d+$/, 'a session ID is an integer'), z.string().min(1)).optional(),
  /** `31: { name: tour.mp4, bytes: 1000 }`. Default: any ID is a valid file. */
  files: filesSchema.optional(),
  profile: profileSchema.prefault({}),
  faults: z.array(faultRuleSchema).default([]),
})

/** A settings file, and the same as written: what is left out takes its default. */
export type StandInSettingsInput = z.input<typeof settingsSchema>
export type StandInSettings = z.output<typeof settingsSchema>

/** All problems of a settings file, each starting with its path. */
export class StandInSettingsError extends Error {
  override name = 'StandInSettingsError'
  readonly problems: string[]
  constructor(problems: string[]) {
    super(`the stand-in's settings are wrong\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/** Reads settings from YAML; an empty text means the defaults. Throws `StandInSettingsError`. */
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
