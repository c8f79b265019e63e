import type { Format, FormatOptions } from '../feed/format/format.ts'
import type { Mapping, Moment } from '../feed/mapping/mapping.ts'
import type { Preset } from '../feed/mapping/preset.ts'
import type { MappingOptions } from '../feed/mapping/schema.ts'
import type { Opened, TransportEnd } from '../feed/transport/transport.ts'
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

/** A preset with the feed's own options, and which of its paths the feed has anything of. */
export interface FeedMapping {
  preset: Preset
  options: MappingOptions
  found: ReadonlySet<string>
}
