/** The whole run on one screen. `diff` is its first half; it is given readers, which have no writing methods. */
import { apply } from './apply/apply.ts'
import type { Report } from './report/report.ts'
import { guard } from './run/guard.ts'
import { noteHomes } from './run/homes.ts'
import type { LastList } from './run/last-list.ts'
import { look, takeList } from './run/look.ts'
import { dryMirror, mirror } from './run/mirror.ts'
import type { Mirror } from './run/mirror.ts'
import { withoutHolds } from './run/moved.ts'
import { note } from './run/note.ts'
import { decide } from './run/plan.ts'
import { recall } from './run/recall.ts'
import { receive } from './run/receive.ts'
import { recorded, reported } from './run/record.ts'
import type { Prepared } from './run/run.ts'
import type { Feed, Mode, Readers, Writers } from './run/tools.ts'

async function prepare(
  feed: Feed,
  { store, ...others }: Readers,
  mode: Mode,
  mirror: Mirror,
  last: LastList | null = null,
): Promise<Prepared> {
  const tools = { ...others, store: await withoutHolds(feed, store) } //     of a feed that fills another chatbot now
  const past = await recall(feed, tools) //                                  store → Past
  const delivery = await receive(feed, tools, past, mirror, mode) //         feed → workspace: Delivery
  const listed = await look(feed, tools, { past, delivery, mode, last }) //  service → workspace: Listed
  const plan = await decide(feed, tools, { past, delivery, listed, mode }) // three sides walked once → workspace: Plan
  const guarded = await guard(feed, tools, past, plan) //                    accidents become holds: Guarded
  await noteHomes(feed, tools) //                                            store → workspace: which homes change
  return { past, delivery, listed, plan, guarded }
}

/** What a sync would do, as a report. */
export const diff = (feed: Feed, tools: Readers): Promise<Report> =>
  reported('diff', feed, tools, async (run) => {
    run.prepared = await prepare(feed, tools, 'diff', dryMirror(feed, tools.store))
  })

/** One run. Throws only for defects: whatever feed, service or store do is in the report. */
export const sync = (feed: Feed, tools: Writers, mode: 'sync' | 'backfill' = 'sync'): Promise<Report> =>
  recorded(mode, feed, tools, async (run) => {
    //                            lease, report and record, whatever happens
    const last = takeList(feed, tools)
    const prepared = (run.prepared = await prepare(feed, tools, mode, mirror(feed, tools.store), last))
    await note(feed, tools, prepared) //                                     store: what is known without a call, before any
    run.applied = await apply(feed, tools, prepared.guarded, mode === 'sync' ? feed.deadline : null)
  })
