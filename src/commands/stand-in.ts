import { readFileSync } from 'node:fs'
import type { CommandContext } from '../app/app.ts'
import { ConfigError, UsageError, UserError, messageOf } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { systemClock } from '../core/machine.ts'
import { profileNames } from '../stand-in/reso/profiles.ts'
import { addHomes, startReso } from '../stand-in/reso/server.ts'
import { StandInSettingsError, readStandInSettings } from '../stand-in/settings.ts'
import type { StandInSettings } from '../stand-in/settings.ts'
import { startStandIn } from '../stand-in/stand-in.ts'

interface StandInOptions {
  port: string
  settings?: string
  data?: string
  vendor?: string
  homes?: string
}

/** `stand-in`: runs a local service on 127.0.0.1 until stopped; prints its address once it listens. With `reso`, a RESO Web API. */
export async function standInCommand(
  context: CommandContext,
  what: string | undefined,
  options: StandInOptions,
): Promise<number> {
  const port = Number(options.port)
  if (!/^\d+$/.test(options.port) || port > 65_535)
    throw new UsageError(`--port takes a number from 0 to 65535, not "${options.port}"`)
  if (what === 'reso') return resoCommand(context, port, options)
  if (what !== undefined) throw new UsageError(`stand-in runs the listing service, or "reso"; not "${what}"`)
  if (options.vendor !== undefined || options.homes !== undefined)
    throw new UsageError('--vendor and --homes are for: stand-in reso')
  const settings = readSettings(options.settings)
  const standIn = await startStandIn({
    ...settings,
    port,
    ...(options.data !== undefined && { file: options.data }),
  }).catch((error: unknown) => {
    throw startProblem(error, port, options.data)
  })
  context.doors.out.write(`stand-in listens on ${standIn.url}\n`)
  await stopped(context)
  await standIn.close()
  return exitStatus.right
}

/** The token, and the client's ID and secret, that the local API takes. */
const credentials = { token: 'stand-in', client: { id: 'stand-in', secret: 'stand-in' } }

async function resoCommand(
  context: CommandContext,
  port: number,
  { vendor = 'generic', homes = '100', settings, data }: StandInOptions,
): Promise<number> {
  if (settings !== undefined || data !== undefined)
    throw new UsageError('--settings and --data are not for: stand-in reso')
  const name = profileNames.find((profile) => profile === vendor)
  if (name === undefined) throw new UsageError(`--vendor is one of ${profileNames.join(', ')}, not "${vendor}"`)
  if (!/^\d{1,6}$/.test(homes)) throw new UsageError(`--homes takes a number up to 999999, not "${homes}"`)
  const clock = context.clock ?? systemClock
  const reso = await startReso({ vendor: name, port, now: () => clock.now(), ...credentials }).catch(
    (error: unknown) => {
      throw startProblem(error, port, undefined)
    },
  )
  addHomes(reso.world, Number(homes))
  const auth =
    reso.tokenUrl === null
      ? `token: ${credentials.token}`
      : `clientId: ${credentials.client.id}, clientSecret: ${credentials.client.secret}, tokenUrl: ${reso.tokenUrl}`
  const expand = name === 'mlsgrid' || name === 'bridge' || name === 'crea' ? '' : ', expand: [Media]'
  const filter = reso.world.profile.needs === null ? '' : `, filter: "${reso.world.profile.needs} eq 'actris'"`
  context.doors.out.write(
    `stand-in listens on ${reso.root}\nsource: { reso: ${reso.root}, vendor: ${name}, auth: { ${auth} }${filter}${expand} }\n`,
  )
  await stopped(context)
  await reso.close()
  return exitStatus.right
}

const stopped = ({ signal }: CommandContext): Promise<void> =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

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
