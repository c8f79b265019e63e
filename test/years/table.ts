/** The acceptance table: what was measured, against what it has to be. */
import type { CaseTold } from './cases.ts'
import type { Schedule, TrialTold, YearsTold } from './play.ts'

export interface Told {
  years: YearsTold[]
  trials: TrialTold[]
  cases: CaseTold[]
}

export interface Line {
  what: string
  /** null: nothing of it was played. */
  measured: string | null
  limit: string
  /** null: missed by the offices that were played, which are not all that it is asked of. */
  isMet: boolean | null
  /** It has to be 0, so that a few years can tell. */
  isZero: boolean
  /** What missed it. */
  misses: string[]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
const mean = (numbers: readonly number[]): number => sum(numbers) / numbers.length

function bySize<T extends { size: number }>(all: readonly T[]): [number, T[]][] {
  const sizes = [...new Set(all.map(({ size }) => size))].toSorted((a, b) => a - b)
  return sizes.map((size) => [size, all.filter((entry) => entry.size === size)])
}

/** The offices that rates are asked of: their mean is what has to be met, each size counting as much as another. */
const sizes = [3, 8, 40, 100, 600, 5000]
export const asked: Readonly<Record<Schedule, readonly number[]>> = {
  nightly: sizes,
  weekly: sizes,
  hourly: sizes.filter((size) => size <= 100),
}

function holdsLine(years: readonly YearsTold[], schedule: Schedule, isOrdinary: boolean, limit: number): Line {
  const played = bySize(years.filter((entry) => entry.schedule === schedule))
  const rates = played.map(([, offices]) => {
    const events = offices.flatMap((office) => office.events)
    const counted = isOrdinary ? events.filter(({ because }) => because.length === 0) : events
    return counted.length / sum(offices.map((office) => office.years))
  })
  const worst = isOrdinary ? mean(rates) : Math.max(...rates)
  const each = played.map(([size], i) => `${size}: ${rates[i].toFixed(2)}`).join(', ')
  const lacking = asked[schedule].filter((size) => !played.some(([number]) => number === size))
  // Of those that were not played no holds are the best that can be.
  const best = isOrdinary ? sum(rates) / (rates.length + lacking.length) : worst
  const without = isOrdinary && lacking.length > 0 ? `; without ${lacking.join(', ')}` : ''
  return {
    what: isOrdinary
      ? `ordinary holds an office-year, ${schedule}, the mean of all sizes`
      : `all holds an office-year, ${schedule}, any size`,
    measured: played.length === 0 ? null : `${worst.toFixed(3)} (${each}${without})`,
    limit: `≤ ${limit}`,
    isMet: played.length === 0 || worst <= limit || (best <= limit ? null : false),
    isZero: false,
    misses: [],
  }
}

function zeroLine(what: string, misses: string[], played: number): Line {
  const measured = played === 0 ? null : `${misses.length} of ${played}`
  return { what, measured, limit: '0', isMet: misses.length === 0, isZero: true, misses }
}

const nameOf = ({ kind, size, nights, seed, worst }: TrialTold): string =>
  `${kind}, ${size} listings, ${nights} ${nights === 1 ? 'night' : 'nights'}, seed ${seed}: ${worst} wrong`

function damageLine(what: string, trials: readonly TrialTold[], share: number): Line {
  const misses = trials.filter(({ isVisible }) => isVisible).map(nameOf)
  if (share === 0) return zeroLine(`visible damage: ${what}`, misses, trials.length)
  const part = misses.length / trials.length
  return {
    what: `visible damage: ${what}`,
    measured: trials.length === 0 ? null : `${(part * 100).toFixed(1)} % (${misses.length} of ${trials.length})`,
    limit: `≤ ${share * 100} %`,
    isMet: trials.length === 0 || part <= share,
    isZero: false,
    misses,
  }
}

/** Kinds that hit every listing; a doubling of a few listings is below what the guard asks about. */
const isOfAll = ({ row, kind, nights }: TrialTold): boolean =>
  (row === 'zero' || (row === 'keys' && nights <= 3)) && !kind.startsWith('half') && kind !== 'growth ×2'

export function linesOf({ years, trials, cases }: Told): Line[] {
  const large = trials.filter(({ size }) => size >= 40)
  const few = ({ nights }: TrialTold): boolean => nights <= 3
  const all = sum(years.map((office) => office.years))
  const asking = sum(years.map((office) => office.asking))
  const faults = years.flatMap(({ faults: found, size, seed }) =>
    found.map((fault) => `${size} listings, seed ${seed}, ${fault}`),
  )
  const isWrongEnd = (fault: string): boolean => fault.includes('shows other')
  const harmless = trials.filter(({ row }) => row === 'harmless')
  const undamaged = trials.filter(({ isVisible, row }) => !isVisible && row !== 'harmless')
  return [
    holdsLine(years, 'nightly', true, 0.05),
    holdsLine(years, 'weekly', true, 0.2),
    holdsLine(years, 'hourly', true, 0.2),
    holdsLine(years, 'nightly', false, 1),
    zeroLine(
      'held for more than 72 hours and a run, or asking while ready',
      faults.filter((fault) => !isWrongEnd(fault)),
      sum(years.map(({ runs }) => runs)),
    ),
    zeroLine(
      'runs that hold nothing and show other than the office has',
      faults.filter(isWrongEnd),
      sum(years.map(({ runs }) => runs)),
    ),
    {
      what: 'offices with a hold open at the end of a year that asks',
      measured: all === 0 ? null : `${((asking / all) * 100).toFixed(1)} % (${asking} of ${all})`,
      limit: '≤ 3 %',
      isMet: all === 0 || asking / all <= 0.03,
      isZero: false,
      misses: years.filter((office) => office.asking > 0).map(({ size, seed }) => `${size} listings, seed ${seed}`),
    },
    zeroLine(
      'footer, photo addresses, rounding and the like: held',
      harmless
        .filter(({ alerts, heldAfter }) => alerts + heldAfter > 0)
        .map(({ kind, size, seed }) => `${kind}, ${size} listings, seed ${seed}`),
      harmless.length,
    ),
    damageLine(
      'kinds that hit all, 1, 3 or 10 nights, from 40',
      large.filter(({ row }) => row === 'zero'),
      0,
    ),
    damageLine(
      'keys and doubling, 1 or 3 nights, from 40',
      large.filter((trial) => trial.row === 'keys' && few(trial)),
      0,
    ),
    damageLine(
      'the same at fewer than 40, without doubling',
      trials.filter((trial) => trial.size < 40 && isOfAll(trial)),
      0.03,
    ),
    damageLine(
      'half of anything, 1 or 3 nights, from 40',
      large.filter((trial) => trial.row === 'half' && few(trial)),
      0.02,
    ),
    damageLine(
      'old files and databases, from 100',
      trials.filter(({ row, size }) => row === 'old' && size >= 100),
      0.1,
    ),
    {
      what: 'runs that hold something after the feed is right again, where nothing wrong got through',
      measured: undamaged.length === 0 ? null : `at most ${Math.max(...undamaged.map(({ heldAfter }) => heldAfter))}`,
      limit: '≤ 1',
      isMet: undamaged.every(({ heldAfter }) => heldAfter <= 1),
      isZero: true,
      misses: undamaged
        .filter(({ heldAfter }) => heldAfter > 1)
        .map((trial) => `${nameOf(trial)}, held ${trial.heldAfter} runs`),
    },
    ...Array.from(
      Map.groupBy(cases, ({ what }) => what),
      ([what, played]) =>
        zeroLine(
          what,
          played.flatMap(({ faults: found }) => found),
          played.length,
        ),
    ),
  ]
}

/** The table as Markdown. */
export function tableOf(lines: readonly Line[]): string {
  const rows = lines.map(
    ({ what, measured, limit, isMet }) =>
      `| ${what} | ${measured ?? '–'} | ${limit} | ${measured === null ? '' : isMet === null ? 'open' : isMet ? 'met' : '**missed**'} |`,
  )
  return ['| | measured | has to be | |', '| --- | --- | --- | --- |', ...rows, ''].join('\n')
}

/** Of each kind how many trials did visible damage, by nights and size; `row`s that the table doesn't judge, too. */
export function kindsOf(trials: readonly TrialTold[]): string {
  const lengths = [...new Set(trials.map(({ nights }) => nights))]
    .filter((nights) => nights !== 2)
    .toSorted((a, b) => a - b)
  const wrong = trials.filter(({ row }) => row !== 'harmless')
  const rows = [...new Set(wrong.map(({ kind }) => kind))].flatMap((kind) => {
    const ofKind = wrong.filter((trial) => trial.kind === kind)
    if (!ofKind.some(({ isVisible }) => isVisible)) return []
    const cells = lengths.map((nights) =>
      bySize(ofKind.filter((trial) => trial.nights === nights))
        .map(([size, ofSize]) => `${size}: ${ofSize.filter(({ isVisible }) => isVisible).length}/${ofSize.length}`)
        .join(', '),
    )
    return [`| ${kind} | ${cells.join(' | ')} |`]
  })
  const heads = lengths.map((nights) => (nights === 1 ? '1 night' : `${nights} nights`))
  return [`| kind | ${heads.join(' | ')} |`, `| --- |${' --- |'.repeat(heads.length)}`, ...rows, ''].join('\n')
}

/** What was held while the feed was right, and why. */
export function holdsOf(years: readonly YearsTold[]): string {
  const counts = new Map<string, number>()
  for (const { events, size, schedule } of years)
    for (const { rules, because } of events) {
      const reason = because.length === 0 ? 'ordinary life' : [...new Set(because)].join(' and ')
      const words = `${reason}: ${rules.join(', ')} (${schedule}, ${size})`
      counts.set(words, (counts.get(words) ?? 0) + 1)
    }
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([words, count]) => `${count} × ${words}\n`)
    .join('')
}
