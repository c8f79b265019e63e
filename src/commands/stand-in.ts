import { readFileSync } from 'node:fs'
import type { CommandContext } from '../app/app.ts'
import { ConfigError, UsageError, UserError, messageOf } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { StandInSettingsError, readStandInSettings } from '../stand-in/settings.ts'
import type { StandInSettings } from '../stand-in/settings.ts'
import { startStandIn } from '../stand-in/stand-in.ts'

/** `stand-in`: runs a local service on 127.0.0.1 until stopped; prints its address once it listens. */
export async function standInCommand(
  context: CommandContext,
  options: { port: string; settings?: string; data?: string },
): Promise<number> {
  const port = Number(options.port)
  if (!/^\d+$/.test(options.port) || port > 65_535)
    throw new UsageError(`--port takes a number from 0 to 65535, not "${options.port}"`)
  const settings = readSettings(options.settings)
  const standIn = await startStandIn({
    ...settings,
    port,
    ...(options.data !== undefined && { file: options.data }),
  }).catch((error: unknown) => {
    throw startProblem(error, port, options.data)
  })
  context.doors.out.write(`stand-in listens on ${standIn.url}\n`)
  await new Promise<void>((resolve) => {
    if (context.signal.aborted) resolve()
    else context.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await standIn.close()
  return exitStatus.right
}

/** A `UserError` for what the user can correct, else the error itself. */
function startProblem(error: unknown, port: number, data: string | undefined): unknown {
  if (!(error instanceof Error)) return error
  const call = 'syscall' in error ? error.syscall : null
  if (call === 'listen')
    return new UserError(`the stand-in can't listen on port ${port}: ${error.message}; name another with --port`)
  const isOfData = data !== undefined && (call !== null || error.message.startsWith(data))
  return isOfData ? new UserError(`the stand-in can't keep its data in ${data}: ${error.message}`) : error
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
