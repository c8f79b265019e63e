import { blm } from '../feed/format/blm.ts'
import { csv } from '../feed/format/csv.ts'
import type { Format, FormatName } from '../feed/format/format.ts'
import { retsCompact } from '../feed/format/rets.ts'
import { xml } from '../feed/format/xml.ts'
import { file } from '../feed/transport/file.ts'
import { glob } from '../feed/transport/glob.ts'
import { http } from '../feed/transport/http.ts'
import { standardInput } from '../feed/transport/stdin.ts'
import type { Transport } from '../feed/transport/transport.ts'
import { htmlForm } from '../report/html.ts'
import { jsonForm } from '../report/json.ts'
import { markdownForm } from '../report/markdown.ts'
import type { FormOptions, ReportForm } from '../report/report.ts'
import { textForm } from '../report/text.ts'
import type { FormName } from './app.ts'

/** A transport whose library is loaded once a feed needs it: most runs need none of them. */
export const lazily =
  (load: () => Promise<Transport>): Transport =>
  async (source, options) =>
    (await load())(source, options)

export const sftp = lazily(async () => (await import('../feed/transport/sftp.ts')).sftp)

export const ftp = lazily(async () => (await import('../feed/transport/ftp.ts')).ftp)

export const stdin = standardInput(() => process.stdin)

export const transports: Record<string, Transport> = { file, glob, http, https: http, sftp, ftp, ftps: ftp, '-': stdin }

export const formats: Record<FormatName, Format> = { xml, csv, 'rets-compact': retsCompact, blm }

export const reportForms: Record<FormName, (options: FormOptions) => ReportForm> = {
  text: textForm,
  json: jsonForm,
  markdown: markdownForm,
  html: htmlForm,
}
