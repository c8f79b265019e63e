import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { scheduler } from 'node:timers/promises'
import type { z } from 'zod'
import { control, isControlPath } from './control.ts'
import { failure } from './envelope.ts'
import type { FaultRuleInput } from './faults.ts'
import type { Operation, StandInListing } from './fields.ts'
import { filesSchema } from './files.ts'
import type { JournalEntry } from './journal.ts'
import type { StandInKeys } from './parts.ts'
import { profileSchema } from './profile.ts'
import type { StandInProfileInput } from './profile.ts'
import type { Row } from './rows.ts'
import type { ChatbotSettings } from './setting-fields.ts'
import type { StandInSettings } from './settings.ts'
import { htmlPage, send, sendReply } from './wire.ts'
import type { Delay } from './wire.ts'
import { World } from './world.ts'

export interface StandInOptions {
  /** Default 127.0.0.1. */
  host?: string
  /** Default 0: a free one. */
  port?: number
  /** Keys that calls must carry; one left out is right whatever it is. */
  keys?: StandInKeys
  /** The chatbot of each chat session, by the session's ID. Left out: any session is one of the only chatbot. */
  sessions?: Readonly<Record<string, string>> | undefined
  /** Uploaded files by ID. Left out: any ID is a file that fits. */
  files?: z.input<typeof filesSchema> | undefined
  /** Answers to what the interface leaves open. */
  profile?: StandInProfileInput
  faults?: FaultRuleInput[]
  /** Keeps the rows and the settings in this file from one start to the next; without it they are in memory only. */
  file?: string
  /** At least so many of the last requests stay in the journal. Default 50,000. */
  keepRequests?: number
  /** How pauses of faults are waited for. Default: real time. */
  delay?: Delay
  /** Milliseconds since the epoch, for the journal and the rate limit. Default: real time. */
  now?: () => number
}

/** A running stand-in. Whatever is done here rather than over HTTP counts as done by a person, past the API. */
export interface StandIn {
  /** Base address, without a slash at its end. */
  readonly url: string
  readonly port: number
  /** The latest requests, oldest first. */
  readonly requests: readonly JournalEntry[]
  /** How many requests there were of each operation. */
  readonly counts: Readonly<Record<Operation, number>>
  /** The rows as they truly are, in order of ID, whatever List shows. */
  listings(serialNumber: string): readonly Row[]
  /** What Edit has set of a chatbot; empty where nothing was. */
  settings(serialNumber: string): Readonly<ChatbotSettings>
  /** Puts rows there, unchecked: also such as Create would refuse. */
  seed(serialNumber: string, listings: readonly StandInListing[]): Row[]
  /** Changes fields (undefined takes one away) of every row with exactly this MLSNumber; gives their number. */
  edit(serialNumber: string, mlsNumber: string, patch: Partial<StandInListing>): number
  remove(serialNumber: string, mlsNumber: string): number
  /** Throws a ZodError where the rule is not well-formed. */
  addFault(rule: FaultRuleInput): void
  clearFaults(): void
  /** Gives other answers from now on; what is not named stays. */
  changeProfile(changes: StandInProfileInput): void
  /** Carries out the calls that a `late` fault still holds back; gives their number. */
  landLateCalls(): number
  /** Empties the journal and sets the counts to 0; rules of faults go on counting. */
  resetCounts(): void
  /** Cuts every connection, hanging ones too. */
  close(): Promise<void>
}

const operationPaths = new Map<string, Operation>([
  ['/chat/Chatbot/RealEstateCreate', 'Create'],
  ['/chat/Chatbot/RealEstateUpdate', 'Update'],
  ['/chat/Chatbot/RealEstateList', 'List'],
  ['/chat/Chatbot/RealEstateDelete', 'Delete'],
  ['/chat/Chatbot/Edit', 'Edit'],
  ['/chat/Chat/ClientAsk', 'ClientAsk'],
])

/**
 * Starts a local service that implements the six operations as `service-interface.md` has them. Throws where the profile, a
 * fault or a file is not well-formed, the data file is not a stand-in's, or the port is taken.
 */
export async function startStandIn(options: StandInOptions = {}): Promise<StandIn> {
  const { host = '127.0.0.1', port = 0, keys = {}, profile = {}, faults = [], file, keepRequests = 50_000 } = options
  // The stand-in is a program of its own beside the daemon: time is real unless a test hands in another.
  const { delay = (milliseconds) => scheduler.wait(milliseconds), now = realNow } = options
  const { sessions = null } = options
  const files = options.files ? filesSchema.parse(options.files) : null
  const world = new World({ keys, sessions, files, profile, file, keepRequests, delay, now })
  for (const rule of faults) world.faults.add(rule)

  const server = createServer((request, response) => {
    response.on('error', () => response.destroy())
    route(world, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  const address = server.address()
  const actual = typeof address === 'object' && address ? address.port : port

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    port: actual,
    get requests() {
      return world.journal.entries
    },
    get counts() {
      return world.journal.counts
    },
    listings: (serialNumber) => world.rows.all(serialNumber),
    settings: (serialNumber) => world.chatbots.settings(serialNumber),
    seed: (serialNumber, listings) => world.seed(serialNumber, listings),
    edit: (serialNumber, mlsNumber, patch) => world.edit(serialNumber, mlsNumber, patch),
    remove: (serialNumber, mlsNumber) => world.remove(serialNumber, mlsNumber),
    addFault: (rule) => world.faults.add(rule),
    clearFaults: () => void world.faults.clear(),
    changeProfile: (changes) => {
      world.profile = profileSchema.parse({ ...world.profile, ...changes })
    },
    landLateCalls: () => world.landLateCalls(),
    resetCounts: () => world.journal.reset(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Starts a stand-in as a settings file has it; `place` says where it listens and keeps its rows. */
export function standInFromSettings(
  settings: StandInSettings,
  place: Pick<StandInOptions, 'host' | 'port' | 'file'> = {},
): Promise<StandIn> {
  return startStandIn({ ...settings, ...place })
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
