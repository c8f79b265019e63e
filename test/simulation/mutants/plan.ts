/** What is decided: the table, the guard, the inputs of both. */
import type { Mutant } from './mutant.ts'

export const planMutants: readonly Mutant[] = [
  {
    name: 'an edit that is kept is the form in which a listing is shown',
    test: 'test/runs/policies.slow.test.ts › another one than keep since: what was left as it is is seen again',
    file: 'src/plan/present.ts',
    from: "if (isKept) notes.push({ op: 'kept', key })\n  else if (",
    to: 'if (',
  },
  {
    name: 'homes without an address are not told by their number',
    test: 'test/runs/renumbered-homes.slow.test.ts › without an address are told by their number, which is only spelled otherwise',
    file: 'src/workspace/changes.ts',
    from: "const isHalf = change.kind === 'create' ||",
    to: "const isHalf = change.kind !== 'create' &&",
  },
  {
    name: 'what a clock that was ahead noted of calls stays as it is',
    test: 'test/runs/unanswered.test.ts › under a clock that was a year ahead: it waits for `settle` from when the clock is right, and no year',
    file: 'src/store/set-back.ts',
    from: "'put_right_at', 'flight_at', 'missed_at'",
    to: "'put_right_at'",
  },
  {
    name: 'validators are taken along to other headers',
    test: 'test/runs/unchanged.slow.test.ts › what another account is given is asked for without the validators of the one before',
    file: 'src/app/wire.ts',
    from: '[String(identity), ...Object.entries(transport.headers).flat()]',
    to: '[String(identity)]',
  },
  {
    name: 'delete by absence from an incomplete delivery',
    file: 'src/plan/proof.ts',
    from: 'if (!delivery.complete) return none(',
    to: 'if (false) return none(',
  },
  {
    name: 'delete by absence under an incomplete list',
    file: 'src/plan/proof.ts',
    from: 'if (!sides.remote.complete && !(gone.isStated && gone.isShown))',
    to: 'if (!sides.remote.complete && !gone.isShown)',
  },
  {
    name: 'delete although a record was unreadable',
    file: 'src/plan/proof.ts',
    from: 'if (!isDeleteApproved(gone.remembered) && keyless.some(',
    to: 'if (false && keyless.some(',
  },
  {
    name: 'guard counts a run, not 24 hours',
    file: 'src/plan/guard/scales.ts',
    from: 'counts: { ...carriedOut },',
    to: 'counts: { ...carriedOut, delete: 0 },',
  },
  {
    name: 'no guard of deletes',
    file: 'src/plan/guard/rules.ts',
    from: 'if (seen.isEmpty) return 0',
    to: 'if (seen.ours >= 0) return Infinity',
  },
  {
    name: 'settle ignored',
    file: 'src/plan/situation.ts',
    from: 'settings.remote.complete && settings.remoteStartedAt >= landed',
    to: 'settings.remote.complete',
  },
  {
    name: 'reject treated as absent',
    file: 'src/plan/decide.ts',
    from: 'if (reject !== undefined)',
    to: 'if (reject !== undefined && (wanted.length > 0 || stated !== null))',
  },
  {
    name: 'foreign row taken for ours',
    file: 'src/plan/situation.ts',
    from: 'known.ours = isOurs(known)',
    to: 'known.ours = known.shown.length > 0 || isOurs(known)',
  },
  {
    name: "another feed's listing taken",
    file: 'src/plan/present.ts',
    from: 'if (other !== null && !takesOver)',
    to: 'if (false)',
  },
  {
    name: 'first of two differing records wins',
    file: 'src/plan/decide.ts',
    from: 'if (wanted.length > 1 ||',
    to: 'if (false ||',
  },
  {
    name: 'shown twice and updated all the same',
    file: 'src/plan/present.ts',
    from: 'if (shown.length > 1)',
    to: 'if (shown.length > 1e9)',
  },
  {
    name: 'shown twice and deleted all the same',
    file: 'src/plan/absent.ts',
    from: "if (shown.length > 1) return twiceShown(situation, 'delete', home)",
    to: '',
  },
  {
    name: 'a lost store goes unnoticed',
    file: 'src/run/plan.ts',
    from: 'isUnknown || others.isBehind || others.found.length > 0',
    to: 'others.isBehind',
  },
  {
    name: 'an approval makes a doubtful list trusted',
    file: 'src/plan/guard/scales.ts',
    from: "if (kind === 'forget' || cause === 'gone-from-service') this.doubts++",
    to: "if (kind === 'forget' || (cause === 'gone-from-service' && !isLetGo(standingOf(remembered, action, 'create', this.#policy), 'listed again', this.#policy))) this.doubts++",
  },
  {
    name: 'approval lets everything through',
    file: 'src/run/guard.ts',
    from: '...tripsOf(seen, limits)',
    to: `...(await (async () => {
    let isAnyApproved = false
    await workspace.turn('remembered', (_, { remembered }) => {
      isAnyApproved ||= remembered.holds.some(({ decision }) => decision === 'approved')
      return null
    })
    return isAnyApproved ? [] : tripsOf(seen, limits)
  })())`,
  },
  {
    name: 'forgotten while a create may land',
    test: 'test/simulation/found.test.ts › a listing is not forgotten while a create of it may still land (seed 391)',
    file: 'src/plan/absent.ts',
    from: 'return mine !== null && (isUnderWay(',
    to: 'return mine !== null && settings.now < 0 && (isUnderWay(',
  },
  {
    name: 'duplicates are not counted',
    file: 'src/run/plan.ts',
    from: 'summary.listings -= facts.duplicates',
    to: '',
  },
  {
    name: 'no grace',
    file: 'src/plan/absent.ts',
    from: 'return more + rest || null',
    to: 'return null',
  },
  {
    name: 'drift is overwritten against the configuration',
    file: 'src/plan/present.ts',
    from: "return drift === 'overwrite' ? sendAgain :",
    to: 'return now > 0 ? sendAgain :',
  },
  {
    name: "what nobody looked at is the service's spelling",
    file: 'src/plan/present.ts',
    from: 'if (isFirst && fields.every(({ field }) => forms.has(field))) return null',
    to: 'if (isFirst) return null',
  },
  {
    name: "nobody's row in an incomplete list is updated unseen",
    test: 'test/simulation/found.test.ts › what an incomplete list shows of nobody is looked up before it is updated, as a copy may be unseen (seed 205837)',
    file: 'src/plan/present.ts',
    from: 'lookUp: item !== null && !settings.remote.complete && (mine?.owned !== true || otherOwner(situation) !== null),',
    to: 'lookUp: false,',
  },
  {
    name: 'no guard of what nobody would recognise',
    test: "test/runs/guard.test.ts › another customer's feed: nothing of it is carried out, and no time lets it go",
    file: 'src/plan/guard/rules.ts',
    from: 'if (ours < leastOffice || !remaining',
    to: 'if (ours >= 0 || !remaining',
  },
  {
    name: 'a delete under way is carried out by the next run',
    file: 'src/plan/present.ts',
    from: "if (item !== null) return adoptOrUpdate(situation, item, 'settle', unanswered)",
    to: "if (item !== null && flight === 'delete') return new DeleteAbsent(AbsenceProof.of(settings, { mlsNumber: situation.key, isStated: true, isDelivered: true, isShown: true, home: null, snapshot: mine.id, remembered: situation.history }), { why: 'it was to go', isYoung: false, shownHash: item.hash, unsettled: false })\n  if (item !== null) return adoptOrUpdate(situation, item, 'settle', unanswered)",
    also: [
      {
        from: "import { hold, isPutRight } from './change.ts'",
        to: "import { DeleteAbsent, hold, isPutRight } from './change.ts'\nimport { AbsenceProof } from './proof.ts'",
      },
    ],
  },
]
