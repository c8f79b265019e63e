import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGunzip, gunzip } from 'node:zlib'

/** Whether bytes begin as those that gzip packed. */
export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

const unzip = promisify(gunzip)

/** What bytes packed with gzip hold. Rejects with zlib's error: `ERR_BUFFER_TOO_LARGE` if that is more than `maxBytes`. */
export const gunzipped = (bytes: Buffer, maxBytes: number): Promise<Buffer> =>
  unzip(bytes, { maxOutputLength: maxBytes })

/** The same of pieces, as they come. */
export const gunzippedPieces = (pieces: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> =>
  pipeline(Readable.from(pieces), createGunzip(), () => undefined)
