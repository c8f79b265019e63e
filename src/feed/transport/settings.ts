/** How a feed's source is fetched and read, as the configuration of a feed writes it. */
import { z } from 'zod'
import { certificates, encoding, headerValue, positiveDuration, size, text, whole } from '../../core/setting-kinds.ts'
import { unknownName } from '../../core/text.ts'

const orNull = <Value>(value: Value | undefined): Value | null => value ?? null

const line = z.string().regex(/^\P{Cc}+$/u, 'is empty or has a line break or another control character')
const fingerprint = z.string().regex(/^SHA256:[A-Za-z0-9+/]{43}=?$/, {
  error: 'is not a fingerprint such as ssh-keygen -lf prints: SHA256: and 43 characters',
})

/** Credentials for an SFTP or FTP server, and the server's identity. */
const loginShape = {
  user: line.describe('User name, unless the address has it').optional(),
  password: line.describe('Password to log in with').optional(),
  privateKey: text('SFTP: text of the private key, normally ${file:…}').optional(),
  passphrase: text('SFTP: passphrase of the private key').optional(),
  hostKey: z
    .union([fingerprint, z.array(fingerprint).min(1)])
    .transform((keys) => (typeof keys === 'string' ? [keys] : keys))
    .optional()
    .describe("SFTP: fingerprint of the server's key, or a list of them (ssh-keyscan HOST | ssh-keygen -lf -)"),
}

/** `ca` stood here before the feed had one. */
const unknownOfLogin = (key: string): string =>
  key === 'ca' ? 'is now ca of the feed, beside login' : unknownName(key, Object.keys(loginShape), 'key')

export const loginSchema = z.strictObject(loginShape, {
  error: (issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map(unknownOfLogin).join('\n') : undefined),
})
export type Login = z.output<typeof loginSchema>

const readySchema = z.strictObject({
  marker: z
    .string()
    .regex(
      /^(?!\{name\}$)[^/\\\p{Cc}]+$/u,
      'takes the name of a file beside the delivery, such as {name}.done or _SUCCESS',
    )
    .optional()
    .describe(
      "File that has to be beside the delivery; {name} is the delivery's file name, {stem} the name without its extension",
    ),
  unchanged: positiveDuration('How long size and time of the file must stay unchanged; the run waits').optional(),
})
/** When a dropped file counts as complete; what is left out is not required. */
export type Readiness = z.output<typeof readySchema>

export const transportSettings = z.strictObject({
  member: text('The member of a ZIP archive that is the feed: a glob over its path or name')
    .optional()
    .transform(orNull),
  encoding: encoding(
    'Encoding to assume if the feed does not state one, and for records that are not the UTF-8 that it states',
  )
    .optional()
    .transform(orNull),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'is not a header name'), headerValue)
    .prefault({})
    .meta({ description: 'Request headers for an http(s) source' }),
  allowPrivateRedirects: z.boolean().prefault(false).meta({
    description: 'true: an http(s) source on the internet may redirect to an address of this machine or its network',
  }),
  ca: certificates('An authority of your own for an https or ftps source'),
  login: loginSchema.prefault({}).meta({ description: 'Credentials for an sftp or ftp(s) source' }),
  ready: readySchema.prefault({}).meta({ description: 'When a dropped file counts as complete' }),
  endsWithLineBreak: z.boolean().prefault(true).meta({
    description: 'false: a CSV whose last row has no line break counts as complete, although it may have been cut off',
  }),
  maxBytes: size('Most bytes accepted of one delivery, as sent').prefault('16GB'),
  maxUnpackedBytes: size('Most bytes of one delivery, unpacked').prefault('2GB'),
  maxRatio: whole('How many times larger than sent a delivery may be once unpacked, if that is over 10 MB', {
    min: 1,
  }).prefault(200),
  maxFiles: whole('Most files in an archive, or in the folder of a pattern', { min: 1 }).prefault(100_000),
  maxRecords: whole('Most records of one delivery', { min: 1 }).prefault(1_000_000),
  maxRecordBytes: size('Most bytes of one record').prefault('4MB'),
  maxFields: whole('Most values of one record; in XML, elements and attributes', { min: 1 }).prefault(10_000),
  maxScratchBytes: size('Most bytes of the scratch database of one run').prefault('16GB'),
  keepFree: size('Space that a run leaves free on the disk with its scratch folder').prefault('32MB'),
  transferTimeout: positiveDuration('Longest time for the whole transfer').prefault('30m'),
})
/** Times in milliseconds, sizes in bytes, null for what is not configured. */
export type TransportSettings = z.output<typeof transportSettings>
