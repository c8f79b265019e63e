import { userInfo } from 'node:os'
import type { App, CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { minuteOf, printable } from '../core/text.ts'
import type { Held } from '../store/store.ts'
import { chosenFeeds, confirmed, withApp } from './command.ts'

const validFor = 24 * 3_600_000
const shown = 20

/**
 * `approve`: shows what the guard holds now and lets exactly that through, once, within 24 hours; `--revoke` takes back
 * what was let through and not used yet.
 */
export function approveCommand(
  context: CommandContext,
  name: string,
  options: { yes?: true; revoke?: true },
): Promise<number> {
  return withApp(openApp(context), async (app) => {
    const [feed] = chosenFeeds(app.config, [name])
    const now = (): number => app.runtime.clock.now()
    const by = userInfo().username
    if (options.revoke) {
      const revoked = await app.store().holds.revoke(feed.name, by, now())
      const said = revoked === 0 ? 'nothing is approved that could be taken back' : `${revoked} approved, taken back`
      process.stdout.write(`${feed.name}: ${said}\n`)
      return exitStatus.right
    }
    const held = await approvable(app, feed.name)
    if (held.length === 0) {
      process.stdout.write(`${feed.name}: the guard holds nothing that could be approved\n`)
      return exitStatus.right
    }
    const lines = held.slice(0, shown).map((one) => `  ${lineOf(one, now())}`)
    if (held.length > shown) lines.push(`  and ${held.length - shown} more`)
    process.stdout.write(`${feed.name}: ${held.length} held\n${lines.join('\n')}\n`)
    if (
      !options.yes &&
      !(await confirmed('approve', `Let these ${held.length} through with the next run?`, context.signal))
    )
      return exitStatus.failed
    if (namesOf(await approvable(app, feed.name)) !== namesOf(held))
      throw new UserError(`another run of ${feed.name} has ended meanwhile and holds other changes: look at them again`)
    const at = now()
    const approved = await app.store().holds.approve(feed.name, by, at, at + validFor)
    process.stdout.write(
      `${approved} approved until ${new Date(at + validFor).toISOString()}; the next run carries them out\n`,
    )
    return exitStatus.right
  })
}

async function approvable(app: App, feed: string): Promise<Held[]> {
  const held = await app.store().holds.held(feed)
  return held.filter(({ kind }) => kind !== null)
}

function namesOf(held: readonly Held[]): string {
  return JSON.stringify(held.map(({ kind, mlsNumber }) => [kind, mlsNumber]))
}

function lineOf({ kind, mlsNumber, why, since }: Held, now: number): string {
  const hours = Math.floor((now - since) / 3_600_000)
  return `${kind} ${printable(mlsNumber)}, held since ${minuteOf(since)} (${hours} h): ${printable(why)}`
}
