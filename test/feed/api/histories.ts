/** Histories of a live source by a seed: what happens to its records and its answers, and what must be true all the same. */
import { profileNames } from '../../../src/stand-in/reso/profiles.ts'
import type { ResoFault, ResoWorld } from '../../../src/stand-in/reso/world.ts'
import { Bench, emptyMirror, secret, token } from './world.ts'
import { seeded as randomFrom } from '../../support/random.ts'

export interface Figures {
  runs: number
  requests: number
  faults: number
  walks: number
  incomplete: number
  gone: number
  failed: number
}

export const nothing = (): Figures => ({ runs: 0, requests: 0, faults: 0, walks: 0, incomplete: 0, gone: 0, failed: 0 })

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
  let mood: { faults: number; between: number; isRetried: boolean } = { faults: 0, between: 0, isRetried: true }
  const bench: Bench = new Bench(vendor, {
    fault: () => {
      if (!chance(mood.faults)) return null
      figures.faults++
      return faultOf(mood.isRetried)
    },
    after: () => {
      if (!chance(mood.between)) return
      isBetween = true
      change(1)
      isBetween = false
    },
    countOff: 0,
  })
  const { world, time } = bench
  bench.top = 1 + upTo(6)
  let born = 0
  let isBetween = false
  /** A server that writes while it answers gives later timestamps than it has answered with. */
  const isSame = (): boolean => !isBetween && chance(0.5)
  const begun = new Set<string>()

  function change(times: number): void {
    for (let n = 0; n < times; n++) {
      const keys = [...world.records].flatMap(([key, { MlgCanView }]) => (MlgCanView === false ? [] : [key]))
      const kind = upTo(9)
      if ((kind < 3 && keys.length < 50) || keys.length === 0) {
        const key = `${world.profile.mark}${chance(0.5) ? 'k' : 'K'}${String(1000 + Math.floor(random() * 9000))}n${++born}`
        world.put(
          key,
          { ListingId: `${world.profile.mark}${born}`, ListPrice: upTo(1e6), City: `o'City ${upTo(3)}` },
          { same: isSame() },
        )
      } else if (kind < 7) world.put(oneOf(keys), { ListPrice: upTo(1e6) }, { same: isSame() })
      else if (kind < 8 && keys.length > 3) {
        // A mass update: all of one timestamp.
        for (const key of keys.slice(0, 20)) world.put(key, { City: 'all' }, { same: key !== keys[0] })
      } else world.remove(oneOf(keys))
    }
  }
  function faultOf(isRetried: boolean): ResoFault {
    const passing: ResoFault[] = [
      { kind: 'status', status: 503 },
      { kind: 'status', status: 504 },
      { kind: 'status', status: 429, headers: { 'Retry-After': '3' } },
      { kind: 'status', status: 429 },
      { kind: 'cut', share: random() },
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
        const record = world.visible().find(({ ListingKey }) => ListingKey === key)
        if (record !== undefined) fail(`${key} goes, and the source has it`)
        dropped++
      }
      await inner.drop(gone, progress)
    },
  }

  change(upTo(30))
  for (const key of world.records.keys()) begun.add(key)
  const days = 1 + upTo(5)
  for (let run = 0; run < days; run++) {
    mood = {
      faults: chance(0.5) ? random() * 0.3 : 0,
      between: chance(0.5) ? random() * 0.2 : 0,
      isRetried: chance(0.5),
    }
    const before = dropped
    const { result, reasons } = await bench.run({ isWaiting: chance(0.5) })
    figures.runs++
    if (result === null) figures.failed++
    else if (reasons.length > 0) {
      figures.incomplete++
      if (result.walk !== null) fail('a walk that proves nothing is a proof')
      if (dropped > before) fail('records go after a walk that proves nothing')
    } else if (result.walk !== null) figures.walks++
    mood = { faults: 0, between: 0, isRetried: true }
    time.pass(chance(0.1) ? 9 * 24 * hour : chance(0.5) ? 26 * hour : hour / 4)
    change(upTo(6))
    time.pass(1000)
  }
  // A reading of changes alone, with nothing in its way: all that is there is known as it is.
  const calm = await bench.run()
  figures.runs++
  if (calm.result === null || calm.reasons.length > 0)
    fail(`a run with nothing in its way failed: ${calm.reasons.join('; ')}`)
  await mustHave(await bench.shown(), world, vendor === 'mlsgrid' && calm.result?.walk === null, fail)
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
  for (const one of [token, secret, ...bench.learnt]) if (all.includes(one)) fail('a token was told')
  figures.requests = world.times.length
  figures.gone = dropped
  return figures
}

async function mustHave(
  kept: Map<string, Record<string, unknown>>,
  world: ResoWorld,
  isLate: boolean,
  fail: (what: string) => never,
): Promise<void> {
  for (const record of world.visible()) {
    if (record.MlgCanView === false) continue
    const own = kept.get(record.ListingKey)
    const stamp = world.profile.stamp
    // Places of a page may move while a tie is read by links; the next walk finds what was passed over.
    if (isLate) continue
    if (own?.[stamp] !== record[stamp] || own?.ListPrice !== record.ListPrice)
      fail(`${record.ListingKey} is not known as it is`)
  }
}

const sorted = (record: Record<string, unknown> | undefined): unknown =>
  record && Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1))
