import { readFileSync } from 'node:fs'
import { ConfigError, UsageError, UserError, messageOf } from '../errors.ts'
import { exitStatus } from '../result.ts'
import { StandInSettingsError, readStandInSettings } from '../stand-in/settings.ts'
import type { StandInSettings } from '../stand-in/settings.ts'
import { standInFromSettings } from '../stand-in/stand-in.ts'
import type { CommandContext } from './command.ts'

/** `stand-in`: the embedded service on 127.0.0.1 until told to stop; prints its address once it listens. */
export async function standInCommand(
  context: CommandContext,
  options: { port: string; settings?: string; data?: string },
): Promise<number> {
  const port = Number(options.port)
  if (!/^\d+$/.test(options.port) || port > 65_535)
    throw new UsageError(`--port takes a number from 0 to 65535, not "${options.port}"`)
  const settings = readSettings(options.settings)
  const standIn = await standInFromSettings(settings, {
    port,
    ...(options.data !== undefined && { file: options.data }),
  }).catch((error: unknown) => {
    if (!isPortProblem(error)) throw error
    throw new UserError(`the stand-in can't listen on port ${port}: ${messageOf(error)}; name another with --port`)
  })
  process.stdout.write(`stand-in listens on ${standIn.url}\n`)
  await new Promise<void>((resolve) => {
    if (context.signal.aborted) resolve()
    else context.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await standIn.close()
  return exitStatus.right
}

/** In use, or for the system only. */
function isPortProblem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'listen'
}

function readSettings(file: string | undefined): StandInSettings {
  if (file === undefined) return readStandInSettings('{}')
  try {
    return readStandInSettings(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ConfigError(
      file,
      error instanceof StandInSettingsError ? error.problems : [`can't be read: ${messageOf(error)}`],
    )
  }
}
