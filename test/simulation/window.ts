/** Asks PostgreSQL at once: a thread has the connections, and this one waits for its answer. */
import { MessageChannel, Worker, isMainThread, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { Client, types } from 'pg'

type Value = string | number

interface Asked {
  address: string
  /** null: ends the connection. */
  sql: string | null
  values: readonly Value[]
}

type Answer = { rows: unknown[] } | { error: string }

interface Shared {
  port: MessagePort
  answered: Int32Array
}

export class Window {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #answered = new Int32Array(new SharedArrayBuffer(4))

  constructor() {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    const workerData: Shared = { port: port2, answered: this.#answered }
    this.#worker = new Worker(new URL(import.meta.url), { workerData, transferList: [port2], execArgv: [] })
    this.#worker.unref()
    this.#port.unref()
  }

  /** Rows of a statement in the database of an address. Throws what the server has against it. */
  ask<Row>(address: string, sql: string | null, ...values: Value[]): Row[] {
    const port = this.#port
    Atomics.store(this.#answered, 0, 0)
    port.postMessage({ address, sql, values } satisfies Asked)
    // The answer before may wake it, too late: it is noted and told in two steps.
    while (Atomics.load(this.#answered, 0) === 0) Atomics.wait(this.#answered, 0, 0)
    const answer = receiveMessageOnPort(port)!.message as Answer
    if ('error' in answer) throw new Error(answer.error)
    return answer.rows as Row[]
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}

function answerAll({ port, answered }: Shared): void {
  // Whole numbers: times and counts are below 2^53.
  types.setTypeParser(20, Number)
  const clients = new Map<string, Client>()
  const answer = async ({ address, sql, values }: Asked): Promise<Answer> => {
    try {
      let client = clients.get(address)
      if (sql === null) {
        clients.delete(address)
        await client?.end()
        return { rows: [] }
      }
      if (client === undefined) {
        client = new Client({ connectionString: address, application_name: 'window' })
        client.on('error', () => undefined)
        clients.set(address, client)
        await client.connect()
      }
      return { rows: (await client.query(sql, [...values])).rows }
    } catch (error) {
      return { error: String(error) }
    }
  }
  port.on('message', (asked: Asked) => {
    void answer(asked).then((found) => {
      port.postMessage(found)
      Atomics.store(answered, 0, 1)
      Atomics.notify(answered, 0)
    })
  })
}

if (!isMainThread && workerData !== null && 'answered' in workerData) answerAll(workerData as Shared)
