/**
 * `npm run years -- [--years N] [--seed S] [--sizes 3,8,40] [--schedule nightly|weekly|hourly] [--attended [--days N]]
 * [--world FILE] [--only KIND]… [--save FILE] [--with FILE]… [--quiet]`: offices over years on the real program, and the
 * table of what they had to show. Ends with 1 where a number is missed; one is open where offices that it is asked of were not
 * played, and the others alone would miss it. `--attended`: after so many days somebody approves
 * what is right and refuses what is wrong. `--only`: nothing but the trials of these kinds of incidents or harmless changes;
 * `--no-trials`: the years alone.
 * `--save` writes what was found, `--with` adds it to another table: with `--years 0` to one of its own.
 */
import { randomInt } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { playCases } from './cases.ts'
import { seedOf } from './chance.ts'
import { defaultSetting, intervals, playTrials, playYears } from './play.ts'
import type { Schedule } from './play.ts'
import { asked, holdsOf, kindsOf, linesOf, tableOf } from './table.ts'
import type { Told } from './table.ts'
import { loadWorld } from './world.ts'

const { values } = parseArgs({
  options: {
    years: { type: 'string', default: '1' },
    seed: { type: 'string' },
    sizes: { type: 'string', default: asked.nightly.join() },
    schedule: { type: 'string' },
    attended: { type: 'boolean', default: false },
    days: { type: 'string', default: '1' },
    world: { type: 'string' },
    only: { type: 'string', multiple: true },
    'no-trials': { type: 'boolean', default: false },
    save: { type: 'string' },
    with: { type: 'string', multiple: true, default: [] },
    quiet: { type: 'boolean', default: false },
  },
})
const world = loadWorld(values.world)
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
const years = Number(values.years)
const sizes = values.sizes.split(',').map(Number)
const schedules = (values.schedule === undefined ? Object.keys(intervals) : [values.schedule]) as Schedule[]
if (!schedules.every((schedule) => Object.hasOwn(intervals, schedule)))
  throw new Error('schedule: nightly, weekly or hourly')
if (![seed, years, ...sizes].every((number) => Number.isInteger(number) && number >= 0))
  throw new Error('years, seed and sizes are whole numbers')
const setting = { ...defaultSetting(world, seed), attended: values.attended ? Number(values.days) : null }
const kinds = [...world.incidents, ...world.changes.filter(({ harmless }) => harmless)].map(({ kind }) => kind)
if (values.only?.some((kind) => !kinds.includes(kind))) throw new Error(`only: one of ${kinds.join(', ')}`)

/** Large offices and short intervals take long, and tell much in a few years. */
function yearsOf(size: number, schedule: Schedule): number {
  const part = (size > 600 ? 0.1 : 1) * (schedule === 'hourly' ? 0.1 : 1)
  return years === 0 || (schedule === 'hourly' && size > 100) ? 0 : Math.max(1, Math.round(years * part))
}

/** Offices of this size; each lives for five years at the most, as offices differ more than years do. */
const mostYears = 5
const offices = (size: number, schedule: Schedule): number[] => {
  const all = yearsOf(size, schedule)
  return Array.from({ length: Math.ceil(all / mostYears) }, (_, i) => Math.min(mostYears, all - i * mostYears))
}

const began = performance.now()
const played: Told = { years: [], trials: [], cases: [] }
const tell = (line: string): void => {
  const seconds = Math.round((performance.now() - began) / 1000)
  if (!values.quiet) process.stderr.write(`${seconds} s: ${line}\n`)
}

process.stdout.write(`seed ${seed}, ${years} years, offices of ${sizes.join(', ')}, ${schedules.join(', ')}\n`)
for (const size of sizes) {
  if (values.only === undefined)
    for (const schedule of schedules)
      for (const [i, count] of offices(size, schedule).entries()) {
        const office = await playYears({ ...setting, seed: seedOf(seed, size, schedule, i) }, size, count, schedule)
        played.years.push(office)
        tell(`${size} listings, ${schedule}, ${count} years, seed ${office.seed}: ${office.events.length} holds`)
      }
  if (values['no-trials'] || !schedules.includes('nightly')) continue
  for (const [i] of offices(size, 'nightly').entries()) {
    let damaged = 0
    for await (const trial of playTrials({ ...setting, seed: seedOf(seed, size, i) }, size, values.only)) {
      played.trials.push(trial)
      if (trial.isVisible && trial.row !== 'open' && trial.row !== 'harmless') damaged++
    }
    tell(
      `${size} listings, office ${i}: ${damaged} of ${played.trials.filter((trial) => trial.size === size).length} trials so far did damage`,
    )
  }
}
if (values.only === undefined && !values['no-trials'] && years > 0) played.cases = await playCases(setting)
if (values.save !== undefined) writeFileSync(values.save, JSON.stringify(played))
for (const file of values.with) {
  const earlier = JSON.parse(readFileSync(file, 'utf8')) as Told
  for (const part of ['years', 'trials', 'cases'] as const) played[part].push(...(earlier[part] as never[]))
}

const lines = linesOf(played)
const missed = lines.filter(({ isMet }) => isMet === false)
process.stdout.write(`\n${tableOf(lines)}\n${kindsOf(played.trials)}\n${holdsOf(played.years)}`)
for (const { what, misses } of missed)
  process.stdout.write(
    `\nmissed: ${what}\n${misses
      .slice(0, 20)
      .map((miss) => `  ${miss}\n`)
      .join('')}`,
  )
process.exitCode = missed.length === 0 ? 0 : 1
