/** What is carried out, and what its answers are taken for. */
import type { Mutant } from './mutant.ts'

export const applyMutants: readonly Mutant[] = [
  {
    name: 'create without look-up',
    file: 'src/apply/calls.ts',
    from: 'if (change.lookUp || settings.lookUpCreates) {',
    to: 'if (change.lookUp && change.kind === "update") {',
  },
  {
    name: 'an update of nothing is done',
    file: 'src/apply/calls.ts',
    from: 'if (answer.value >= 1) return confirm(context, change, sent, unsettled)',
    to: 'if (answer.value >= 0) return confirm(context, change, sent, unsettled)',
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
    from: 'return refused(context, change, sent, refusal, unsettled)',
    to: '',
  },
  {
    name: 'a dry run writes into the store',
    file: 'src/sync.ts',
    from: 'const prepared = await prepare(feed, readers, true)',
    to: 'const prepared = await prepare(feed, readers, true)\n    remember(feed, readers.store as Store, readers.workspace, prepared)',
  },
  {
    name: 'a backfill deletes',
    file: 'src/sync.ts',
    from: "return await prepare(feed, writers, command === 'sync')",
    to: 'return await prepare(feed, writers, true)',
  },
  {
    name: 'forgotten after one absence',
    file: 'src/apply/calls.ts',
    from: "if (shown.length > 0) return record(context, change, 'skipped'",
    to: "if (shown.length > 1e9) return record(context, change, 'skipped'",
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
    from: 'if (!unsettled) mark.clear()',
    to: 'mark.clear()',
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
    from: 'kind, keys, runtime.clock.now(), approved)',
    to: 'kind, keys.slice(0, 1), runtime.clock.now(), approved)',
  },
  {
    name: 'a run leaves a listener behind',
    file: 'src/sync.ts',
    from: "signal.removeEventListener('abort', stop)",
    to: '',
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
    from: 'const prepared = await prepare(feed, readers, true)',
    to: 'const prepared = await prepare(feed, readers, false)',
  },
]
