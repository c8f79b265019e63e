/** Arguments, signals, exit status. Modules are loaded when a command needs them, so that `--help` is fast. */
import { Argument, Command, CommanderError, Option } from 'commander'
import type { CommandContext, Machine } from './app/app.ts'
import { createDoors } from './app/doors.ts'
import type { Doors } from './app/doors.ts'
import type { Offered, Shell } from './commands/completion.ts'
import type { LogOptions } from './app/log.ts'
import { programVersion } from './app/version.ts'
import { examples } from './commands/examples.ts'
import { UserError, messageOf } from './core/errors.ts'
import { exitStatus } from './core/exit.ts'
import { printableLines } from './core/text.ts'

/** Runs the program and ends the process with the command's exit status. */
export async function main(): Promise<void> {
  const stop = new AbortController()
  // A reader that goes away (`| head`) does not end the run.
  let unwritten: NodeJS.ErrnoException | null = null
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') unwritten ??= error
  })
  process.stderr.on('error', () => undefined)
  let signals = 0
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // The second signal ends at once; the next run settles calls in flight.
      if (++signals > 1) process.exit(exitStatus.failed)
      stop.abort(new UserError(`stopped by ${signal}`))
    })
  }
  const doors = createDoors()
  const onHangup = (listener: () => void): void => void process.on('SIGHUP', listener)
  const machine = { env: process.env, signal: stop.signal, onHangup, onCrash: crashes(doors) }
  const problem = environmentProblem(process.env)
  if (problem === null) {
    process.umask(Number.parseInt(umaskOf(process.env), 8))
    process.exitCode = await execute(process.argv.slice(2), machine, doors)
  } else {
    doors.err.write(`listing-sync: ${problem}\n`)
    process.exitCode = exitStatus.configuration
  }
  await doors.drained()
  if (unwritten !== null && process.exitCode === exitStatus.right) {
    doors.err.write(`listing-sync: standard output can't be written: ${messageOf(unwritten)}\n`)
    process.exitCode = exitStatus.failed
    await doors.drained()
  }
  // Nothing may keep the process up once its command is through: a socket kept alive, a timer of a library.
  process.exit()
}

/** The umask: files and folders are for this user alone, unless the environment says otherwise. */
const umaskOf = (env: NodeJS.ProcessEnv): string => env['LISTING_SYNC_UMASK'] || '077'

/** What is wrong with the environment, as a sentence; null: nothing. */
function environmentProblem(env: NodeJS.ProcessEnv): string | null {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
    return 'NODE_TLS_REJECT_UNAUTHORIZED=0 lets any server take the place of the service or of a feed, and get the keys; unset it. For certificates of your own authority, use service.ca and the ca of a feed'
  const level = env['LISTING_SYNC_LOG'] ?? ''
  if (level !== '' && !/^(debug|info|warn|error)$/.test(level))
    return 'LISTING_SYNC_LOG takes debug, info, warn or error'
  if (!/^0?[0-7]{3}$/.test(umaskOf(env)))
    return 'LISTING_SYNC_UMASK takes three octal digits, such as 077 (files for this user alone) or 007 (for its group, too)'
  return null
}

/**
 * Ends the process if something is thrown that nobody catches, as nothing can be trusted after that. Gives the function to register
 * what is done before.
 */
function crashes(doors: Doors): NonNullable<Machine['onCrash']> {
  const last: ((error: unknown) => void)[] = []
  process.on('uncaughtException', (error: unknown) => {
    for (const leaveWord of last) leaveWord(error)
    sayDefect(error, doors)
    process.exit(exitStatus.failed)
  })
  return (leaveWord) => last.push(leaveWord)
}

function sayDefect(error: unknown, { err }: Doors): void {
  const text = printableLines(String(error instanceof Error ? error.stack : error))
  err.write(`listing-sync: this is a defect, please report it: ${text}\n`)
}

/** Carries a command line out in this process, and gives the exit status. */
export async function execute(words: string[], machine: Machine, doors = createDoors()): Promise<number> {
  let status: number = exitStatus.right
  const forms = words.some((word) => reporting.has(word))
    ? Object.keys((await import('./app/adapters.ts')).reportForms)
    : []
  // Only if it is asked for, as it takes git, or reading files.
  const version = words.some((word) => word === '--version' || word === '-V') ? programVersion() : ''
  const program = commands(machine, doors, { forms, version }, (result) => (status = result))
  try {
    await program.parseAsync(words, { from: 'user' })
    return status
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.right : exitStatus.usage
    if (error instanceof UserError) {
      doors.err.write(`listing-sync: ${printableLines(error.message)}\n`)
      return error.exitStatus
    }
    sayDefect(error, doors)
    return exitStatus.failed
  }
}

/** Commands that write reports. Others need not wait for the forms to be loaded. */
const reporting: ReadonlySet<string> = new Set(['completion', 'diff', 'sync', 'backfill', 'runs'])

function offered(command: Command): Offered {
  const options = command.options.map(({ long, description, argChoices }) => ({
    flag: long ?? '',
    description,
    choices: argChoices ?? [],
  }))
  return {
    name: command.name(),
    description: command.description(),
    options: options.filter(({ flag }) => flag !== ''),
  }
}

/** `forms`: the names of `reportForms`. */
function commands(
  machine: Machine,
  doors: Doors,
  { forms, version }: { forms: readonly string[]; version: string },
  done: (status: number) => void,
): Command {
  const program = new Command('listing-sync')
    .description("Keeps a chatbot's real-estate listings equal to an MLS-style feed.")
    .version(version)
    .option('--config <file>', 'the configuration (default: config/listing-sync.yaml, or LISTING_SYNC_CONFIG)')
    .addOption(
      new Option(
        '--log-level <level>',
        "the lowest level that is logged (default: LISTING_SYNC_LOG, or the command's own)",
      ).choices(['debug', 'info', 'warn', 'error']),
    )
    .exitOverride()
    .configureOutput({ writeOut: doors.out.write, writeErr: doors.err.write })
    .showHelpAfterError('(see listing-sync --help)')
  const context = (): CommandContext => ({
    configFile:
      program.opts<{ config?: string }>().config ?? (machine.env['LISTING_SYNC_CONFIG'] || 'config/listing-sync.yaml'),
    ...machine,
    doors,
    logLevel: program.opts<{ logLevel?: LogOptions['level'] }>().logLevel,
  })
  const format = new Option('--format <form>', 'form of the report').choices(['text', 'json']).default('text')

  const anyForm = new Option('--format <form>', 'form of the report').choices(forms).default('text')
  const outFile = new Option('--out <file>', 'write the report to a file')
  const images = new Option('--images <hosts>', 'with html: show pictures that change, from these hosts (a,b) only')

  program
    .command('diff [feeds...]')
    .description('dry run: report what would change; write nothing')
    .addOption(anyForm)
    .addOption(outFile)
    .addOption(images)
    .action(async (feeds, options) =>
      done(await (await import('./commands/diff.ts')).diffCommand(context(), feeds, options)),
    )
  program
    .command('check [feeds...]')
    .description('try out what a daemon needs: configuration, secrets, sources, service, store, page; write nothing')
    .addOption(format)
    .action(async (feeds, options) =>
      done(await (await import('./commands/check.ts')).checkCommand(context(), feeds, options)),
    )
  program
    .command('sync [feeds...]')
    .description('run each feed once, now')
    .addOption(anyForm)
    .addOption(outFile)
    .addOption(images)
    .action(async (feeds, options) =>
      done(await (await import('./commands/sync.ts')).syncCommand(context(), feeds, options, 'sync')),
    )
  program
    .command('backfill [feeds...]')
    .description('load a whole feed once: create and update, never delete')
    .addOption(anyForm)
    .addOption(outFile)
    .addOption(images)
    .option('--feed <name>', 'the same as naming the feed')
    .option('--from <folder>', "fill the chatbot from a folder that export wrote, in place of the feed's source")
    .action(async (feeds, options) =>
      done(await (await import('./commands/sync.ts')).syncCommand(context(), feeds, options, 'backfill')),
    )
  program
    .command('export')
    .description('save what the service shows of a chatbot, and its settings as known, to a folder')
    .requiredOption('--feed <name>', 'the feed whose chatbot to save')
    .requiredOption('--out <folder>', 'a new or an empty folder')
    .addOption(
      new Option('--area-unit <unit>', 'the unit of listings whose AreaUnit the store does not know').choices([
        'square-feet',
        'square-meters',
      ]),
    )
    .addOption(format)
    .action(async (options) => done(await (await import('./commands/export.ts')).exportCommand(context(), options)))
  program
    .command('daemon')
    .description('run each feed on its schedule until stopped')
    .option('--workers <number>', 'most runs at once in this process (default: 32)')
    .action(async (options) => done(await (await import('./commands/daemon.ts')).daemonCommand(context(), options)))
  program
    .command('status [feeds...]')
    .description('show the last runs, their age, and what is held or failing, and why')
    .addOption(format)
    .option('--health', 'exit status only: whether the daemon is alive')
    .option('--ready', 'list what is wrong with the daemon or its feeds; exit status 1 if anything is')
    .action(async (feeds, options) =>
      done(await (await import('./commands/status.ts')).statusCommand(context(), feeds, options)),
    )
  program
    .command('runs [feed]')
    .description('list the latest runs, or show one by its number')
    .option('--run <number>', 'the run to show')
    .addOption(anyForm)
    .addOption(outFile)
    .addOption(images)
    .action(async (feed, options) =>
      done(await (await import('./commands/runs.ts')).runsCommand(context(), feed, options)),
    )
  program
    .command('completion')
    .description('print what a shell loads to complete commands and options')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => {
      const { completionFor } = await import('./commands/completion.ts')
      const [whole, ...all] = [program, ...program.commands].map(offered)
      doors.out.write(completionFor(shell, whole, all))
    })
  program
    .command('backup <file>')
    .description('write a whole copy of the store to a new file, also while the daemon runs')
    .action(async (file) => done(await (await import('./commands/backup.ts')).backupCommand(context(), file)))
  program
    .command('store')
    .description('copy a whole store, each a file or a postgres:// address, to a new one: store migrate FROM TO')
    .addArgument(new Argument('<what>', 'what to do with it').choices(['migrate']))
    .argument('<from>', 'the store to copy')
    .argument('<to>', 'the new store')
    .action(async (_, from, to) =>
      done(await (await import('./commands/store.ts')).storeMigrateCommand(context(), from, to)),
    )
  program
    .command('notify')
    .description('send a test of each message to each place of `notify` in the configuration')
    .option('--test', 'send them')
    .action(async (options) => done(await (await import('./commands/notify.ts')).notifyCommand(context(), options)))
  program
    .command('approve <feed>')
    .description('approve the changes the guard is holding (once)')
    .addOption(format)
    .option('--yes', 'do not ask')
    .option('--refuse', 'keep the changes held until the feed says otherwise, or you approve them')
    .addOption(new Option('--revoke', 'withdraw approvals and refusals').conflicts('refuse'))
    .action(async (feed, options) =>
      done(await (await import('./commands/approve.ts')).approveCommand(context(), feed, options)),
    )
  program
    .command('repair <feed>')
    .description('bring listings that are on the service more than once down to one copy, one at a time')
    .addOption(format)
    .option('--yes', 'do not ask')
    .action(async (feed, options) =>
      done(await (await import('./commands/repair.ts')).repairCommand(context(), feed, options)),
    )
  program
    .command('probe')
    .description('find out what the service does where its documentation is silent, with test listings that it removes')
    .requiredOption('--feed <name>', 'the feed whose service and chatbot to probe')
    .addOption(format)
    .option('--yes', 'do not ask')
    .action(async (options) => done(await (await import('./commands/probe.ts')).probeCommand(context(), options)))
  program
    .command('ask [text]')
    .description("send a message to a feed's chatbot; without a text, every line that you type")
    .requiredOption('--feed <name>', 'the feed whose service to ask')
    .option('--session <number>', 'ID of a chat session created in the service; it has to be given')
    .option('--stream', 'print the answer as it comes')
    .addOption(
      new Option(
        '--format <form>',
        'text; json: one document; jsonl: a line for each part, with --stream, and each answer',
      )
        .choices(['text', 'json', 'jsonl'])
        .default('text'),
    )
    .addOption(
      new Option('--type <kind>', 'kind of the message (default: Text)').choices(['Text', 'Image', 'Audio', 'Video']),
    )
    .option('--files <ids>', 'IDs of uploaded files, for the kinds but Text (a,b)')
    .option('--transcript <file>', 'add each question and answer to this file, as lines of JSON')
    .action(async (text, options) =>
      done(await (await import('./commands/ask.ts')).askCommand(context(), text, options)),
    )
  program
    .command('evaluate <file>')
    .description("ask a feed's chatbot the questions of a file, judge its answers, and say what share passed")
    .requiredOption('--feed <name>', 'the feed whose chatbot to ask, and whose listings fill the placeholders')
    .option('--session <number>', 'ID of a chat session created in the service; it has to be given')
    .option('--init', 'write the file: ten questions about each of a few listings')
    .option('--tries <number>', 'how often each question is asked', '1')
    .option('--threshold <percent>', 'exit status 4 if fewer tries pass', '100')
    .option('--sample <number>', 'how many of the last confirmed listings, for tests that name none', '3')
    .option('--transcript <file>', 'add each try to this file, as lines of JSON')
    .option('--junit <file>', 'write the result as JUnit XML')
    .option('--compare <file>', 'an earlier transcript: show which answers turned')
    .addOption(format)
    .action(async (file, options) =>
      done(await (await import('./commands/evaluate.ts')).evaluateCommand(context(), file, options)),
    )
  program
    .command('verify [mlsNumbers...]')
    .description("ask a feed's chatbot about listings and check its answers against what was synced")
    .requiredOption('--feed <name>', 'the feed whose chatbot to ask')
    .option('--session <number>', 'ID of a chat session created in the service (default: from the configuration)')
    .option('--sample <number>', 'how many of the last confirmed listings to ask about, if none is named')
    .addOption(format)
    .action(async (mlsNumbers, options) =>
      done(await (await import('./commands/verify.ts')).verifyCommand(context(), mlsNumbers, options)),
    )
  program
    .command('settings')
    .description("apply changed settings to a feed's chatbot")
    .requiredOption('--feed <name>', 'the feed whose chatbot to set')
    .option('--file <file>', 'the settings, as YAML or JSON (default: those of the configuration)')
    .option('--force', 'apply all settings, not only changed ones')
    .option('--dry-run', 'only show what would change')
    .option('--diff', 'the same, with exit status 2 if anything would')
    .option('--history', 'list the latest changes, with their numbers')
    .option(
      '--rollback [number]',
      'take back the latest change, or all since the one with this number, itself included',
    )
    .addOption(format)
    .action(async (options) => done(await (await import('./commands/settings.ts')).settingsCommand(context(), options)))
  program
    .command('inspect [source]')
    .description('show what is in a feed, which preset fits, how records would map and what would be rejected')
    .option('--feed <name>', 'the source of this feed of the configuration')
    .option('--preset <name>', 'name of a preset, or path of your own (default: the best match)')
    .option('--init', 'write a starting configuration (to the file of --config)')
    .option('--records <number>', 'read only so many records')
    .addOption(format)
    .action(async (source, options) =>
      done(await (await import('./commands/inspect.ts')).inspectCommand(context(), source, options)),
    )
  program
    .command('stand-in [what]')
    .description('run a local stand-in for the listing service, or, with "reso", for a RESO Web API')
    .option('--port <number>', 'port on 127.0.0.1', '8080')
    .option('--settings <file>', 'keys, sessions, files, profile and faults, as YAML')
    .option('--data <file>', 'keep listings and settings in this file')
    .option(
      '--vendor <name>',
      'with reso: whose API it behaves like (mlsgrid, bridge, trestle, spark, crea, utah, generic)',
    )
    .option('--homes <number>', 'with reso: how many invented homes it has (default: 100)')
    .action(async (what, options) =>
      done(await (await import('./commands/stand-in.ts')).standInCommand(context(), what, options)),
    )
  program
    .command('demo')
    .description('a short demo without setup: stand-in, sample feed, first load, changed feed, diff, sync')
    .option('--reso', 'from a local RESO Web API in place of a file')
    .action(async (options) => done(await (await import('./commands/demo.ts')).demoCommand(context(), options)))
  for (const command of program.commands) {
    command.exitOverride()
    command.addHelpText('after', ['', 'Examples:', ...examples[command.name()].map((line) => `  ${line}`)].join('\n'))
  }
  return program
}
