import { readFileSync, writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import type { App, CommandContext } from '../app/app.ts'
import { openApp } from '../app/open.ts'
import type { FeedConfig } from '../config/config.ts'
import { readQuestions } from '../config/questions.ts'
import { messageOf, UsageError, UserError } from '../core/errors.ts'
import { exitStatus } from '../core/exit.ts'
import { listingAt } from '../core/listing.ts'
import type { Listing } from '../core/listing.ts'
import { jsonDocument, many, printable, shorten } from '../core/text.ts'
import { triesIn, turned } from '../evaluate/compare.ts'
import type { Turned } from '../evaluate/compare.ts'
import { casesOf, evaluate, listingsWanted } from '../evaluate/evaluate.ts'
import type { Evaluation } from '../evaluate/evaluate.ts'
import { questionsAbout } from '../evaluate/generate.ts'
import { junit } from '../evaluate/junit.ts'
import { chosenFeeds, sessionOf, wholeNumber, withApp } from './command.ts'
import { openTranscript } from './transcript.ts'

interface EvaluateOptions {
  feed: string
  session?: string
  init?: true
  tries: string
  threshold: string
  sample: string
  transcript?: string
  junit?: string
  compare?: string
  format: 'text' | 'json'
}

/** `evaluate`: asks the questions of a file, judges the answers, and says what share passed. */
export function evaluateCommand(context: CommandContext, file: string, options: EvaluateOptions): Promise<number> {
  const sample = wholeNumber('--sample', options.sample, 1000)
  const tries = wholeNumber('--tries', options.tries, 100)
  const threshold = Number(options.threshold)
  if (!/^\d+(\.\d+)?$/.test(options.threshold) || threshold > 100)
    throw new UsageError(`--threshold takes percent from 0 to 100, not "${options.threshold}"`)
  return withApp(openApp(context, { logLevel: 'error' }), async (app) => {
    const [feed] = chosenFeeds(app.config, [options.feed])
    if (options.init) return init(app, feed, file, sample)
    const session = sessionOf('evaluate', options.session)
    const questions = readQuestions(file, read)
    const before = options.compare === undefined ? null : triesIn(earlier(options.compare), options.compare)
    const { named, any } = listingsWanted(questions)
    const others = any ? await app.reader().snapshot.latest(feed.chatbot, feed.name, sample) : []
    if (any && others.length === 0) throw new UserError(`${feed.name}: no listing was confirmed yet; run sync first`)
    const listings = await confirmed(app, feed, [...named, ...others])
    const cases = casesOf(questions, listings, others)
    const transcript = openTranscript(options.transcript, app.doors)
    // One attempt: a question asked again would be counted again, and its answer may belong to the first one.
    const client = await app.client({ ...feed, service: { ...feed.service, attempts: 1 } })
    try {
      const evaluation = await evaluate(cases, {
        session,
        tries,
        ask: (content) => client.ask({ sessionID: session, content }, { signal: context.signal }),
        now: () => app.runtime.clock.now(),
        signal: context.signal,
        tried: (attempt) => transcript?.add(attempt),
      })
      if (options.junit !== undefined) app.doors.replace(options.junit, evaluation, (clean) => junit(feed.name, clean))
      const changes = before === null ? null : turned(before, evaluation.tries)
      const form = options.format === 'json' ? json : text
      app.doors.out.document({ evaluation, threshold, changes }, (clean) => form(feed, clean))
      return statusOf(evaluation, threshold)
    } finally {
      transcript?.close()
    }
  })
}

const read = (path: string): string => readFileSync(path, 'utf8')

function earlier(file: string): string {
  try {
    return read(file)
  } catch (error) {
    throw new UserError(`${file}: can't be read: ${messageOf(error)}`, { cause: error })
  }
}

/** What the service confirmed last, by MLSNumber. */
async function confirmed(app: App, { chatbot, name }: FeedConfig, keys: string[]): Promise<Map<string, Listing>> {
  const now = app.runtime.clock.now()
  const today = new Date(now).toISOString().slice(0, 10)
  const known = await app.reader().snapshot.confirmed(chatbot, name, [...new Set(keys)])
  return new Map([...known].map(([key, moving]) => [key, listingAt(moving, now, today)]))
}

/** `--init`: writes ten questions about each of the listings that were confirmed last. */
async function init(app: App, feed: FeedConfig, file: string, sample: number): Promise<number> {
  const keys = await app.reader().snapshot.latest(feed.chatbot, feed.name, sample)
  if (keys.length === 0) throw new UserError(`${feed.name}: no listing was confirmed yet; run sync first`)
  const listings = await confirmed(app, feed, keys)
  const tests = [...listings.values()].flatMap(questionsAbout)
  const about = many(listings.size, 'listing')
  const head = `# Questions about ${about}, for: listing-sync evaluate --feed ${feed.name} --session N FILE\n`
  try {
    writeFileSync(file, head + stringify({ tests }, { lineWidth: 0 }), { flag: 'wx' })
  } catch (error) {
    throw new UserError(`${file}: can't be written: ${messageOf(error)}`, { cause: error })
  }
  app.doors.out.write(`${printable(file)}: ${tests.length} questions about ${about}\n`)
  return exitStatus.right
}

function statusOf({ tries, passRate, stopped }: Evaluation, threshold: number): number {
  if (stopped !== null && tries.every(({ answer }) => answer === null)) return exitStatus.failed
  return passRate >= threshold && stopped === null ? exitStatus.right : exitStatus.partial
}

interface Outcome {
  evaluation: Evaluation
  threshold: number
  /** null: nothing to compare with. */
  changes: Turned[] | null
}

function json({ name, chatbot }: FeedConfig, { evaluation, threshold, changes }: Outcome): string {
  return jsonDocument({
    version: 1,
    feed: name,
    chatbot,
    threshold,
    ...evaluation,
    ...(changes && { turned: changes }),
  })
}

function text({ name, chatbot }: FeedConfig, { evaluation, threshold, changes }: Outcome): string {
  const { tries, passed, wanted, passRate, stopped } = evaluation
  const rate = Math.floor(passRate * 10) / 10
  const lines = [
    `${name} → chatbot ${printable(chatbot)}: ${passed} of ${wanted} passed, ${rate} % (threshold ${threshold} %)`,
  ]
  for (const attempt of tries.filter(({ pass }) => !pass)) {
    const why = attempt.problem ?? `the answer ${attempt.failures.join('; ')}`
    lines.push(
      `  failed  ${printable(attempt.id)}, try ${attempt.try}: ${printable(why)}`,
      `      asked     ${printable(attempt.question)}`,
    )
    if (attempt.answer !== null) lines.push(`      answered  "${shorten(printable(attempt.answer), 300)}"`)
  }
  if (stopped !== null) lines.push(`  ended early, ${wanted - tries.length} not done: ${printable(stopped)}`)
  for (const { id, before, now, to } of changes ?? [])
    lines.push(`  turned  ${printable(id)}: ${to} now, ${now}; before ${before}`)
  if (changes?.length === 0) lines.push('  no answer turned')
  return `${lines.join('\n')}\n`
}
