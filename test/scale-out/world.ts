/** Many workers, chatbots and feeds on one database, each as a process: the service is the stand-in, in a process of its own. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import type { JournalEntry } from '../../src/stand-in/journal.ts'
import { zillowFeed } from '../support/homes.ts'
import type { Home } from '../support/homes.ts'
import { startPostgres } from '../support/postgres.ts'
import type { PostgresServer } from '../support/postgres.ts'
import { command, program } from '../support/program.ts'
import type { Ended } from '../support/program.ts'

const workerFile = fileURLToPath(new URL('./worker.ts', import.meta.url))

export interface ScaleOptions {
  /** Names of feeds, each with its chatbot. */
  feeds: ReadonlyMap<string, string>
  /** Calls per second of the service. */
  rate: number
  schedule: string
  /** Milliseconds that a lease lasts. */
  leaseTime: number
  /** Settings of the database server. */
  settings?: string[]
}

export class ScaleWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'listing-sync-scale-'))
  readonly configFile = join(this.folder, 'listing-sync.yaml')
  readonly workers = new Set<ChildProcess>()
  readonly server: PostgresServer
  readonly #options: ScaleOptions
  readonly #standIn: ChildProcess
  readonly #service: string
  readonly #address: string
  #logs = 0

  private constructor(
    options: ScaleOptions,
    server: PostgresServer,
    standIn: ChildProcess,
    service: string,
    address: string,
  ) {
    this.#options = options
    this.server = server
    this.#standIn = standIn
    this.#service = service
    this.#address = address
    const feeds = Array.from(options.feeds, ([name, chatbot]) => [
      name,
      { chatbot, source: `./${name}.xml`, preset: 'zillow', schedule: options.schedule, limits: 'off', settle: '1s' },
    ])
    const service_ = { baseUrl: service, secretKey: 'secret', rate: options.rate, concurrency: 2, timeout: '20s' }
    writeFileSync(this.configFile, stringify({ service: service_, store: address, feeds: Object.fromEntries(feeds) }))
  }

  static async start(options: ScaleOptions): Promise<ScaleWorld> {
    const server = await startPostgres(['max_connections=200', ...(options.settings ?? [])])
    const standIn = spawn(process.execPath, [program, 'stand-in', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(standIn.stdout, 'data')) as [Buffer]
    const url = /http:\S+/.exec(line.toString())![0]
    return new ScaleWorld(options, server, standIn, url, await server.database())
  }

  /** Replaces a delivery: readers see the old one or the new one. */
  deliver(feed: string, homes: readonly Home[]): void {
    const file = join(this.folder, `${feed}.xml`)
    writeFileSync(`${file}.new`, zillowFeed(homes))
    renameSync(`${file}.new`, file)
  }

  /** Starts a daemon; its log goes to a file. */
  startWorker(most: number): ChildProcess {
    const words = [
      workerFile,
      String(this.#options.leaseTime),
      '--config',
      this.configFile,
      'daemon',
      '--workers',
      String(most),
    ]
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] })
    child.stderr.pipe(createWriteStream(join(this.folder, `worker-${++this.#logs}.log`)))
    this.workers.add(child)
    child.on('exit', () => this.workers.delete(child))
    return child
  }

  /** The lines of all workers' logs. */
  logs(): { msg: string; level: string; [fact: string]: unknown }[] {
    const texts = readdirSync(this.folder).flatMap((name) =>
      name.endsWith('.log') ? readFileSync(join(this.folder, name), 'utf8').split('\n') : [],
    )
    // The last line of one that was killed may be half.
    return texts.flatMap((line) =>
      line.endsWith('}') ? [JSON.parse(line) as ReturnType<ScaleWorld['logs']>[number]] : [],
    )
  }

  command(...words: string[]): Promise<Ended> {
    return command(['--config', this.configFile, ...words])
  }

  async #asked<Answer>(path: string): Promise<Answer> {
    return (await (await fetch(`${this.#service}/_stand-in/${path}`)).json()) as Answer
  }

  /** What the chatbot holds, number and price; what is there twice is twice in it. */
  async listings(chatbot: string): Promise<string[]> {
    const rows = await this.#asked<{ listing: { MLSNumber: string; SalePrice?: number; RentPrice?: number } }[]>(
      `listings?SerialNumber=${encodeURIComponent(chatbot)}`,
    )
    return rows.map(({ listing: { MLSNumber, SalePrice, RentPrice } }) => `${MLSNumber} ${SalePrice ?? RentPrice}`)
  }

  async calls(): Promise<JournalEntry[]> {
    return (await this.#asked<{ requests: JournalEntry[] }>('journal')).requests
  }

  ask(sql: string): Promise<Record<string, unknown>[]> {
    return this.server.ask(sql, new URL(this.#address).pathname.slice(1))
  }

  /** Tells all workers to stop, and waits until they have. Gives their exit statuses. */
  async stopWorkers(): Promise<(number | null)[]> {
    return Promise.all(
      Array.from(this.workers, async (child) => {
        const ended = once(child, 'exit') as Promise<[number | null]>
        child.kill('SIGCONT')
        child.kill('SIGTERM')
        return (await ended)[0]
      }),
    )
  }

  async end(): Promise<void> {
    for (const child of [...this.workers, this.#standIn]) child.kill('SIGKILL')
    await this.server.remove()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
