/** Histories of a live source by a seed: what happens to its records and its answers, and what must be true all the same. */
import { profileNames } from '../../../src/stand-in/reso/profiles.ts'
import type { ResoFault, ResoWorld } from '../../../src/stand-in/reso/world.ts'
import { Bench, emptyMirror, secret, settingsFor, token } from './world.ts'
import type { Ran } from './world.ts'
import { seeded as randomFrom } from '../../support/random.ts'

export interface Figures {
  runs: number
  requests: number
  faults: number
  walks: number
  incomplete: number
  gone: number
  failed: number
  died: number
  late: number
  pictures: number
  rekeyed: number
  scopes: number
  licences: number
}

export const nothing = (): Figures => ({
  runs: 0,
  requests: 0,
  faults: 0,
  walks: 0,
  incomplete: 0,
  gone: 0,
  failed: 0,
  died: 0,
  late: 0,
  pictures: 0,
  rekeyed: 0,
  scopes: 0,
  licences: 0,
})

/** The process ends in the middle of a run. */
class Died extends Error {}

const hour = 3_600_000

/** Throws where something is not as it must be. */
export async function history(seed: number): Promise<Figures> {
  const random = randomFrom(seed)
  const chance = (share: number): boolean => random() < share
  const upTo = (most: number): number => Math.floor(random() * (most + 1))
  const oneOf = <T>(list: readonly T[]): T => list[upTo(list.length - 1)]
  const figures = nothing()
  const vendor = oneOf(profileNames)
  /** What may go wrong now. */
  const calmMood = { faults: 0, between: 0, deaths: 0, isRetried: true }
  let mood = calmMood
  const media = vendor === 'mlsgrid' ? {} : { expand: ['Media'] }
  const options = {
    fault: () => {
      if (!chance(mood.faults)) return null
      figures.faults++
      return faultOf(mood.isRetried)
    },
    after: () => {
      if (chance(mood.deaths)) throw new Died()
      if (!chance(mood.between)) return
      isBetween = true
      change(1)
      isBetween = false
    },
  }
  const bench: Bench = new Bench(vendor, options, media)
  bench.walksByChanges = chance(0.5)
  const { world, time } = bench
  bench.top = 1 + upTo(6)
  let born = 0
  let isBetween = false
  let changedAt = 0
  let hasGrown = false
  /** Between two pages, of one timestamp only what is written at the same time. */
  const isSame = (): boolean => chance(0.5) && (!isBetween || time.now() - changedAt < 1000)
  /** A change that shows up to half a minute after its timestamp, which is not before that of the change before it. */
  const ago = (key: string): number => {
    const before = Date.parse(String(world.records.get(key)?.[world.profile.stamp]))
    if (!chance(0.3) || time.now() - before < 31_000) return 0
    figures.late++
    return 1 + upTo(30_000)
  }
  /** When each record was written last. */
  const cameAt = new Map<string, number>()

  function put(...[key, fields, how]: Parameters<ResoWorld['put']>): void {
    // A change with the timestamp before, of a record that the licence hides meanwhile, is one that nobody can notice.
    const isHidden = !world.licence({ ListingKey: key, ...world.records.get(key), ...fields })
    world.put(key, fields, isHidden ? { ...how, same: false } : how)
    cameAt.set(key, time.now())
  }
  function change(times: number): void {
    for (let n = 0; n < times; n++) {
      const keys = [...world.records].flatMap(([key, { MlgCanView }]) => (MlgCanView === false ? [] : [key]))
      const kind = upTo(9)
      if ((kind < 3 && keys.length < 50) || keys.length === 0) {
        const key = `${world.profile.mark}${chance(0.5) ? 'k' : 'K'}${String(1000 + Math.floor(random() * 9000))}n${++born}`
        put(
          key,
          { ListingId: `${world.profile.mark}${born}`, ListPrice: upTo(1e6), City: `o'City ${upTo(3)}` },
          { same: isSame() },
        )
      } else if (kind < 6) {
        const key = oneOf(keys)
        const late = isBetween ? ago(key) : 0
        put(key, { ListPrice: upTo(1e6) }, late > 0 ? { ago: late } : { same: isSame() })
      } else if (kind < 7 && media.expand !== undefined) {
        figures.pictures++
        world.putMedia(oneOf(keys), [{ Order: '1', MediaURL: `https://images.example.com/${upTo(1e6)}.jpg` }])
      } else if (kind < 8 && keys.length > 3) {
        // A mass update: all of one timestamp.
        for (const key of keys.slice(0, 20)) put(key, { City: 'all' }, { same: key !== keys[0] })
      } else if (chance(0.2)) {
        // The same home under another key, as after a move to another system.
        const key = oneOf(keys)
        const { ListingKey: _, ...home } = world.records.get(key)!
        world.remove(key)
        put(`${key}r`, { ...home, MlgCanView: true })
        figures.rekeyed++
      } else world.remove(oneOf(keys))
      changedAt = time.now()
    }
  }
  function faultOf(isRetried: boolean): ResoFault {
    const passing: ResoFault[] = [
      { kind: 'status', status: 503 },
      { kind: 'status', status: 504 },
      { kind: 'status', status: 429, headers: { 'Retry-After': '3' } },
      { kind: 'status', status: 429 },
      { kind: 'cut', share: random() },
      { kind: 'empty-link' },
    ]
    const ending: ResoFault[] = [
      { kind: 'html' },
      { kind: 'error' },
      { kind: 'no-value' },
      { kind: 'status', status: 404 },
      { kind: 'status', status: 403 },
    ]
    if (world.profile.token !== null) passing.push({ kind: 'token-ends' })
    return oneOf(isRetried ? passing : [...passing, ...ending])
  }
  const fail = (what: string): never => {
    throw new Error(`seed ${seed} (${vendor}, pages of ${bench.top}): ${what}`)
  }

  // A mirror that looks at each record which is to go.
  const inner = bench.mirror
  let dropped = 0
  bench.mirror = {
    ...inner,
    drop: async (gone, progress) => {
      for (const { key } of gone) {
        const isThere = world.visible().some(({ ListingKey }) => ListingKey === key)
        // One that came back after the last question is in the next reading of changes.
        if (isThere && (cameAt.get(key) ?? 0) < world.times.at(-1)!) fail(`${key} goes, and the source has it`)
        dropped++
      }
      await inner.drop(gone, progress)
    },
  }

  change(upTo(30))
  const days = 1 + upTo(5)
  for (let run = 0; run < days; run++) {
    mood = {
      faults: chance(0.5) ? random() * 0.3 : 0,
      between: chance(0.5) ? random() * 0.2 : 0,
      deaths: chance(0.1) ? random() * 0.1 : 0,
      isRetried: chance(0.5),
    }
    world.options.countOff = chance(0.1) ? upTo(4) - 2 : 0
    const isOther = chance(0.05)
    if (isOther) {
      figures.scopes++
      bench.settings = settingsFor(vendor, { ...media, select: ['ListPrice', 'City', `F${run}`] })
      bench.gate = bench.newGate()
    }
    if (chance(0.05)) {
      figures.licences++
      const least = upTo(200_000)
      hasGrown = true
      world.licence = ({ ListPrice }) => Number(ListPrice) >= least
    }
    const before = dropped
    let ran: Ran | null = null
    try {
      ran = await bench.run({ isWaiting: chance(0.5) })
    } catch (error) {
      if (!(error instanceof Died)) throw error
      figures.died++
    }
    figures.runs++
    if (isOther && ran?.result?.walk) fail('absence counts in the first walk of another scope')
    if (ran !== null && ran.result === null) figures.failed++
    else if (ran !== null && ran.reasons.length > 0) {
      figures.incomplete++
      if (ran.result?.walk !== null) fail('a walk that proves nothing is a proof')
      if (dropped > before) fail('records go after a walk that proves nothing')
    } else if (ran?.result?.walk) {
      figures.walks++
      const there = new Set(world.visible().map(({ ListingKey }) => ListingKey))
      const lost = [...(await bench.kept()).keys()].filter((key) => !there.has(key))
      if (lost.length > 0 && mood.between === 0) fail(`${lost.join(', ')} is gone, and a walk did not find it`)
    }
    mood = calmMood
    world.options.countOff = 0
    time.pass(chance(0.1) ? 9 * 24 * hour : chance(0.5) ? 26 * hour : hour / 4)
    change(upTo(6))
    time.pass(1000)
  }
  // A reading of changes alone, with nothing in its way: all that is there is known as it is.
  const calm = await bench.run()
  figures.runs++
  if (calm.result === null || calm.reasons.length > 0)
    fail(`a run with nothing in its way failed: ${calm.reasons.join('; ')}`)
  // A licence that grew again is seen by a walk alone.
  if (!hasGrown || calm.result?.walk) await mustHave(await bench.shown(), world, fail)
  // A walk with nothing in its way: the same as a load from the beginning.
  for (let more = 0; more < 2; more++) {
    time.pass(1000)
    await bench.run({ isWaiting: true })
  }
  const walked = await bench.run({ isWaiting: true })
  figures.runs += 3
  if (!walked.result?.walk) fail(`a walk with nothing in its way proves nothing: ${walked.reasons.join('; ')}`)
  const anew = emptyMirror()
  await bench.run({ mirror: anew })
  const [kept, loaded] = [await bench.shown(), await bench.shown(anew)]
  const differing = [...new Set([...kept.keys(), ...loaded.keys()])].filter(
    (key) => JSON.stringify(sorted(kept.get(key))) !== JSON.stringify(sorted(loaded.get(key))),
  )
  if (differing.length > 0) fail(`${differing.join(', ')} differ from a load from the beginning`)
  if (loaded.size !== world.visible().filter(({ MlgCanView }) => MlgCanView !== false).length)
    fail('a load lacks records')
  if (world.refused > 0) fail(`${world.refused} requests beyond the limits`)
  const all = bench.said.join('\n')
  for (const text of [token, secret, ...bench.learnt]) if (all.includes(text)) fail('a token was told')
  figures.requests = world.times.length
  figures.gone = dropped
  return figures
}

async function mustHave(
  kept: Map<string, Record<string, unknown>>,
  world: ResoWorld,
  fail: (what: string) => never,
): Promise<void> {
  for (const record of world.visible()) {
    if (record.MlgCanView === false) continue
    const own = kept.get(record.ListingKey)
    const stamp = world.profile.stamp
    if (
      own?.[stamp] !== record[stamp] ||
      own?.ListPrice !== record.ListPrice ||
      (world.profile.needs === null && pictureOf(own) !== pictureOf(record))
    )
      fail(`${record.ListingKey} is ${JSON.stringify(record)}, and known as ${JSON.stringify(own)}`)
  }
}

const pictureOf = ({ Media: media }: Record<string, unknown> = {}): unknown =>
  (media as { MediaURL: string }[] | undefined)?.[0]?.MediaURL

const sorted = (record: Record<string, unknown> | undefined): unknown =>
  record && Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1))
