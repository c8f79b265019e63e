import { userInfo } from 'node:os'
import type { CommandContext } from '../app/app.ts'
import {
  byListing,
  byRule,
  findingsOf,
  groupInWords,
  groupsOf,
  isApprovable,
  isWaiting,
  lineOf,
  manyInWords,
  mostRead,
  ofNoRule,
  withoutHolds,
} from '../app/held.ts'
import type { Approvable } from '../app/held.ts'
import { openApp } from '../app/open.ts'
import type { FeedConfig } from '../config/config.ts'
import { UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { jsonDocument, many, printable } from '../core/text.ts'
import { minuteIn } from '../core/zone.ts'
import { runInWords } from '../daemon/run-in-words.ts'
import { dueTimes } from '../daemon/schedule.ts'
import { approvalLasts } from '../store/holds.ts'
import { chosenFeeds, confirmed, wantsMore, withApp } from './command.ts'

const nothingHeld = 'the guard holds nothing that could be approved'

/** Homes on one page of a terminal; elsewhere, most homes shown for a rule. */
const pageLines = 20
const mostElsewhere = 500

/**
 * `approve`: shows what the guard holds now and lets exactly that through, once. `--refuse` keeps it held until the feed says
 * otherwise; `--revoke` takes back either. `ask` asks for the decision, `more` for the next page. If other changes are held by the
 * time of the answer, or somebody else has decided, it shows that and throws, and nothing is decided.
 */
export function approveCommand(
  context: CommandContext,
  name: string,
  options: { format?: 'text' | 'json'; yes?: true; refuse?: true; revoke?: true },
  ask = confirmed,
  more = wantsMore,
): Promise<number> {
  return withApp(openApp(context), async (app) => {
    const [feed] = chosenFeeds(app.config, [name])
    const isJson = options.format === 'json'
    // Standard output is for the JSON document only.
    const people = isJson ? app.doors.err : app.doors.out
    const write = (text: string): void => {
      if (!isJson || !options.yes) people.write(text)
    }
    const say = (text: string): void => write(`${feed.name}: ${text}\n`)
    const { holds, runs } = app.store()
    const ownStore = await withoutHolds(feed, app.store())
    const own = ownStore.holds
    const now = app.runtime.clock.now()
    /** The JSON document: what was done, also in words, and until when an approval lasts. */
    const document = async (
      decision: 'approved' | 'refused' | 'revoked' | null,
      changes: number,
      held: readonly Approvable[],
      message: string | null = null,
    ): Promise<void> => {
      if (!isJson) return
      const groups = groupsOf(held, feed, now, held.length === 0 ? new Map() : await findingsOf(runs, feed.name))
      const until = decision === 'approved' ? new Date(now + approvalLasts).toISOString() : null
      const answer = { feed: feed.name, decision, changes, held: held.map(entryOf), holds: groups, until, message }
      app.doors.out.document(answer, jsonDocument)
    }
    /** A run carries out what it planned, whatever is decided meanwhile. */
    const goesOn = async (): Promise<string> => {
      const run = await runInWords(runs, feed, now)
      return run === null ? '' : `. This run goes on by what was decided before it, unless you stop it: ${run}`
    }
    if (options.revoke) {
      const revoked = (await holds.decide(feed.name, null, whoIsIt(), now, null)) ?? 0
      const taken = `${many(revoked, 'decision')} ${revoked === 1 ? 'is' : 'are'}`
      const done = revoked === 0 ? 'nothing was approved or refused that could be taken back' : `${taken} taken back`
      const message = `${done}${await goesOn()}`
      say(message)
      await document(revoked === 0 ? null : 'revoked', revoked, [], message)
      return exitStatus.right
    }
    const reader = { locale: app.config.locale, timezone: feed.timezone }
    /** Shows homes page by page to a reader, who may go on to the question at any time. `of`: how many there are. */
    const showHomes = async (all: readonly Approvable[], of = byListing(all).length): Promise<void> => {
      const group = byListing(all)
      const pages = people.isTTY && !options.yes
      const most = pages ? pageLines : mostElsewhere
      for (let from = 0; from < group.length; from += most) {
        write(
          group
            .slice(from, from + most)
            .map((entry) => `    ${lineOf(entry, reader)}\n`)
            .join(''),
        )
        const left = of - from - most
        if (left <= 0) return
        const hasNext = pages && from + most < group.length
        if (hasNext && (await more(`${left} more of this rule: Enter shows them, q goes on`, context.signal))) continue
        write(`    and ${left} more\n`)
        return
      }
    }
    const show = async (): Promise<{ held: Approvable[]; count: number }> => {
      const at = app.runtime.clock.now()
      const all = await own.approvable(feed.name)
      if (all > mostRead && !isJson) {
        const some = (await own.held(feed.name, at, { most: mostRead })).filter(isApprovable)
        say(`${all} held`)
        for (const { rule, listings, sentence } of await manyInWords(ownStore, feed, at)) {
          write(`  ${printable(sentence)}\n`)
          await showHomes(
            some.filter(({ rules }) => rules.includes(rule)),
            listings,
          )
        }
        const others = all - (await own.waiting(feed.name, at))
        if (others > 0) {
          write(`  ${many(others, 'change')} approved before, or held by ${ofNoRule}\n`)
          await showHomes(
            some.filter((hold) => !isWaiting(hold)),
            others,
          )
        }
        return { held: some, count: all }
      }
      const held = (await own.held(feed.name, at)).filter(isApprovable)
      say(held.length === 0 ? nothingHeld : `${byListing(held).length} held`)
      for (const [rules, group] of byRule(held)) {
        write(`  ${groupInWords(rules, group, feed, now)}\n`)
        await showHomes(group)
      }
      return { held, count: byListing(held).length }
    }
    const fingerprint = await holds.fingerprint(feed.name)
    const { held, count } = await show()
    const decision = options.refuse ? 'refused' : 'approved'
    const isOfList = held.some(({ rules }) => rules.includes('chatbot'))
    const otherwise = `until the feed${isOfList ? ', or a later list of the chatbot,' : ''} says otherwise`
    const question = options.refuse
      ? `Keep ${count === 1 ? 'this one' : `these ${count}`} held ${otherwise}?`
      : `Let ${count === 1 ? 'this one' : `these ${count}`} through with the next run?`
    if (count === 0 || (!options.yes && !(await ask('approve', question, context.signal)))) {
      await document(null, 0, held, count === 0 ? nothingHeld : null)
      return count === 0 ? exitStatus.right : exitStatus.failed
    }
    const decided = await holds.decide(feed.name, decision, whoIsIt(), app.runtime.clock.now(), fingerprint)
    if (decided === null) {
      const message = `nothing was ${decision}, as a run ended or somebody else decided meanwhile; the last list is what is held now`
      await document(null, 0, (await show()).held, message)
      throw new UserError(`${feed.name}: ${message}`)
    }
    const message = options.refuse
      ? `${decided} refused; ${decided === 1 ? 'it stays' : 'they stay'} held ${otherwise}${await goesOn()}`
      : `${decided} approved; the next run carries ${decided === 1 ? 'it' : 'them'} out if the feed still says so. ${lastOf(feed, now)}`
    await document(decision, decided, held, message)
    say(message)
    return exitStatus.right
  })
}

/** Until when an approval given now lasts, and what to do if no scheduled run comes in time. */
function lastOf({ name, schedule, timezone }: FeedConfig, now: number): string {
  const until = now + approvalLasts
  const isLate = schedule !== null && (dueTimes({ expression: schedule, timezone }).next(now) ?? Infinity) >= until
  const before = isLate ? `, before the next run by the clock: listing-sync sync ${name}` : ''
  return `The approval ends on ${minuteIn(timezone, until)}${before}`
}

/** What is held, for programs. */
function entryOf({ mlsNumber, part, why, rules, since, home }: Approvable) {
  const { address = null, city = null, saleType = null, currency = null, price = { from: null, to: null } } = home ?? {}
  const at = new Date(since).toISOString()
  return { mlsNumber, part, why, rules, since: at, address, city, saleType, currency, price }
}

/** Who decides: the user's name, else the uid (in a container the user may have no name), else "unknown". */
function whoIsIt(): string {
  try {
    return userInfo().username
  } catch {
    return process.getuid === undefined ? 'unknown' : `uid ${process.getuid()}`
  }
}
