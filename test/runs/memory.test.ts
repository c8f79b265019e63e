/** What a run had in memory goes with it: a daemon makes thousands of runs. */
import { expect, test } from 'vitest'
import { Scratch } from '../simulation/scratch.ts'
import { Office, day } from '../years/office.ts'
import { OfficeProgram, bytesOf } from '../years/program.ts'
import { collected } from '../support/collected.ts'
import { loadWorld } from '../years/world.ts'

const start = Date.UTC(2026, 0, 1)

test('a delivery is not kept after its run', async () => {
  const scratch = new Scratch()
  const program = new OfficeProgram(scratch)
  const office = new Office(loadWorld(undefined), 8, 7, start)
  const delivered = async (now: number): Promise<WeakRef<Buffer>> => {
    office.liveUntil(now)
    const bytes = bytesOf({ entries: office.entries(now) })
    await program.run(bytes, now)
    return new WeakRef(bytes)
  }
  const deliveries: WeakRef<Buffer>[] = []
  for (let night = 1; night <= 3; night++) deliveries.push(await delivered(start + night * day))
  await program.close()
  scratch.close()
  await collected()
  expect(deliveries.map((each) => each.deref() === undefined)).toEqual([true, true, true])
})
