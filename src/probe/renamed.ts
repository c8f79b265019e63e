/** Test listings that the service lists under another MLSNumber than was sent. */
import { messageOf } from '../errors.ts'
import type { Asked } from './ask.ts'
import type { ListItem } from './probe.ts'
import { markerUrl, mlsNumberOf, textOf } from './sentinel.ts'
import type { Sentinels } from './sentinels.ts'

/** Removes them by the number under which they are listed, and says so: runs go by that number, too. */
export async function clearRenamed(rows: readonly ListItem[], sentinels: Sentinels, asked: Asked): Promise<void> {
  if (rows.length === 0) return
  asked.notes.push(
    `the service changes MLSNumbers: the test listing with Url ${textOf(rows[0], 'Url')} is listed as ${mlsNumberOf(rows[0])}. A run knows listings by that number alone: it will not find again what it creates`,
  )
  for (const mlsNumber of new Set(rows.map(mlsNumberOf))) {
    try {
      await sentinels.remove(mlsNumber)
      settleOwn(
        rows.filter((row) => mlsNumberOf(row) === mlsNumber),
        sentinels,
      )
      // Before the first question it was an earlier probe's.
      if (asked.answers.length === 0) asked.removed.push(mlsNumber)
    } catch (error) {
      asked.left.set(mlsNumber, messageOf(error))
    }
  }
}

function settleOwn(removed: readonly ListItem[], sentinels: Sentinels): void {
  for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
    const begin = markerUrl(sentinels.names, number, 0).slice(0, -1)
    if (removed.some((row) => textOf(row, 'Url').startsWith(begin))) sentinels.settle(sentinels.names.mlsNumber(number))
  }
}
