import { z } from 'zod'
import type { AskKind, AskRequest } from './check-chat.ts'
import { Refusal } from './envelope.ts'

/**
 * Files that have been uploaded, by their ID in digits (how they are is not part of the interface). The end of the name
 * says the format.
 */
export const filesSchema = z.record(
  z.string().regex(/^\d+$/, 'a file ID is an integer'),
  z.strictObject({
    name: z.string(),
    bytes: z.int().min(0).default(1),
    /** Of a GIF: whether it moves. */
    animated: z.boolean().default(false),
  }),
)
/** Null: any ID is a file that fits. */
export type Files = Readonly<z.output<typeof filesSchema>> | null

/** Formats and sizes (interface, "Limits"); for audio no size is shown. MPEG files are named either way. */
const rules: Record<Exclude<AskKind, 'Text'>, { endings: readonly string[]; mostBytes: number }> = {
  Image: { endings: ['png', 'jpeg', 'jpg', 'webp', 'gif'], mostBytes: 20 * 1024 * 1024 },
  Video: { endings: ['mp4', 'mkv', 'avi', 'flv', 'mpeg', 'mpg'], mostBytes: 100 * 1024 * 1024 },
  Audio: { endings: ['wav'], mostBytes: Infinity },
}

/** Holds the files of a message against the rules for its kind. Throws `Refusal`. */
export function checkFiles({ kind, fileIds }: AskRequest, files: Files): void {
  if (!files || kind === 'Text') return
  const { endings, mostBytes } = rules[kind]
  for (const id of fileIds) {
    if (!Object.hasOwn(files, String(id))) throw new Refusal('file', `There is no file ${id}`)
    const { name, bytes, animated } = files[String(id)]
    const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
    if (!endings.includes(ending)) throw new Refusal('file', `File ${id} must be one of ${endings.join(', ')}`)
    if (animated) throw new Refusal('file', `File ${id} must not be animated`)
    if (bytes > mostBytes) throw new Refusal('file', `File ${id} must not be larger than ${mostBytes} bytes`)
  }
}
