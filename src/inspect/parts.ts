import type { Format, FormatOptions, Mapping, Moment, Opened, TransportEnd } from '../feed/feed.ts'
import type { MappingOptions } from '../feed/mapping-schema.ts'
import type { Preset } from '../feed/preset.ts'
import type { FeedMapping } from './facts.ts'
import type { Findings } from './findings.ts'

/** What an inspection is given. */
export interface InspectParts {
  feed: {
    open(validators: null, signal: AbortSignal, scratch: string): Promise<Opened | 'not-modified'>
    decompress: (opened: Opened, scratch: string) => { bytes: AsyncIterable<Buffer>; end(): TransportEnd }
    formatOptions: Pick<FormatOptions, 'encoding' | 'maxRecordBytes'> & { endsWithLineBreak: boolean }
  }
  formats: Record<Mapping['format'], Format>
  /** A preset that need not be looked for. */
  given: { preset: Preset; options: MappingOptions; how: 'given' | 'configured' } | null
  presets: readonly Preset[]
  /** Records to read; null: all. */
  limit: number | null
  moment: Moment
  /** Folder for files of this run. */
  scratch: string
  signal: AbortSignal
  progress: (records: number) => void
}

/** What was found, and what it was found with: a configuration can be written from these. */
export interface Inspected {
  findings: Findings
  preset: Preset | null
  /** null where no preset fits. */
  feed: FeedMapping | null
}
