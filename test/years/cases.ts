/** Three cases of which the guard has to make nothing. */
import { Scratch } from '../simulation/scratch.ts'
import { isEqual, isHolding } from './judge.ts'
import { Office, day, hour } from './office.ts'
import type { Entry } from './office.ts'
import { OfficeProgram, bytesOf } from './program.ts'
import type { Setting } from './play.ts'

export interface CaseTold {
  what: string
  /** What went otherwise than it should; none: nothing. */
  faults: string[]
}

const start = Date.UTC(2026, 2, 2, 2)

async function played(
  what: string,
  { limits }: Setting,
  play: (program: OfficeProgram, faults: string[]) => Promise<void>,
): Promise<CaseTold> {
  const scratch = new Scratch()
  const program = new OfficeProgram(scratch, limits)
  const faults: string[] = []
  try {
    await play(program, faults)
    return { what, faults }
  } finally {
    await program.close()
    scratch.close()
  }
}

function someEntries({ world, seed }: Setting, count: number): Entry[] {
  return new Office({ ...world, changes: [] }, count, seed, start - day).entries(start)
}

const firstLoad = (setting: Setting): Promise<CaseTold> =>
  played('a first load of 600, and a newcomer the same day', setting, async (program, faults) => {
    const entries = someEntries(setting, 601)
    for (const [hours, count] of [
      [0, 600],
      [1, 601],
      [2, 600],
    ]) {
      const ran = await program.run(bytesOf({ entries: entries.slice(0, count) }), start + hours * hour)
      if (isHolding(ran)) faults.push(`held ${hours} hours after the first load`)
      if (program.service.shown.size !== count)
        faults.push(`${program.service.shown.size} of ${count} listings after ${hours} hours`)
    }
  })

const keyless = (setting: Setting): Promise<CaseTold> =>
  played('one record without MLSNumber for a year', setting, async (program, faults) => {
    const office = new Office({ ...setting.world, changes: [] }, 40, setting.seed, start - day)
    let deletes = 0
    for (let night = 0; night < 365; night++) {
      const now = start + night * day
      office.liveUntil(now)
      const truth = office.entries(now)
      // It comes for the first time in a delivery that is else as the one before.
      const broken = night < 10 ? [] : ['{broken']
      if (night === 10) await program.run(bytesOf({ entries: truth }), now - 1000)
      const { report, held } = await program.run(bytesOf({ entries: truth }, broken), now)
      deletes += report.counts.delete
      if (night > 10 && held.length === 0 && !isEqual(program.service.shown, truth))
        faults.push(`night ${night}: deletes wait`)
    }
    if (deletes === 0) faults.push('nothing was deleted in a year')
  })

const lastSold = (setting: Setting): Promise<CaseTold> =>
  played('the last listing sold', setting, async (program, faults) => {
    const [only] = someEntries(setting, 1)
    for (let night = 0; night < 5; night++) await program.run(bytesOf({ entries: [only] }), start + night * day)
    for (let night = 5; night < 9; night++) {
      await program.run(bytesOf({ entries: [] }), start + night * day)
      const wanted = night < 8 ? 1 : 0
      if (program.service.shown.size !== wanted)
        faults.push(`${program.service.shown.size} shown ${(night - 5) * 24} hours after`)
    }
  })

export const playCases = (setting: Setting): Promise<CaseTold[]> =>
  Promise.all([firstLoad(setting), keyless(setting), lastSold(setting)])
