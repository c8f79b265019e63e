/**
 * What an MLS's rules let be shown, as a preset and a feed's configuration write it (domain traps 25, 34, 35).
 */
import { z } from 'zod'

/** Something a record says of itself: yes or no (`is`), or one of some words (`equals`, by the vocabulary's matching rule). */
const flagSchema = z
  .strictObject({
    from: z.string().min(1),
    is: z.boolean().optional(),
    equals: z.array(z.string()).min(1).optional(),
  })
  .refine((flag) => (flag.is === undefined) !== (flag.equals === undefined), 'needs one of is and equals')
export type Flag = z.infer<typeof flagSchema>

/** A flag, or a date that is past, that takes its listing off, and why in words for a person. */
const removalSchema = z
  .strictObject({
    flag: flagSchema.optional(),
    past: z.string().min(1).optional().describe('Path of the date on which the listing ends, that day included.'),
    formats: z.array(z.string().min(1)).min(1).optional().describe("Forms of that date; default: the preset's dates."),
    why: z.string().min(1),
  })
  .refine(({ flag, past }) => (flag === undefined) !== (past === undefined), 'needs one of flag and past')
  .refine(({ past, formats }) => past !== undefined || formats === undefined, 'formats goes with past')
export type Removal = z.infer<typeof removalSchema>

const hostSchema = z
  .string()
  .refine((host) => hostOf(host) !== null, 'needs a host such as media.example.com, without http://, port and path')

/**
 * The keys of a preset and of a feed alike. Of the first two, both count; of the others a feed's word wins over its
 * preset's.
 */
export const complianceShape = {
  removeWhen: z.array(removalSchema).optional().describe('What else than a status takes a listing off.'),
  hideAddress: z.array(flagSchema).optional().describe('What forbids to show street and coordinates.'),
  comingSoon: z
    .enum(['show', 'hide'])
    .optional()
    .describe('hide: a listing that would be PreOnMarket is taken off. Default: show.'),
  attribution: z
    .string()
    .min(1)
    .optional()
    .describe('Key of the ExtensionColumn entry that every listing must carry, such as ListOfficeName.'),
  imagesNotFrom: z
    .array(hostSchema)
    .optional()
    .describe('Hosts, with their subdomains, whose addresses of images may not be passed on.'),
}

/**
 * A host as the web compares hosts: lower case, punycode, no dot at the end. Null where the text is not a host alone.
 */
export function hostOf(text: string): string | null {
  if (!/^[\p{L}\p{N}_-][\p{L}\p{M}\p{N}._-]*$/u.test(text)) return null
  return hostOfAddress(`http://${text}`)
}

/**
 * The same of an address; null where it has none that can be read. In a sentence a mark may follow the address at once,
 * and some marks are letters of a host to the web's rules: the host ends before them.
 */
export function hostOfAddress(address: string): string | null {
  const [host] = /^[\w-]+(?:\.[\w-]+)*/.exec(URL.parse(address)?.hostname ?? '') ?? []
  return host ?? null
}
