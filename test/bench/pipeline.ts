/** Parts of the program that floors and naive pipelines share with it: a preset's mapping, a file as its format splits it. */
import { dirname } from 'node:path'
import { presetAt, presetFileOf } from '../../src/config/presets.ts'
import type { Reading } from '../../src/feed/format/format.ts'
import { createMapping } from '../../src/feed/mapping/create-mapping.ts'
import type { Mapping, Moment } from '../../src/feed/mapping/mapping.ts'
import { mappingOptionsSchema } from '../../src/feed/mapping/preset.ts'
import { file as fileTransport } from '../../src/feed/transport/file.ts'
import { transportSettings } from '../../src/feed/transport/settings.ts'
import type { Opened } from '../../src/feed/transport/transport.ts'
import { readingOf } from '../support/reading.ts'

export const moment: Moment = { now: Date.parse('2026-11-21T12:00:00Z'), today: '2026-11-21', timezone: 'UTC' }

/** A preset by its name, with what a feed's configuration adds to it. */
export function openMapping(name: string, options: unknown = {}): Mapping {
  return createMapping(presetAt(presetFileOf(name, '.')), mappingOptionsSchema.parse(options))
}

/** A reading of the file with the format's splitter. */
export function receiving({ mapping }: { mapping: Mapping }, path: string): Reading {
  return readingOf(mapping, blocksOf(path), { maxRecordBytes: 4_000_000, lengthProven: () => false })
}

async function* blocksOf(path: string): AsyncGenerator<Buffer> {
  const options = {
    directory: dirname(path),
    ...transportSettings.parse({ maxBytes: '1TB' }),
    validators: null,
    scratch: dirname(path),
    clock: { now: () => 0, sleep: () => Promise.resolve() },
    signal: new AbortController().signal,
  }
  yield* ((await fileTransport(path, options)) as Opened).bytes
}
