/** A daemon in this process with its pages, asked as a browser or a program asks them. */
import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { rmSync } from 'node:fs'
import { heartbeatFile } from '../../bin/heartbeat.mjs'
import { daemonCommand } from '../../src/commands/daemon.ts'
import { ManualClock } from '../daemon/manual-clock.ts'
import { RunWorld } from '../support/run-world.ts'
import { until } from '../support/until.ts'

export const token = 'a-token-of-the-test-0123456789'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

export interface Asking {
  method?: string
  headers?: Record<string, string>
  /** Sent as a form. */
  form?: Record<string, string>
}

/** Asks over a connection of its own; `Host` and the rest as they are given. */
export function ask(address: string, path: string, { method, headers = {}, form }: Asking = {}): Promise<Answer> {
  const { hostname, port } = new URL(address)
  const body = form === undefined ? '' : new URLSearchParams(form).toString()
  const type = form === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        hostname,
        port,
        path,
        method: method ?? (form === undefined ? 'GET' : 'POST'),
        headers: { ...type, 'Content-Length': String(Buffer.byteLength(body)), ...headers },
        agent: false,
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => (text += piece))
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }))
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

export class Served {
  readonly world: RunWorld
  readonly clock: ManualClock
  readonly logged: { level: string; msg: string; [fact: string]: unknown }[] = []
  readonly #stop = new AbortController()
  readonly #ended: Promise<number>

  private constructor(world: RunWorld, clock: ManualClock) {
    this.world = world
    this.clock = clock
    const writeLog = (line: string): unknown => this.logged.push(JSON.parse(line))
    this.#ended = daemonCommand({ ...world.context, signal: this.#stop.signal, clock, writeLog })
  }

  /** `http`: laid over what listens on a free port. `deliver` puts feeds in place before the first run. */
  static async start(
    http: object = {},
    {
      feeds = { north: { schedule: '0 * * * *' } },
      deliver = () => undefined,
      more = {},
    }: { feeds?: Record<string, object>; deliver?: (world: RunWorld) => unknown; more?: object } = {},
  ): Promise<Served> {
    const world = await RunWorld.start({ standIn: { keys: {} } })
    world.configure(feeds, {}, undefined, { http: { listen: '127.0.0.1:0', ...http }, ...more })
    await deliver(world)
    const served = new Served(world, new ManualClock('2026-11-21T12:10:00Z'))
    served.#ended.catch(() => undefined)
    await until(() => served.logged.some(({ msg }) => msg === 'pages are served' || msg === 'daemon stopped'))
    return served
  }

  get address(): string {
    return this.logged.find(({ msg }) => msg === 'pages are served')!['address'] as string
  }

  get host(): string {
    return new URL(this.address).host
  }

  runs(): number {
    return this.logged.filter(({ msg }) => msg === 'run finished' || msg === 'run failed').length
  }

  ask(path: string, asking?: Asking): Promise<Answer> {
    return ask(this.address, path, asking)
  }

  /** As who has the token. */
  askAs(path: string, asking: Asking = {}): Promise<Answer> {
    return this.ask(path, { ...asking, headers: { Authorization: `Bearer ${token}`, ...asking.headers } })
  }

  /** Runs the feeds once more, an hour later. */
  async runAgain(): Promise<void> {
    const before = this.runs()
    await this.clock.pass(3_600_000)
    await until(() => this.runs() > before)
  }

  async end(): Promise<void> {
    this.#stop.abort()
    await this.#ended.catch(() => undefined)
    rmSync(heartbeatFile(this.world.configFile), { force: true })
    await this.world.end()
  }
}
