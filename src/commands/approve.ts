import type { CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { chosenFeeds, confirmed, withApp } from './command.ts'
import { byRule, groupInWords, isApprovable, lineOf, whoIsIt } from './held.ts'

const examples = 5

/**
 * `approve`: shows what the guard holds now and lets exactly that through, once; `--refuse` keeps it held until the feed
 * says otherwise; `--revoke` takes back either. `ask` puts the question. Throws where something else is held by the time of
 * the answer, or somebody else has decided: then that is shown, and nothing is decided.
 */
export function approveCommand(
  context: CommandContext,
  name: string,
  options: { yes?: true; refuse?: true; revoke?: true },
  ask = confirmed,
): Promise<number> {
  return withApp(openApp(context), async (app) => {
    const [feed] = chosenFeeds(app.config, [name])
    const { out } = app.doors
    const say = (text: string): void => out.write(`${feed.name}: ${text}\n`)
    const { holds } = app.store()
    const now = app.runtime.clock.now()
    if (options.revoke) {
      const revoked = await holds.decide(feed.name, null, whoIsIt(), now, null)
      say(revoked === 0 ? 'nothing was approved or refused that could be taken back' : `${revoked} decided, taken back`)
      return exitStatus.right
    }
    const show = async (): Promise<number> => {
      const held = (await holds.held(feed.name, app.runtime.clock.now())).filter(isApprovable)
      say(held.length === 0 ? 'the guard holds nothing that could be approved' : `${held.length} held`)
      for (const [rules, group] of byRule(held)) {
        const lines = group.slice(0, examples).map((one) => `    ${lineOf(one)}`)
        if (group.length > examples) lines.push(`    and ${group.length - examples} more`)
        out.write(`  ${groupInWords(rules, group, feed)}\n${lines.join('\n')}\n`)
      }
      return held.length
    }
    const fingerprint = await holds.fingerprint(feed.name)
    const count = await show()
    if (count === 0) return exitStatus.right
    const decision = options.refuse ? 'refused' : 'approved'
    const question = options.refuse
      ? `Keep these ${count} held until the feed says otherwise?`
      : `Let these ${count} through with the next run?`
    if (!options.yes && !(await ask('approve', question, context.signal))) return exitStatus.failed
    const decided = await holds.decide(feed.name, decision, whoIsIt(), app.runtime.clock.now(), fingerprint)
    if (decided === null) {
      await show()
      throw new UserError(
        `${feed.name}: nothing was ${decision}, as a run ended or somebody else decided meanwhile; the last list is what is held now`,
      )
    }
    say(
      options.refuse
        ? `${decided} refused; they stay held until the feed says otherwise`
        : `${decided} approved; the next run carries them out if the feed still says so`,
    )
    return exitStatus.right
  })
}
