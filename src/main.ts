/** Arguments, signals, exit status. Parts are loaded when a command needs them, so that `--help` answers at once. */
import { readFileSync } from 'node:fs'
import { Command, CommanderError, Option } from 'commander'
import type { CommandContext, Machine } from './app/app.ts'
import { UserError } from './core/errors.ts'
import { exitStatus } from './core/exit.ts'
import { printableLines } from './core/text.ts'

/** Runs the program and ends the process with the command's exit status. */
export async function main(): Promise<void> {
  const stop = new AbortController()
  // A reader that goes away (`| head`) ends the reading, not the run.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  let signals = 0
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // The second one means it: whatever is under way is settled by the next run.
      if (++signals > 1) process.exit(exitStatus.failed)
      stop.abort(new UserError(`stopped by ${signal}`))
    })
  }
  process.exitCode = await execute(process.argv.slice(2), { env: process.env, signal: stop.signal, onCrash: crashes() })
  // Nothing may keep the process up once its command is through: a socket kept alive, a timer of a library.
  process.stdout.write('', () => process.stderr.write('', () => process.exit()))
}

/**
 * Ends the process where something was thrown that nobody caught, as nothing can be trusted after it. Whoever is registered
 * with what this gives leaves a word before, and gives the error as it may be shown.
 */
function crashes(): NonNullable<Machine['onCrash']> {
  const last: ((error: unknown) => unknown)[] = []
  process.on('uncaughtException', (error: unknown) => {
    sayDefect(last.reduce((told, leaveWord) => leaveWord(told), error))
    process.exit(exitStatus.failed)
  })
  return (leaveWord) => last.push(leaveWord)
}

function sayDefect(error: unknown): void {
  const text = printableLines(String(error instanceof Error ? error.stack : error))
  process.stderr.write(`listing-sync: this is a defect, please report it: ${text}\n`)
}

/** Carries out the words of a command line in this process; gives the exit status. */
export async function execute(words: string[], machine: Machine): Promise<number> {
  let status: number = exitStatus.right
  const forms = words.includes('diff') ? Object.keys((await import('./app/adapters.ts')).reportForms) : []
  const program = commands(machine, forms, (result) => (status = result))
  try {
    await program.parseAsync(words, { from: 'user' })
    return status
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.right : exitStatus.usage
    if (error instanceof UserError) {
      process.stderr.write(`listing-sync: ${printableLines(error.message)}\n`)
      return error.exitStatus
    }
    sayDefect(error)
    return exitStatus.failed
  }
}

/** `forms`: the names of `reportForms`, for `diff` alone. */
function commands(machine: Machine, forms: readonly string[], done: (status: number) => void): Command {
  const program = new Command('listing-sync')
    .description("Keeps a chatbot's real-estate listings equal to what an MLS-style feed says.")
    .version(version())
    .option('--config <file>', 'the configuration (default: config/listing-sync.yaml, or LISTING_SYNC_CONFIG)')
    .exitOverride()
    .showHelpAfterError('(see listing-sync --help)')
  const context = (): CommandContext => ({
    configFile:
      program.opts<{ config?: string }>().config ?? machine.env['LISTING_SYNC_CONFIG'] ?? 'config/listing-sync.yaml',
    ...machine,
  })
  const format = new Option('--format <form>', 'the report: for people, or one JSON document')
    .choices(['text', 'json'])
    .default('text')

  const anyForm = new Option('--format <form>', 'the report: for people, for a program, for a ticket, for a browser')
    .choices(forms)
    .default('text')

  program
    .command('diff [feeds...]')
    .description('dry run: what would change, as a report; nothing is written')
    .addOption(anyForm)
    .option('--out <file>', 'write the report to a file')
    .action(async (feeds, options) =>
      done(await (await import('./commands/diff.ts')).diffCommand(context(), feeds, options)),
    )
  program
    .command('sync [feeds...]')
    .description('one run now')
    .addOption(format)
    .action(async (feeds, options) =>
      done(await (await import('./commands/sync.ts')).syncCommand(context(), feeds, options, 'sync')),
    )
  program
    .command('backfill [feeds...]')
    .description('one-off load of a whole feed: creates and updates, never deletes')
    .addOption(format)
    .action(async (feeds, options) =>
      done(await (await import('./commands/sync.ts')).syncCommand(context(), feeds, options, 'backfill')),
    )
  program
    .command('daemon')
    .description('runs each feed on its schedule until told to stop')
    .action(async () => done(await (await import('./commands/daemon.ts')).daemonCommand(context())))
  program
    .command('status [feeds...]')
    .description('last runs, freshness, what is held or failing, and why')
    .addOption(format)
    .option('--health', 'only say by the exit status whether the daemon is alive')
    .option('--ready', 'say what is wrong with the daemon or the freshness of its feeds; the exit status is 1 then')
    .action(async (feeds, options) =>
      done(await (await import('./commands/status.ts')).statusCommand(context(), feeds, options)),
    )
  program
    .command('approve <feed>')
    .description('lets the changes that the guard holds now through, once, within 24 hours')
    .option('--yes', 'do not ask')
    .option('--revoke', 'take back what was approved and not used yet')
    .action(async (feed, options) =>
      done(await (await import('./commands/approve.ts')).approveCommand(context(), feed, options)),
    )
  program
    .command('repair <feed>')
    .description('takes surplus copies of listings off that the service shows twice, one at a time')
    .addOption(format)
    .option('--yes', 'do not ask')
    .action(async (feed, options) =>
      done(await (await import('./commands/repair.ts')).repairCommand(context(), feed, options)),
    )
  program
    .command('probe')
    .description('learns what the service does where its document says nothing, with test listings that it removes')
    .requiredOption('--feed <name>', 'whose service and chatbot are asked')
    .addOption(format)
    .option('--yes', 'do not ask')
    .action(async (options) => done(await (await import('./commands/probe.ts')).probeCommand(context(), options)))
  program
    .command('ask [text]')
    .description("asks a feed's chatbot what it makes of the listings; without a text, every line that you type")
    .requiredOption('--feed <name>', 'whose service is asked')
    .requiredOption('--session <number>', 'the chat session, as the service gave it')
    .option('--stream', 'print the answer as it comes')
    .action(async (text, options) =>
      done(await (await import('./commands/ask.ts')).askCommand(context(), text, options)),
    )
  program
    .command('verify [mlsNumbers...]')
    .description("asks a feed's chatbot about listings, and whether its answers agree with what was synced")
    .requiredOption('--feed <name>', 'whose chatbot is asked')
    .option('--session <number>', 'the chat session, as the service gave it; left out: that of the configuration')
    .option('--sample <number>', 'ask about so many of the listings confirmed last, where none is named')
    .addOption(format)
    .action(async (mlsNumbers, options) =>
      done(await (await import('./commands/verify.ts')).verifyCommand(context(), mlsNumbers, options)),
    )
  program
    .command('settings')
    .description("applies what changed in a file of settings to a feed's chatbot")
    .requiredOption('--feed <name>', 'whose chatbot is set')
    .option('--file <file>', 'the settings, as YAML or JSON; left out: those of the configuration')
    .option('--force', 'apply all of them, also those that were applied before')
    .option('--dry-run', 'only show what would change')
    .action(async (options) => done(await (await import('./commands/settings.ts')).settingsCommand(context(), options)))
  program
    .command('inspect <source>')
    .description('what is in this feed, which preset fits, how its records would be mapped, what would be rejected')
    .option('--preset <name>', 'a preset by its name, or the path of your own; left out: the one that fits best')
    .option('--init', 'write a starting configuration (to the file of --config)')
    .option('--records <number>', 'read so many records only')
    .addOption(format)
    .action(async (source, options) =>
      done(await (await import('./commands/inspect.ts')).inspectCommand(context(), source, options)),
    )
  program
    .command('stand-in')
    .description('a local service that implements the interface')
    .option('--port <number>', 'port on 127.0.0.1', '8080')
    .option('--settings <file>', 'keys, sessions, files, profile and faults, as YAML')
    .option('--data <file>', 'keep listings and settings in this file')
    .action(async (options) => done(await (await import('./commands/stand-in.ts')).standInCommand(context(), options)))
  program
    .command('demo')
    .description(
      'the main job on embedded parts: stand-in, fixture feed, backfill, a changed delivery, diff, sync, report',
    )
    .action(async () => done(await (await import('./commands/demo.ts')).demoCommand(context())))
  for (const command of program.commands) command.exitOverride()
  return program
}

function version(): string {
  return (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version
}
