/** What the store keeps of a run's report, as a report again. */
import { revivedReport } from '../report/kept.ts'
import type { KeptReport } from '../report/kept.ts'
import type { Report } from '../report/report.ts'
import type { StoreReader } from '../store/store.ts'

/** The kept report of a run; null: none is kept, or no longer. */
export async function storedReport({ runs }: Pick<StoreReader, 'runs'>, run: number): Promise<Report | null> {
  const kept = await runs.report(run)
  return kept === null ? null : revivedReport(JSON.parse(kept) as KeptReport)
}
