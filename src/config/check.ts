/** Problems of a configuration, each with a path and a line. */
import type { z } from 'zod'
import { located } from '../core/schema-words.ts'
import type { Located, Path } from '../core/schema-words.ts'
import { printable } from '../core/text.ts'
import { resoProblems, resoSchema } from '../feed/api/settings.ts'
import { readOnce, sourceSettingProblems } from '../feed/transport/transports.ts'
import { isLoopback } from '../core/loopback.ts'
import type { ConfigDocument, Filled } from './text.ts'

/** Zod's issues with a value at `above`, without those at a place that already has a problem. */
export function schemaProblems(error: z.ZodError | undefined, known: readonly Located[], above: Path = []): Located[] {
  const named = new Set(known.map(({ path }) => path.join('\n')))
  const found = (error?.issues ?? []).flatMap((issue) => located(issue, above))
  return found.filter(({ path }) => !named.has(path.join('\n')))
}

/** One line per problem, in the order of the file. Values of references are shown as the reference: they may be secrets. */
export function problemLines(
  problems: readonly Located[],
  lineOf: ConfigDocument['lineOf'],
  filled: readonly Filled[],
): string[] {
  return problems
    .map(({ path, problem }) => ({ path: shown(path, problem), problem: hidden(problem, filled), line: lineOf(path) }))
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .map(({ path, problem, line }) => {
      const place = path.length === 0 ? 'the whole file' : printable(path.join('.'))
      return `${place}: ${printable(problem)}${line === null ? '' : ` (line ${line})`}`
    })
}

/** A key that is none may be a value in the wrong place: `{ password hunter2 }`. */
function shown(path: Path, problem: string): Path {
  const isName = /^[\w.-]+$/.test(String(path.at(-1)))
  return isName || !/^(unknown key|is not a header name)/.test(problem) ? path : [...path.slice(0, -1), '…']
}

function hidden(problem: string, filled: readonly Filled[]): string {
  const longestFirst = filled.filter(({ value }) => value.length > 3).sort((a, b) => b.value.length - a.value.length)
  return longestFirst.reduce(
    (text, { value, reference }) =>
      text.replaceAll(value, () => reference).replaceAll(JSON.stringify(value).slice(1, -1), () => reference),
    problem,
  )
}

/** The value if it is a mapping, else an empty one, to walk a tree that may be wrong. */
export function mappingOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {}
}

/** A feed's service settings over the common ones, as written. The common keys are not sent to another origin. */
export function mergeService(common: unknown, own: unknown): Record<string, unknown> {
  const [base, over] = [mappingOf(common), mappingOf(own)]
  const merged: Record<string, unknown> = { ...base, ...over }
  for (const group of ['profile', 'backoff']) {
    if (group in base && group in over) merged[group] = { ...mappingOf(base[group]), ...mappingOf(over[group]) }
  }
  if (originOf(merged.baseUrl) !== originOf(base.baseUrl)) {
    for (const key of ['secretKey', 'sessionKey']) if (!(key in over)) delete merged[key]
  }
  return merged
}

function originOf(address: unknown): string | null {
  return typeof address === 'string' ? (URL.parse(address)?.origin ?? null) : null
}

/** A chatbot with `mirror` can have only one feed: another would delete the first one's listings. */
function mirrorProblems(feeds: Record<string, unknown>): Located[] {
  const written = Object.entries(feeds).map(([name, value]) => ({ name, ...mappingOf(value) }))
  return written.flatMap((feed: { name: string; chatbot?: unknown; ownership?: unknown }) => {
    if (feed.ownership !== 'mirror') return []
    const others = written.filter((other: typeof feed) => other !== feed && other.chatbot === feed.chatbot)
    if (others.length === 0) return []
    const problem = `mirror needs a chatbot with only one feed; this one is also used by ${others.map(({ name }) => name).join(', ')}`
    return [{ path: ['feeds', feed.name, 'ownership'], problem }]
  })
}

/**
 * Problems of several values together: a service without any key, settings that do not fit their feed's source. Parts of the
 * tree may be wrong; `known`: problems found so far.
 */
export function keyProblems(tree: unknown, known: readonly Located[]): Located[] {
  const { service, feeds } = mappingOf(tree)
  const common = mappingOf(service)
  const problems: Located[] = []
  const lacksKey = ({ baseUrl, secretKey, sessionKey }: Record<string, unknown>) =>
    originOf(baseUrl) !== null && typeof baseUrl === 'string' && !isLoopback(baseUrl) && !secretKey && !sessionKey
  const problem = 'needs a secretKey or a sessionKey, because it is not on this machine'
  if (lacksKey(common)) problems.push({ path: ['service'], problem })
  for (const [name, value] of Object.entries(mappingOf(feeds))) {
    const feed = mappingOf(value)
    const own = mappingOf(feed.service)
    if ('baseUrl' in own && lacksKey(mergeService(common, own))) {
      const problem = 'names another service, which needs its own secretKey or sessionKey'
      problems.push({ path: ['feeds', name, 'service'], problem })
    }
    for (const { path, problem } of liveProblems(feed)) problems.push({ path: ['feeds', name, ...path], problem })
    for (const { path, problem } of sourceSettingProblems(feed))
      problems.push({ path: ['feeds', name, ...path], problem })
  }
  problems.push(...mirrorProblems(mappingOf(feeds)))
  return problems.filter(({ path }) => !known.some((other) => other.path.join('.') === path.join('.')))
}

/** A live source that is right by itself, but whose parts do not fit, or which another setting of the feed is not for. */
function liveProblems(feed: Record<string, unknown>): Located[] {
  if (typeof feed.source === 'string') return []
  const source = resoSchema.safeParse(feed.source)
  if (!source.success) return []
  const problems = resoProblems(source.data).map(({ path, problem }) => ({ path: ['source', ...path], problem }))
  const foreign = ['member', 'encoding', 'headers', 'ca', 'login', 'ready', 'endsWithLineBreak', 'delivery'] as const
  for (const key of foreign)
    if (feed[key] !== undefined) problems.push({ path: [key], problem: 'is not for a live source (reso)' })
  return problems
}

/** A source that can be read only once serves one feed, without a schedule. */
export function inputProblems(tree: unknown): Located[] {
  const readers = new Map<string, string>()
  return Object.entries(mappingOf(mappingOf(tree).feeds)).flatMap(([name, feed]) => {
    const { source, schedule } = mappingOf(feed)
    const input = readOnce(source)
    if (input === null) return []
    const problems: Located[] = []
    const at = (key: string, problem: string) => problems.push({ path: ['feeds', name, key], problem })
    const reader = readers.get(input)
    if (reader !== undefined) at('source', `${input} can be read only once, and ${reader} already reads it`)
    if (schedule !== undefined) at('schedule', `${input} is only for runs by hand`)
    readers.set(input, reader ?? name)
    return problems
  })
}

/** What a feed had under a former name can go to one feed only, and not while another has that name. */
export function formerlyProblems(tree: unknown): Located[] {
  const feeds = mappingOf(mappingOf(tree).feeds)
  const takers = new Map<string, string>()
  return Object.entries(feeds).flatMap(([name, feed]) => {
    const { formerly } = mappingOf(feed)
    const problemOf = (old: unknown): string | null => {
      if (typeof old !== 'string') return null
      if (old === name) return 'is the name that the feed has now; leave it out'
      if (Object.hasOwn(feeds, old)) return `${old} is a feed of this configuration; take that feed out, or this name`
      const taker = takers.get(old)
      if (taker !== undefined && taker !== name)
        return `${taker} takes over what ${old} had; a former name can only be given to one feed`
      takers.set(old, name)
      return null
    }
    return (Array.isArray(formerly) ? formerly : []).flatMap((old, index) => {
      const problem = problemOf(old)
      return problem === null ? [] : [{ path: ['feeds', name, 'formerly', index], problem }]
    })
  })
}
