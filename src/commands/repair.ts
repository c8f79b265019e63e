import type { CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { jsonDocument, many, printable } from '../core/text.ts'
import type { Way } from '../run/copies.ts'
import type { Repaired, RepairOutcome, RepairPlan } from '../run/repair.ts'
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
    let asked: RepairPlan | null = null
    const repaired = await app.repair(feed, async (plan) => {
      asked = plan
      if (format === 'text' || !yes) people.write(planned(feed.name, plan))
      if (yes) return true
      const now = Math.min(plan.deletes, plan.allowed)
      return now === 0 || confirmed('repair', `Carry out ${many(now, 'delete')}?`, context.signal)
    })
    if (format === 'json') out.document(documentOf(repaired, asked), jsonDocument)
    else if (!repaired.refused) out.write(written(repaired))
    if (repaired.error !== null) throw new UserError(`${feed.name}: ${printable(repaired.error)}`)
    if (repaired.refused) return exitStatus.failed
    return isWhole(repaired) ? exitStatus.right : exitStatus.partial
  })
}

function planned(feed: string, { duplicates, deletes, allowed }: RepairPlan): string {
  const lines = [
    `${feed}: ${duplicates.length === 1 ? '1 MLSNumber is' : `${duplicates.length} MLSNumbers are`} on the service more than once`,
  ]
  for (const { mlsNumber, copies, way, problem } of duplicates.slice(0, shown))
    lines.push(
      `  ${printable(mlsNumber)}, ${copies} copies: ${printable(way === null ? (problem ?? '') : inWords(way))}`,
    )
  if (duplicates.length > shown) lines.push(`  and ${duplicates.length - shown} more`)
  if (allowed < deletes)
    lines.push(
      `  limits.share allows ${allowed} of ${deletes === 1 ? 'this 1 delete' : `these ${deletes} deletes`} within 24 hours`,
    )
  return `${lines.join('\n')}\n`
}

function inWords(way: Way): string {
  if (way.by === 'ID') return `${way.stays.id} stays (${way.stays.why}), ${way.surplus.join(', ')} would go`
  if (way.by === 'identifier') return `the one that Create called ${way.identifier} would go`
  const creates = way.creates ? 'and it would be created once' : 'and the next sync creates it'
  return `no single one can be named: all would go by their MLSNumber, ${creates}`
}

function written({ feed, duplicates, error }: Repaired): string {
  if (duplicates.length === 0)
    return error === null ? `${feed}: nothing of this feed is on the service more than once\n` : ''
  const lines = [`${feed}: ${duplicates.filter(isRight).length} of ${many(duplicates.length, 'MLSNumber')} repaired`]
  for (const { mlsNumber, problem, outcomes } of duplicates) {
    if (problem !== null) lines.push(`  ${printable(mlsNumber)}: not repaired: ${printable(problem)}`)
    for (const outcome of outcomes) lines.push(`  ${printable(mlsNumber)}: ${outcomeOf(outcome)}`)
  }
  return `${lines.join('\n')}\n`
}

function outcomeOf({ call, keyType, key, result, error }: RepairOutcome): string {
  const what = call === 'create' ? 'create' : `delete by ${keyType} ${printable(key)}`
  return `${what}: ${result}${error === null ? '' : `: ${printable(error)}`}`
}

/** Whether one copy is there now. Without an outcome, the repair ended before it came to this one. */
function isRight({ outcomes }: Repaired['duplicates'][number]): boolean {
  return outcomes.length > 0 && outcomes.every(({ result }) => result === 'done')
}

const isWhole = ({ duplicates }: Repaired): boolean => duplicates.every(isRight)

const count = (duplicates: Repaired['duplicates'], of: RepairOutcome['call']): number =>
  duplicates.flatMap(({ outcomes }) => outcomes).filter(({ call, result }) => call === of && result === 'done').length

function documentOf(repaired: Repaired, plan: RepairPlan | null): object {
  const { feed, chatbot, startedAt, finishedAt, duplicates, refused, error } = repaired
  return {
    version: 1,
    feed,
    chatbot,
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: new Date(finishedAt).toISOString(),
    result: error !== null ? 'failed' : refused ? 'refused' : isWhole(repaired) ? 'ok' : 'partial',
    error,
    deleted: count(duplicates, 'delete'),
    created: count(duplicates, 'create'),
    listings: duplicates,
    /** How many deletes it takes, and how many limits.share allows of them now; null: all. */
    planned: plan?.deletes ?? 0,
    allowed: plan !== null && plan.allowed < plan.deletes ? plan.allowed : null,
  }
}
