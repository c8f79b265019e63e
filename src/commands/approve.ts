import { userInfo } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { openApp } from '../app.ts'
import { UsageError } from '../errors.ts'
import { exitStatus } from '../result.ts'
import { printable } from '../text.ts'
import { chosenFeeds, withApp } from './command.ts'
import type { CommandContext } from './command.ts'

const validFor = 24 * 3_600_000
const shown = 20

/** `approve`: shows what the guard holds now and lets exactly that through, once, within 24 hours. */
export function approveCommand(context: CommandContext, name: string, options: { yes?: true }): Promise<number> {
  return withApp(openApp(context), async (app) => {
    const [feed] = chosenFeeds(app.config, [name])
    const held = app
      .store()
      .held(feed.name)
      .filter((one) => one.kind !== null)
    if (held.length === 0) {
      process.stdout.write(`${feed.name}: the guard holds nothing that could be approved\n`)
      return exitStatus.right
    }
    const lines = held.slice(0, shown).map((one) => `  ${one.kind} ${printable(one.mlsNumber)}: ${printable(one.why)}`)
    if (held.length > shown) lines.push(`  and ${held.length - shown} more`)
    process.stdout.write(`${feed.name}: ${held.length} held\n${lines.join('\n')}\n`)
    if (!options.yes && !(await confirmed(`Let these ${held.length} through with the next run?`, context.signal)))
      return exitStatus.failed
    const now = app.runtime.clock.now()
    const approved = app.store().approve(feed.name, userInfo().username, now, now + validFor)
    process.stdout.write(
      `${approved} approved until ${new Date(now + validFor).toISOString()}; the next run carries them out\n`,
    )
    return exitStatus.right
  })
}

async function confirmed(question: string, signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError('approve asks on a terminal; elsewhere say --yes')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal })).trim())
  } finally {
    terminal.close()
  }
}
