/** What is held, for how long, and what lets it go. */
import type { Mutant } from './mutant.ts'

export const guardMutants: readonly Mutant[] = [
  {
    name: 'another content is the same hold',
    file: 'src/plan/guard/scales.ts',
    from: ' || (record.content !== null && record.content !== policy.contentOf(action, part))',
    to: '',
    also: [
      {
        file: 'src/store/holds.ts',
        from: "const isSame = '(content IS NULL OR content = excluded.content)'",
        to: "const isSame = '(1 = 1)'",
      },
    ],
  },
  {
    name: 'an approval outlasts another content',
    test: 'test/contract/store.ts › keep their time and their clock while the content is the same, and begin anew with another',
    runs: 'test/store/sqlite.test.ts',
    file: 'src/store/holds.ts',
    from: 'decision = iif(${isSame}, decision, NULL)',
    to: 'decision = decision',
  },
  {
    name: 'a clock outlasts another content',
    test: 'test/contract/store.ts › keep their time and their clock while the content is the same, and begin anew with another',
    runs: 'test/store/sqlite.test.ts',
    file: 'src/store/holds.ts',
    from: 'clock = iif(${isSame}, coalesce(clock, excluded.clock), excluded.clock)',
    to: 'clock = coalesce(clock, excluded.clock)',
  },
  {
    name: 'every run begins each clock anew',
    file: 'src/store/holds.ts',
    from: 'coalesce(clock, excluded.clock)',
    to: 'excluded.clock',
  },
  {
    name: 'an incomplete delivery ends holds',
    file: 'src/store/holds.ts',
    from: 'if (isWhole) doubt(feed, of)',
    to: 'doubt(feed, of)',
    also: [{ from: 'if (isWhole) drop.run(feed)', to: 'drop.run(feed)' }],
  },
  {
    name: 'no hold is ended by what the feed says',
    file: 'src/store/holds.ts',
    from: 'if (isWhole) drop.run(feed)',
    to: '',
  },
  {
    name: 'confirmed after a day',
    file: 'src/plan/guard/scales.ts',
    from: 'confirm !== null && now - clock >= confirm',
    to: 'confirm !== null && now - clock >= confirm / 3',
  },
  {
    name: 'never confirmed',
    file: 'src/plan/guard/scales.ts',
    from: 'confirm !== null && now - clock >= confirm',
    to: 'confirm !== null && now - clock >= confirm * 1000',
  },
  {
    name: "the first load's sleep never ends",
    file: 'src/run/record.ts',
    from: 'noted.loaded = { chatbot, at: now }',
    to: 'void isLoad',
  },
  {
    name: 'a record without MLSNumber holds what went after it came',
    test: 'test/runs/guard.test.ts › %s keeps those that went with it and may be it, also a year later; all others go',
    file: 'src/plan/proof.ts',
    from: '(absentSince >= since && (notedAt === null || absentSince <= notedAt))',
    to: 'absentSince >= since',
  },
  {
    name: 'a delete that counts for nothing is not written down',
    file: 'src/apply/calls.ts',
    from: "return counts.length > 0 ? counts : ['left']",
    to: 'return counts',
  },
  {
    name: 'a withheld field is sent all the same',
    file: 'src/apply/outcomes.ts',
    from: "if (change.kind === 'create' || change.withheld === null) return sent",
    to: 'if (sent.listing) return sent',
  },
  {
    name: 'the record of a withheld update is skipped next time',
    file: 'src/apply/outcomes.ts',
    from: 'record: sent.record && { ...sent.record, raw: null }',
    to: 'record: sent.record',
  },
  {
    name: 'facts that changed before do not count',
    file: 'src/plan/guard/scales.ts',
    from: '[sum(before, this.#counts), ',
    to: '[{ ...this.#counts, ...(({ delete: gone, renumber, create }) => ({ delete: gone, renumber, create }))(sum(before, this.#counts)) }, ',
  },
  {
    name: 'no guard of facts',
    file: 'src/plan/guard/rules.ts',
    from: 'if (isFirstLoad || listings <= most) return null',
    to: 'if (isFirstLoad || listings <= 1e9) return null',
  },
  {
    name: 'what is still in its grace is taken to stay',
    file: 'src/plan/guard/scales.ts',
    from: "if (!counted.includes('delete')) this.#outlook.delete += by",
    to: 'void counted',
  },
  {
    name: 'an empty file may take as much as any other',
    file: 'src/plan/guard/rules.ts',
    from: 'if (seen.isEmpty) return 0',
    to: '',
  },
  {
    name: 'one of two of a home goes alone',
    file: 'src/plan/guard/guard.ts',
    from: '(isBesideHeld || !isLetGo(standing(partFor(trip)), trip.ends))',
    to: '!isLetGo(standing(partFor(trip)), trip.ends)',
    also: [{ from: 'if (isBesideHeld && held.size === 0)', to: 'if (isBesideHeld && held.size < 0)' }],
  },
  {
    name: 'a home is created beside what the list lacks',
    test: 'test/plan/guard.test.ts › renumbered: the pair, every other create, and of other deletes those of homes without an address',
    file: 'src/plan/guard/rules.ts',
    from: "if (pair === 'missing') return true",
    to: "if (pair === 'missing' && action.kind !== 'create') return true",
  },
]
