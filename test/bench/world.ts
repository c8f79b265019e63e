/** The built program in this process, with its real store, against a stand-in in another one. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Pool } from 'undici'
import { stringify } from 'yaml'
import type * as Doors from '../../src/app/doors.ts'
import type * as Open from '../../src/app/open.ts'
import type { Report } from '../../src/report/report.ts'
import { expected, inFolder, quickDisk } from './measure.ts'

/** The folder that has the built program; `bench.ts` builds it. */
export const built = process.env['BENCH_BUILT']!
export const programFile = join(built, 'bin/listing-sync.mjs')
/** A module of the built program, as `bench.ts` names it. */
export const load = (name: string) => import(pathToFileURL(join(built, 'dist/program', `${name}.cjs`)).href)

/** Items a page, as the service gives them. */
export const pageSize = 100

interface Told {
  calls: Record<'Create' | 'Update' | 'List' | 'Delete', number>
  /** When the latest requests came, in milliseconds. */
  starts: number[]
}

export async function startService() {
  const child = fork(fileURLToPath(new URL('./stand-in.ts', import.meta.url)), [String(pageSize)], {
    // A million listings take more than Node gives a process by itself.
    execArgv: ['--max-old-space-size=16000'],
  })
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  return {
    url,
    /** The calls since the last time it was asked. */
    async told(): Promise<Told> {
      child.send({})
      const [answer] = (await once(child, 'message')) as [Told]
      return answer
    },
    async end(): Promise<void> {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

export type Service = Awaited<ReturnType<typeof startService>>

export const feedOf = (source: string, format: 'xml' | 'csv') => ({
  chatbot: 'BENCH',
  source,
  preset: format === 'xml' ? 'zillow' : 'reso-csv',
  limits: 'off',
})

/** Writes a configuration and gives its path. `rate`: at most 1000. */
export function configure(
  folder: string,
  url: string,
  feeds: Record<string, object>,
  { rate = 1000, store = join(folder, 'store.db') } = {},
): string {
  const file = join(folder, 'listing-sync.yaml')
  const service = { baseUrl: url, secretKey: 'bench', rate, concurrency: 8 }
  writeFileSync(file, stringify({ service, store, feeds }))
  return file
}

/** Opens the app; `rate` null: as fast as the machine goes, which no configuration may ask for. */
export async function openProgram(configFile: string, rate: number | null) {
  const { openApp } = (await load('app-open')) as typeof Open
  const { createDoors } = (await load('app-doors')) as typeof Doors
  const app = openApp({ configFile, env: {}, signal: new AbortController().signal, doors: createDoors() })
  if (rate === null) for (const feed of app.config.feeds) feed.service.rate = Infinity
  return {
    app,
    /** One whole run; a report that is not `ok` is thrown, as its time says nothing. */
    async run(command: 'sync' | 'backfill' | 'diff', result: Report['result'] = 'ok'): Promise<Report> {
      const [feed] = app.config.feeds
      const { report, close } = await (command === 'diff' ? app.diff(feed) : app.sync(feed, command))
      close()
      if (report.result !== result)
        throw new Error(`the ${command} ended ${report.result}: ${report.error} ${report.notes.join('; ')}`)
      return report
    },
  }
}

export type Program = Awaited<ReturnType<typeof openProgram>>

/** A service that has every listing of the feed, and a store that knows it. `source` is written by the caller. */
export async function withLoaded(
  source: string,
  format: 'xml' | 'csv',
  records: number,
  task: (program: Program, service: Service, folder: string) => Promise<void>,
): Promise<void> {
  const service = await startService()
  try {
    await inFolder(async (folder) => {
      const program = await openProgram(configure(folder, service.url, { bench: feedOf(source, format) }), null)
      try {
        const loaded = await program.run('backfill')
        expected('outcomes of the backfill', loaded.applied?.outcomes.done, records)
        // The first sync after a load notes how the service shows what it was sent.
        await program.run('sync')
        await service.told()
        await task(program, service, folder)
      } finally {
        await program.app.close()
      }
    }, quickDisk)
  } finally {
    await service.end()
  }
}

/** What any program has to do to know what the service has: ask for every page, and parse it. */
export async function readPages(url: string): Promise<number> {
  const pool = new Pool(url, { connections: 1 })
  let items = 0
  for (let PageNumber = 1; ; PageNumber++) {
    const { body } = await pool.request({
      path: '/chat/Chatbot/RealEstateList',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'bench' },
      body: JSON.stringify({ SerialNumber: 'BENCH', PageNumber, PageSize: pageSize }),
    })
    const { Data } = (await body.json()) as { Data: { List: unknown[] | null } }
    const found = Data.List?.length ?? 0
    items += found
    if (found < pageSize) break
  }
  await pool.destroy()
  return items
}
