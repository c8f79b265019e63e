import { styleText } from 'node:util'
import type { App, CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import { listedSubjects, verifySubjects } from '../app/verify.ts'
import type { FeedConfig } from '../config/config.ts'
import { verifySchema } from '../verify/settings.ts'
import type { VerifySettings } from '../verify/settings.ts'
import { UsageError, UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { jsonDocument, many, printable } from '../core/text.ts'
import { answerText, verdictOf, verifiedSentence } from '../report/verified.ts'
import type { Verification, VerifiedListing } from '../verify/verification.ts'
import { chosenFeeds, withApp } from './command.ts'

interface VerifyOptions {
  feed: string
  session?: string
  sample?: string
  format: 'text' | 'json'
}

const day = 86_400_000

/**
 * `verify`: asks the chatbot about the named listings, or about some confirmed last and one or two deleted ones, and compares
 * its answers with the confirmed listings in the store.
 */
export function verifyCommand(context: CommandContext, mlsNumbers: string[], options: VerifyOptions): Promise<number> {
  return withApp(openApp(context, { logLevel: 'error' }), async (app) => {
    const [feed] = chosenFeeds(app.config, [options.feed])
    const settings = settingsOf(feed, options)
    const keys = mlsNumbers.length > 0 ? [...new Set(mlsNumbers)] : await latest(app, feed, settings.sample)
    if (keys.length === 0)
      throw new UserError(`${feed.name}: nothing to ask about: no listing was confirmed yet; run sync first`)
    const subjects = await listedSubjects(app, feed, keys, app.reader())
    const verification = await verifySubjects(app, feed, settings, subjects, context.signal, app.reader())
    const form = options.format === 'json' ? json : written
    app.doors.out.document(verification, (clean) => form(feed, clean))
    return statusOf(verification)
  })
}

function settingsOf(feed: FeedConfig, { session, sample }: VerifyOptions): VerifySettings {
  const settings = { ...verifySchema.parse({}), ...feed.verify }
  const asked = session === undefined ? feed.verify?.session : Number(session)
  if (session !== undefined && (!/^-?\d+$/.test(session) || !Number.isSafeInteger(asked)))
    throw new UsageError(`--session takes the number of a chat session, not "${session}"`)
  if (asked === undefined)
    throw new UsageError(`verify needs --session N, because the configuration has no verify for ${feed.name}`)
  const most = sample === undefined ? settings.sample : Number(sample)
  if (sample !== undefined && (!/^\d+$/.test(sample) || most < 1 || most > 100))
    throw new UsageError(`--sample takes a number from 1 to 100, not "${sample}"`)
  return { ...settings, session: asked, sample: most }
}

async function latest(app: App, { name, chatbot }: FeedConfig, sample: number): Promise<string[]> {
  const { ledger, snapshot } = app.reader()
  const most = Math.min(2, Math.ceil(sample / 2))
  const deleted = await ledger.latest(chatbot, name, app.runtime.clock.now() - day, most)
  return [...(await snapshot.latest(chatbot, name, sample)), ...deleted]
}

function statusOf({ listings, agreed, stopped }: Verification): number {
  const nobodyAnswered = stopped !== null && listings.every(({ answer }) => answer === null)
  if (nobodyAnswered) return exitStatus.failed
  return agreed === listings.length ? exitStatus.right : exitStatus.partial
}

function json({ name, chatbot }: FeedConfig, verification: Verification): string {
  return jsonDocument({ version: 1, feed: name, chatbot, ...verification })
}

function written({ name, chatbot }: FeedConfig, verification: Verification): string {
  const title = `${name} → chatbot ${printable(chatbot)}, session ${verification.session}: ${verifiedSentence(verification)}`
  return [styleText('bold', title), ...verification.listings.flatMap(listingLines)].join('\n') + '\n'
}

function listingLines(listing: VerifiedListing): string[] {
  const { mlsNumber, verdict, question, tokens } = listing
  const tone = verdict === 'agrees' ? 'green' : verdict === 'disagrees' ? 'red' : 'yellow'
  return [
    `  ${styleText(tone, printable(mlsNumber))}  ${verdictOf(listing)}`,
    `      asked     ${printable(question)}`,
    ...(listing.answer === null
      ? []
      : [`      answered  ${answerText(listing)}${tokens === null ? '' : ` (${many(tokens, 'token')})`}`]),
  ]
}
