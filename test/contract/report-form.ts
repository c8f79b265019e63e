import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Report, ReportForm, ReportedChange, ReportedHold } from '../../src/report/report.ts'
import type { RejectRow } from '../../src/workspace/workspace.ts'

const directory = 'fixtures/reports'

/** What a fixture may leave out. */
type Late = 'held' | 'home' | 'rules' | 'withheld'

type Written = Omit<Report, 'changes' | 'rejects' | 'holds' | 'reader'> & {
  holds?: (Omit<ReportedHold, 'keys'> & { keys: string[] })[]
  changes: (Omit<ReportedChange, 'heldSince' | Late> & Partial<Pick<ReportedChange, Late>>)[]
  rejects: RejectRow[]
  heldSince?: Record<string, number>
}

/** A report of the fixtures, by the name of its folder. */
export function readReport(name: string): Report {
  const written: Written = JSON.parse(readFileSync(`${directory}/${name}/report.json`, 'utf8'))
  const changes = written.changes.map((change) => ({
    ...change,
    held: change.held ?? null,
    home: change.home ?? null,
    rules: change.rules ?? [],
    withheld: change.withheld ?? [],
    heldSince: written.heldSince?.[change.mlsNumber] ?? null,
  }))
  const holds = (written.holds ?? []).map((hold) => ({ ...hold, keys: () => hold.keys }))
  const reader = { locale: 'en-US', timezone: 'America/Chicago' }
  return {
    ...written,
    reader,
    holds,
    changes: (kind) => changes.filter((change) => kind === undefined || change.kind === kind),
    rejects: () => written.rejects,
  }
}

export async function render(form: ReportForm, report: Report): Promise<string> {
  let text = ''
  await form.write(report, { write: (piece) => void (text += piece) })
  return text
}

/** What no output may hold, as it moves a terminal's cursor or shows a line in another order. */
// oxlint-disable-next-line no-control-regex
export const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069]/

/** What every form of a report promises (`ReportForm` of src/report/report.ts). */
export function reportFormContract(name: string, form: ReportForm): void {
  describe(`${name} keeps the contract of report forms`, () => {
    test.each(readdirSync(directory))('%s: lines of what can be shown, the same each time', async (fixture) => {
      const text = await render(form, readReport(fixture))
      expect(text).toMatch(/\n$/)
      expect(text).not.toMatch(unseen)
      expect(await render(form, readReport(fixture))).toBe(text)
      const around = [...Object.values(form.document), ...Object.values(form.several)].join('')
      expect(around).not.toMatch(unseen)
    })

    test('many rows come in pieces, and each is waited for', async () => {
      const report = readReport('changes')
      const [change] = report.changes()
      let [under, longest] = [0, 0]
      report.changes = function* () {
        for (let row = 0; row < 20_000; row++) yield { ...change, mlsNumber: `B-${row}` }
      }
      await form.write(report, {
        async write(text) {
          expect(++under).toBe(1)
          await Promise.resolve()
          under--
          longest = Math.max(longest, text.length)
        },
      })
      expect(longest).toBeLessThan(80_000)
    })
  })
}
