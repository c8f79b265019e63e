/** What a person is asked about goes at no time of its own, and what goes by itself is told apart from it: in the report, and in `status`. */
import { expect, test } from 'vitest'
import { homes } from '../support/homes.ts'
import { all, changed, night, nights, notes, playNights, rules, times, volatile, world } from './nights.ts'

playNights()

async function status(): Promise<string> {
  const { stdout } = await world.executed('status')
  return stdout
}

test('what is beyond belief was held before in part: no time is told, and it goes at none', async () => {
  const office = homes(1, 12)
  await nights(2, office)
  await nights(2, changed(8, times(10), office))
  for (let i = 0; i < 4; i++) {
    const report = await night(changed(10, times(10), office))
    expect(report).toMatchObject({ result: 'held', counts: { hold: 10 } })
    expect(rules(report)).toContain('unrecognisable')
    for (const text of [notes(report), await status()]) expect(text).not.toMatch(/by themselves|its time/)
    expect(await status()).toMatch(/10 changes held by unrecognisable since Tue 24 Nov 12:00; they wait for you/)
  }
})

test('an ordinary change joins what a person is asked about, in a delta: each is told with its own end', async () => {
  world.configure({ north: { volatile, delivery: 'delta' } })
  await night(all)
  await night([])
  await night(all.slice(0, 17).map((home) => ({ ...home, price: 1 })))
  const report = await night([...homes(101, 102), ...[all[18]].map(times(1.05))])
  expect(report).toMatchObject({ result: 'held', counts: { hold: 18, create: 2 } })
  expect(notes(report)).toContain(
    'Held: 18 updates of prices. They go by themselves on Sat 28 Nov 12:00 if the feed still says so, but for 17 that wait for you;',
  )
  expect(await status()).toMatch(/17 changes held by unrecognisable since Tue 24 Nov 12:00; they wait for you/)
  expect(await status()).toMatch(/1 change held by facts since Wed 25 Nov 12:00; it goes by itself on Sat 28 Nov 12:00/)
})

test('where the feed says another price each night, all that an approval covers is shown', async () => {
  const office = homes(1, 3)
  await nights(2, office)
  await night(changed(3, times(10), office))
  expect(rules(await night(changed(3, times(15), office)))).toContain('unrecognisable')
  const { stdout } = await world.executed('approve', 'north', '--yes')
  expect(stdout).toContain('$328,000 → $4,920,000 (+1,400%) or $328,000 → $3,280,000 (+900%)')
  expect(await night(changed(3, times(10), office))).toMatchObject({ result: 'ok', counts: { update: 3 } })
})
