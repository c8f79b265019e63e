import type { CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { jsonDocument, printable } from '../core/text.ts'
import type { CopyOutcome, Repaired, RepairPlan } from '../run/repair.ts'
import { chosenFeeds, confirmed, withApp } from './command.ts'

const shown = 50

/** `repair`: shows listings with several copies on the service and, after confirmation, deletes the surplus. */
export function repairCommand(
  context: CommandContext,
  name: string,
  { format, yes }: { format: 'text' | 'json'; yes?: true },
): Promise<number> {
  return withApp(openApp(context, { logLevel: 'error' }), async (app) => {
    const [feed] = chosenFeeds(app.config, [name])
    // Standard output is for the JSON document only.
    const { out, err } = app.doors
    const people = format === 'json' ? err : out
    const repaired = await app.repair(feed, async (plan) => {
      if (format === 'text' || !yes) people.write(planned(feed.name, plan))
      if (yes) return true
      const many = Math.min(plan.surplus, plan.allowed)
      return confirmed('repair', `Delete ${many} surplus ${many === 1 ? 'copy' : 'copies'}?`, context.signal)
    })
    if (format === 'json') out.document(documentOf(repaired), jsonDocument)
    else if (!repaired.refused) out.write(written(repaired))
    if (repaired.error !== null) throw new UserError(`${feed.name}: ${printable(repaired.error)}`)
    if (repaired.refused) return exitStatus.failed
    return isWhole(repaired) ? exitStatus.right : exitStatus.partial
  })
}

function planned(feed: string, { duplicates, surplus, allowed }: RepairPlan): string {
  const lines = [`${feed}: ${duplicates.length} MLSNumbers are on the service more than once`]
  for (const { mlsNumber, copies, stays, surplus: ids, problem } of duplicates.slice(0, shown)) {
    const what =
      stays === null ? printable(problem ?? '') : `${stays.id} stays (${stays.why}), ${ids.join(', ')} would go`
    lines.push(`  ${printable(mlsNumber)}, ${copies} copies: ${what}`)
  }
  if (duplicates.length > shown) lines.push(`  and ${duplicates.length - shown} more`)
  if (allowed < surplus) lines.push(`  limits.share allows ${allowed} of these ${surplus} deletes within 24 hours`)
  return `${lines.join('\n')}\n`
}

function written({ feed, duplicates, error }: Repaired): string {
  if (duplicates.length === 0 && error === null) return `${feed}: nothing is on the service more than once\n`
  const deleted = countDeleted(duplicates)
  const done = deleted === 0 ? 'nothing was deleted' : `${deleted} surplus ${deleted === 1 ? 'copy' : 'copies'} deleted`
  const lines = [`${feed}: ${done}`]
  for (const { mlsNumber, problem, outcomes } of duplicates) {
    if (problem !== null) lines.push(`  ${printable(mlsNumber)}: not repaired: ${printable(problem)}`)
    for (const outcome of outcomes)
      if (outcome.result !== 'deleted') lines.push(`  ${printable(mlsNumber)}: ${outcomeOf(outcome)}`)
  }
  return `${lines.join('\n')}\n`
}

function outcomeOf({ id, result, error }: CopyOutcome): string {
  return `copy ${id} ${result}${error === null ? '' : `: ${printable(error)}`}`
}

function countDeleted(duplicates: Repaired['duplicates']): number {
  return duplicates.flatMap(({ outcomes }) => outcomes).filter(({ result }) => result === 'deleted').length
}

/** Whether every MLSNumber now has one copy. */
function isWhole({ duplicates }: Repaired): boolean {
  return duplicates.every(
    ({ problem, outcomes }) => problem === null && outcomes.every((outcome) => outcome.result === 'deleted'),
  )
}

function documentOf(repaired: Repaired): object {
  const { feed, chatbot, startedAt, finishedAt, duplicates, refused, error } = repaired
  return {
    version: 1,
    feed,
    chatbot,
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: new Date(finishedAt).toISOString(),
    result: error !== null ? 'failed' : refused ? 'refused' : isWhole(repaired) ? 'ok' : 'partial',
    error,
    deleted: countDeleted(duplicates),
    listings: duplicates,
  }
}
