import { readFileSync } from 'node:fs'
import { UsageError, UserError, messageOf } from '../errors.ts'
import { exitStatus } from '../result.ts'
import { readStandInSettings, standInFromSettings } from '../stand-in/settings.ts'
import type { CommandContext } from './command.ts'

/** `stand-in`: the embedded service on 127.0.0.1 until told to stop; prints its address once it listens. */
export async function standInCommand(
  context: CommandContext,
  options: { port: string; settings?: string; data?: string },
): Promise<number> {
  const port = Number(options.port)
  if (!/^\d+$/.test(options.port) || port > 65_535)
    throw new UsageError(`--port takes a number from 0 to 65535, not "${options.port}"`)
  const settings = options.settings === undefined ? {} : readStandInSettings(readText(options.settings))
  const standIn = await standInFromSettings({
    ...settings,
    port,
    ...(options.data !== undefined && { file: options.data }),
  })
  process.stdout.write(`stand-in listens on ${standIn.url}\n`)
  await new Promise<void>((resolve) => {
    if (context.signal.aborted) resolve()
    else context.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await standIn.close()
  return exitStatus.right
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UserError(`the settings ${file} can't be read: ${messageOf(error)}`)
  }
}
