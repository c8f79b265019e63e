/** A service with other people's listings, some with confusing names, and one probe of it in this process. */
import { openApp } from '../../src/app/open.ts'
import { probe } from '../../src/app/probe.ts'
import type { Clock } from '../../src/core/machine.ts'
import type { Probed } from '../../src/probe/report.ts'
import type { StandInListing } from '../../src/stand-in/fields.ts'
import type { StandInOptions } from '../../src/stand-in/stand-in.ts'
import { home } from '../support/homes.ts'
import { seeded } from '../support/random.ts'
import { RunWorld, chatbot } from '../support/run-world.ts'

export const keys = { secret: 'probe-secret-key-1', session: 'probe-session-key-2' }
const configured = { secretKey: keys.secret, sessionKey: keys.session }

/** Like IDs, like sentinels, like each other, like code. */
const hostile = [
  '1001',
  '1002',
  '1040',
  '1041',
  '1042',
  'listing-sync-probe-',
  'listing-sync-probe-north',
  'listing-sync-probe-north-0123456789ab-2',
  'LISTING-SYNC-PROBE-NORTH-0123456789AB-2',
  'listing-sync-probe-north-0123456789ab-absent-0',
  '__proto__',
  "'; DELETE FROM listing; --",
  '<b>&amp;</b>',
  '%',
  '*',
  '🏠 1',
  'IA1',
  'ia1',
  '\u001b[31mred',
]

export const others: StandInListing[] = [
  ...hostile.map((MLSNumber, index) => ({ MLSNumber, Url: `https://hand.example/${index % 3}`, City: 'Dike' })),
  ...Array.from({ length: 30 }, (_, index) => {
    const { mlsNumber, city, price, street } = home(index + 1)
    return {
      MLSNumber: mlsNumber,
      SaleType: 'for_sale',
      Status: 'Active',
      City: city,
      Address: street,
      SalePrice: price,
      Url: 'https://hand.example/same',
      Description: `A home <b>"${index}"</b>`,
    }
  }),
]

export interface ProbeWorld {
  world: RunWorld
  /** Everything that is not a sentinel, with IDs and the numbers of the writes. */
  before: string
}

export async function probeWorld(options: StandInOptions = {}, service: object = {}): Promise<ProbeWorld> {
  const world = await RunWorld.start({
    standIn: { keys, ...options },
    service: { ...configured, attempts: 2, ...service },
  })
  world.standIn.seed(chatbot, others)
  return { world, before: othersOf(world) }
}

/** The listings that are no sentinels of a probe, as text. */
export function othersOf(world: RunWorld): string {
  return JSON.stringify(world.standIn.listings(chatbot).filter(({ listing }) => !isMade(listing)))
}

/** MLSNumbers left by probes. */
export function leftOf(world: RunWorld): string[] {
  return world.standIn.listings(chatbot).flatMap(({ listing }) => (isMade(listing) ? [listing.MLSNumber] : []))
}

function isMade({ Url }: Partial<StandInListing>): boolean {
  return Url?.startsWith('https://listing-sync.invalid/') ?? false
}

/** One probe on the world's clock. `asked` is called before each question. */
export async function probed(
  world: RunWorld,
  seed = 1,
  asked: (title: string) => void = () => undefined,
  feedName = 'north',
): Promise<Probed> {
  const { stop } = world
  // As the machine's, in whole milliseconds, however long a back-off was.
  const clock: Clock = {
    now: () => Math.floor(world.clock.now()),
    sleep: (milliseconds, signal) => world.clock.sleep(milliseconds, signal),
  }
  const app = openApp({ ...world.context, clock, random: seeded(seed) }, { logLevel: 'error' })
  try {
    return await probe(
      app,
      app.config.feeds.find(({ name }) => name === feedName)!,
      stop.signal,
      asked,
    )
  } finally {
    await app.close()
  }
}
