/** Offices played over years with a feed that is right, and single nights of feeds that are not. */
import { Scratch } from '../simulation/scratch.ts'
import { seedOf, unit } from './chance.ts'
import { otherwiseBy, spoiled } from './incidents.ts'
import type { Content } from './incidents.ts'
import { Damage, Watch, isHolding } from './judge.ts'
import type { HoldEvent } from './judge.ts'
import { Office, day, hour } from './office.ts'
import type { Entry } from './office.ts'
import { OfficeProgram, bytesOf, defaultLimits } from './program.ts'
import type { Limits } from './program.ts'
import type { Row, World } from './world.ts'

export const intervals = { nightly: day, weekly: 7 * day, hourly: hour }
export type Schedule = keyof typeof intervals

export interface Setting {
  world: World
  seed: number
  limits: Limits
  /** Days after which somebody approves what is right and refuses what is wrong; null: nobody does. */
  attended: number | null
}

export const defaultSetting = (world: World, seed: number): Setting => ({
  world,
  seed,
  limits: defaultLimits,
  attended: null,
})

/** One office over years. */
export interface YearsTold {
  size: number
  seed: number
  schedule: Schedule
  years: number
  runs: number
  events: HoldEvent[]
  /** Years at whose end something was held that only a person ends. */
  asking: number
  faults: string[]
}

const begin = (seed: number): number => Date.UTC(2026, 0, 1) + (seed % 365) * day + 2 * hour

export async function playYears(
  { world, seed, limits, attended }: Setting,
  size: number,
  years: number,
  schedule: Schedule = 'nightly',
): Promise<YearsTold> {
  const interval = intervals[schedule]
  const scratch = new Scratch()
  const program = new OfficeProgram(scratch, limits)
  const from = begin(seed)
  const office = new Office(world, size, seed, from - day)
  const watch = new Watch()
  const played = { size, seed, schedule, years, runs: 0, asking: 0 }
  let heldSince: number | null = null
  try {
    for (let year = 0; year < years; year++) {
      const end = from + (year + 1) * 365 * day
      let now = from + year * 365 * day
      for (; now < end; now += interval) {
        office.liveUntil(now)
        const truth = office.entries(now)
        const ran = await program.run(bytesOf({ entries: truth }), now)
        played.runs++
        watch.see(ran, now, interval, office.changed)
        watch.compare(ran, now, program.service.shown, truth)
        heldSince = isHolding(ran) ? (heldSince ?? now) : null
        if (attended !== null && heldSince !== null && now - heldSince >= attended * day)
          await program.decide('approved')
      }
      if (!watch.isAsking) continue
      played.asking++
      // The next year begins without it.
      await program.decide('approved')
    }
    return { ...played, events: watch.events, faults: watch.faults }
  } finally {
    await program.close()
    scratch.close()
  }
}

/** Some nights of an incident, and some of a feed that is right again. */
export interface TrialTold {
  kind: string
  row: Row | 'harmless'
  size: number
  seed: number
  nights: number
  /** The most listings that were shown wrong at once, and whether a visitor sees that. */
  worst: number
  isVisible: boolean
  /** Runs that told of it, and runs that held something after the feed was right again. */
  alerts: number
  heldAfter: number
}

/** Nights before an incident, so that a file of a month ago can come. */
const warmUp = 45
const rightAgain = 4
const lengths = [1, 3, 10]
const longest = Math.max(...lengths)

/** Every incident and every harmless change on one office, or those of which `only` names the kind. */
export async function* playTrials(
  { world, seed, limits, attended }: Setting,
  size: number,
  only: readonly string[] | null = null,
): AsyncGenerator<TrialTold> {
  const scratch = new Scratch()
  const base = new OfficeProgram(scratch, limits)
  // Mass changes have years of their own.
  const office = new Office({ ...world, changes: [] }, size, seed, begin(seed) - day)
  const nights: Entry[][] = []
  const at = (night: number): number => begin(seed) + night * day
  const live = (): Entry[] => {
    office.liveUntil(at(nights.length))
    nights.push(office.entries(at(nights.length)))
    return nights.at(-1)!
  }
  try {
    // With one or two listings no guard can tell anything.
    const isSmall = (): boolean => nights.at(-1)!.length < Math.min(size, Math.max(3, size * 0.75))
    for (let isHeld = false; nights.length < warmUp || isHeld || isSmall();) {
      const now = at(nights.length)
      isHeld = isHolding(await base.run(bytesOf({ entries: live() }), now))
      if (nights.length > warmUp * 10) throw new Error(`an office of ${size} with seed ${seed} never comes to rest`)
    }
    const first = nights.length
    for (let i = 0; i < longest + rightAgain; i++) live()

    const play = async (kind: string, row: TrialTold['row'], length: number, deliver: (night: number) => Content) => {
      const program = new OfficeProgram(scratch, limits, base)
      const { shown } = program.service
      const damage = new Damage(shown, nights[first - 1])
      const trial: TrialTold = {
        kind,
        row,
        size,
        seed,
        nights: length,
        worst: 0,
        isVisible: false,
        alerts: 0,
        heldAfter: 0,
      }
      try {
        for (let night = 0; night < length + rightAgain; night++) {
          const isWrong = night < length
          const truth = nights[first + night]
          const content = isWrong ? deliver(night) : { entries: truth }
          const ran = await program.run(bytesOf(content), at(first + night))
          damage.learn(truth)
          damage.look(shown)
          if (isHolding(ran)) {
            if (isWrong) trial.alerts++
            else trial.heldAfter++
            if (isWrong && attended !== null && trial.alerts > attended) await program.decide('refused')
          } else if (!isWrong) break
        }
      } finally {
        await program.close()
      }
      return { ...trial, worst: damage.worst, isVisible: damage.isVisible }
    }

    for (const incident of world.incidents.filter(({ kind }) => only === null || only.includes(kind)))
      for (const length of lengths)
        yield play(incident.kind, incident.row, length, (night) =>
          spoiled(nights[first + night], incident, {
            world,
            seed: seedOf(seed, incident.kind),
            night,
            before: (days) => nights[first + night - days] ?? nights[0],
          }),
        )
    for (const change of world.changes) {
      if (change.harmless !== true || (only !== null && !only.includes(change.kind))) continue
      const most = change.share?.[1] ?? 1
      yield play(change.kind, 'harmless', 2, (night) => ({
        entries: nights[first + night].map((entry) =>
          unit(seed, entry.listing.MLSNumber) < most ? otherwiseBy(entry, change, seed) : entry,
        ),
      }))
    }
  } finally {
    await base.close()
    scratch.close()
  }
}
