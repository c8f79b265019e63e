import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { scheduler } from 'node:timers/promises'
import { control, isControlPath } from './control.ts'
import { failure } from './envelope.ts'
import type { FaultRuleInput } from './faults.ts'
import type { Operation, StandInListing } from './fields.ts'
import { profileSchema } from './profile.ts'
import type { StandInProfileInput } from './profile.ts'
import { filesSchema } from './settings.ts'
import type { StandInSettingsInput } from './settings.ts'
import { htmlPage, send, sendReply } from './wire.ts'
import type { Delay } from './wire.ts'
import { World } from './world.ts'

/** A settings file, where the stand-in listens and keeps its rows, and what tests replace. */
export interface StandInOptions extends StandInSettingsInput {
  /** Default 127.0.0.1. */
  host?: string
  /** Default 0: a free one. */
  port?: number
  /** Keeps rows and settings in this file; default: in memory only. */
  file?: string
  /** The journal keeps at least so many of the last requests. Default 50,000. */
  keepRequests?: number
  /** Waits for pauses of faults. Default: real time. */
  delay?: Delay
  /** Milliseconds since the epoch, for the journal and the rate limit. Default: real time. */
  now?: () => number
}

/** A running stand-in. Its methods act like a person past the API. */
export type StandIn = Awaited<ReturnType<typeof startStandIn>>

const operationPaths = new Map<string, Operation>([
  ['/chat/Chatbot/RealEstateCreate', 'Create'],
  ['/chat/Chatbot/RealEstateUpdate', 'Update'],
  ['/chat/Chatbot/RealEstateList', 'List'],
  ['/chat/Chatbot/RealEstateDelete', 'Delete'],
  ['/chat/Chatbot/Edit', 'Edit'],
  ['/chat/Chat/ClientAsk', 'ClientAsk'],
])

/**
 * Starts a local service with the six operations of docs/service.md. Throws for an invalid profile, fault or file, for a data
 * file of another kind, and if the port is taken.
 */
export async function startStandIn(options: StandInOptions = {}) {
  const { host = '127.0.0.1', port = 0, keys = {}, profile = {}, faults = [], file, keepRequests = 50_000 } = options
  // The stand-in is a separate program: time is real unless a test passes another.
  const { delay = (milliseconds) => scheduler.wait(milliseconds), now = realNow } = options
  const { sessions } = options
  const files = filesSchema.optional().parse(options.files)
  const world = new World({ keys, sessions, files, profile, file, keepRequests, delay, now })
  for (const rule of faults) world.faults.add(rule)

  const ownNames: ReadonlySet<string | null> = new Set([host, '127.0.0.1', 'localhost', '[::1]'])
  const server = createServer((request, response) => {
    response.on('error', () => response.destroy())
    // A page in a browser may send requests here under any other name that it has pointed at this machine.
    if (!ownNames.has(hostOf(request.headers.host))) send(response, 421, 'text/plain', 'not my name')
    else route(world, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  const address = server.address()
  const actual = typeof address === 'object' && address ? address.port : port

  return {
    /** Base address, without a slash at its end. */
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    port: actual,
    /** The latest requests, oldest first. */
    get requests() {
      return world.journal.entries
    },
    /** How many requests there were of each operation. */
    get counts() {
      return world.journal.counts
    },
    /** The actual rows in order of ID, whatever List shows. */
    listings: (serialNumber: string) => world.rows.all(serialNumber),
    /** The settings of a chatbot made by Edit. */
    settings: (serialNumber: string) => world.chatbots.settings(serialNumber),
    /** Adds rows unchecked, even if Create would refuse them. */
    seed: (serialNumber: string, listings: readonly StandInListing[]) => world.seed(serialNumber, listings),
    /** Changes fields (undefined removes one) of every row with exactly this MLSNumber; returns their number. */
    edit: (serialNumber: string, mlsNumber: string, patch: Partial<StandInListing>) =>
      world.edit(serialNumber, mlsNumber, patch),
    remove: (serialNumber: string, mlsNumber: string) => world.remove(serialNumber, mlsNumber),
    /** Throws a ZodError for an invalid rule. */
    addFault: (rule: FaultRuleInput) => world.faults.add(rule),
    clearFaults: () => void world.faults.clear(),
    /** Changes the named answers from now on. */
    changeProfile(changes: StandInProfileInput): void {
      world.profile = profileSchema.parse({ ...world.profile, ...changes })
    },
    /** Carries out the calls that a `late` fault holds back; returns their number. */
    landLateCalls: () => world.landLateCalls(),
    /** Empties the journal and resets the counts, but not those of fault rules. */
    resetCounts: () => world.journal.reset(),
    /** Cuts every connection, hanging ones too. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The host of a Host header, without the port; null: there is none. */
function hostOf(header: string | undefined): string | null {
  return header === undefined ? null : (URL.parse(`http://${header}`)?.hostname ?? null)
}

async function route(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://stand-in')
  if (isControlPath(url)) return control(world, url, request, response)
  const operation = operationPaths.get(url.pathname)
  if (!operation) return send(response, 404, 'text/html', htmlPage)
  if (request.method !== 'POST') return sendReply(response, failure(405, 'Only POST', world.profile.version, 405))
  return world.handle(operation, request, response)
}

function realNow(): number {
  return performance.timeOrigin + performance.now()
}
