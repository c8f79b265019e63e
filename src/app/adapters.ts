/**
 * The parts that can be of several kinds, by name. To add one, write its file and its line here: nothing else is edited.
 * Formats and transports, whose names the configuration is checked by, are mapped where they lie: `formats` in
 * feed/format/formats.ts, `transports` in feed/transport/transports.ts.
 */
import type { FormOptions, ReportForm } from '../report/report.ts'
import { openStore, openStoreReader } from '../store/sqlite.ts'

/** Forms of a report; a form is loaded when the first report is written in it. */
export const reportForms: Record<string, () => Promise<(options: FormOptions) => ReportForm>> = {
  text: async () => (await import('../report/text.ts')).textForm,
  json: async () => (await import('../report/json.ts')).jsonForm,
  markdown: async () => (await import('../report/markdown.ts')).markdownForm,
  html: async () => (await import('../report/html.ts')).htmlForm,
}

/** Stores, by the scheme of their place; `file` is a path. One is opened for reading and writing, or for reading only. */
export const stores = { file: { open: openStore, openReader: openStoreReader } }
