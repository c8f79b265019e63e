import type { Readers } from '../run/tools.ts'
import type { Channel } from './doors.ts'

/** A progress line on a terminal, updated at most ten times a second; nothing elsewhere. */
export function progressLine(feed: string, stream: Channel): { show: Readers['progress']; end(): void } {
  if (!stream.isTTY) return { show: () => undefined, end: () => undefined }
  let shown = ''
  let last = 0
  return {
    show(stage, done, total) {
      const now = performance.now()
      if (now - last < 100 && done !== total) return
      last = now
      const of = total === null ? '' : ` of ${total} (${total === 0 ? 100 : Math.floor((done / total) * 100)} %)`
      const line = {
        records: `${done} records read`,
        listings: `${done} listings listed`,
        changes: `${done}${of} changes`,
      }[stage]
      shown = `${feed}: ${line}`
      stream.write(`\r\u001B[K${shown}`)
    },
    end() {
      if (shown !== '') stream.write('\r\u001B[K')
      shown = ''
    },
  }
}
