/** What is carried out, and what its answers are taken for. */
import type { Mutant } from './mutant.ts'

export const applyMutants: readonly Mutant[] = [
  {
    name: 'create without look-up',
    file: 'src/apply/calls.ts',
    from: 'if (change.lookUp || orders.lookUpCreates) {',
    to: 'if (change.lookUp && change.kind === "update") {',
  },
  {
    name: "somebody's edit is the service's spelling",
    file: 'src/apply/look-at-written.ts',
    from: 'if (fields.some(isUnknown)) {',
    to: 'if (false) {',
  },
  {
    name: 'an update of nothing is done',
    file: 'src/apply/calls.ts',
    from: 'if (answer.value >= 1) return confirm(',
    to: 'if (answer.value >= 0) return confirm(',
  },
  {
    name: 'a delete that counts short is done',
    file: 'src/apply/calls.ts',
    from: 'if (answer.value >= keys.length) {',
    to: 'if (answer.value >= 0) {',
  },
  {
    name: 'a create without answer is done although a look-up lacks it',
    file: 'src/apply/calls.ts',
    from: 'if (isNew ? shown.length === 1 : arrived)',
    to: 'if (isNew || arrived)',
  },
  {
    name: 'a delete that may land late is forgotten',
    file: 'src/apply/calls.ts',
    from: 'unsettled || change.unsettled ? runtime.clock.now() : null',
    to: 'null',
  },
  {
    name: 'a refused create is taken for done',
    file: 'src/apply/calls.ts',
    from: 'return refused(context, stored, sent, refusal, unsettled)',
    to: '',
  },
  {
    name: 'a dry run writes into the store',
    file: 'src/sync.ts',
    from: "run.prepared = await prepare(feed, tools, 'diff', dryMirror(feed, tools.store))",
    to: "run.prepared = await prepare(feed, tools, 'diff', dryMirror(feed, tools.store))\n    await note(feed, tools as Writers, run.prepared)",
  },
  {
    name: 'a backfill deletes',
    file: 'src/sync.ts',
    from: 'const prepared = (run.prepared = await prepare(feed, tools, mode, mirror(feed, tools.store)))',
    to: "const prepared = (run.prepared = await prepare(feed, tools, 'sync', mirror(feed, tools.store)))",
  },
  {
    name: 'forgotten after one absence',
    file: 'src/apply/calls.ts',
    from: "if (shown.length > 0) return record(context, stored, 'skipped'",
    to: "if (shown.length > 1e9) return record(context, stored, 'skipped'",
  },
  {
    name: 'a refused update drops the mark of one without answer',
    file: 'src/apply/calls.ts',
    from: 'const unsettled = isThere && (',
    to: 'const unsettled = false && (',
  },
  {
    name: 'a refused batch drops the marks of an attempt without answer',
    file: 'src/apply/calls.ts',
    from: 'if (!unsettled) await mark.clear()',
    to: 'await mark.clear()',
  },
  {
    name: 'an adoption takes a baseline while an attempt may land',
    file: 'src/apply/outcomes.ts',
    from: 'baseline: change.unsettled ? null :',
    to: 'baseline:',
  },
  {
    name: 'only the first of a batch is marked',
    file: 'src/apply/calls.ts',
    from: 'const calls = changes.map(',
    to: 'const calls = changes.slice(0, 1).map(',
  },
  {
    name: 'a run leaves a listener behind',
    file: 'src/run/record.ts',
    from: '{ once: true, signal: finished.signal }',
    to: '{ once: true }',
  },
  {
    name: 'the plan is taken all at once',
    file: 'src/apply/apply.ts',
    from: 'if (running.size >= concurrency * 2) await',
    to: 'if (running.size >= 1e9) await',
  },
  {
    name: 'a dry run foretells no deletes',
    file: 'src/sync.ts',
    from: "run.prepared = await prepare(feed, tools, 'diff', ",
    to: "run.prepared = await prepare(feed, tools, 'backfill', ",
  },
  {
    name: 'what a delta deleted is done once it is counted',
    test: 'test/runs/delta.test.ts › a delete that was counted and not done is done by the next delta',
    file: 'src/run/record.ts',
    from: "if (kind === 'delete') return stillListed !== null && !stillListed.has(mlsNumber)",
    to: "if (kind === 'delete') return true",
  },
  {
    name: 'what a delta changed is done once it is confirmed',
    test: 'test/runs/delta.test.ts › an update that was confirmed and not done is sent again by the next delta',
    file: 'src/run/record.ts',
    from: "return kind === 'forget' || seen.has(mlsNumber)",
    to: 'return true',
  },
  {
    name: 'what was shown before an update is forgotten',
    file: 'src/apply/outcomes.ts',
    from: '? change.shownHash : null',
    to: '? null : null',
  },
  {
    name: 'an open house that is over stays so',
    file: 'src/core/listing.ts',
    from: "if (openHouseUntil > now) current.Tours = 'OpenHouse'",
    to: 'if (openHouseUntil > now) return current',
  },
]
