/**
 * What is wrong with a configuration, as sentences with a path and a line.
 */
import type { z } from 'zod'
import { located } from '../core/schema-words.ts'
import type { Located } from '../core/schema-words.ts'
import { printable } from '../core/text.ts'
import { readOnce, sourceSettingProblems } from '../feed/transport/transports.ts'
import { isLoopback } from '../service/base-url.ts'
import type { ConfigDocument, Filled } from './text.ts'

/** Zod's issues, without those about a value whose reference could not be filled in: one problem is enough. */
export function schemaProblems(error: z.ZodError | undefined, known: readonly Located[]): Located[] {
  const named = new Set(known.map(({ path }) => path.join('\n')))
  return (error?.issues ?? []).flatMap((issue) => located(issue)).filter(({ path }) => !named.has(path.join('\n')))
}

/** One line a problem, in the order of the file. What a reference gave is shown as the reference: it may be a secret. */
export function problemLines(
  problems: readonly Located[],
  lineOf: ConfigDocument['lineOf'],
  filled: readonly Filled[],
): string[] {
  return problems
    .map(({ path, problem }) => ({ path, problem: hidden(problem, filled), line: lineOf(path) }))
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .map(({ path, problem, line }) => {
      const place = path.length === 0 ? 'the whole file' : printable(path.join('.'))
      return `${place}: ${printable(problem)}${line === null ? '' : ` (line ${line})`}`
    })
}

function hidden(problem: string, filled: readonly Filled[]): string {
  const longestFirst = filled.filter(({ value }) => value.length > 3).sort((a, b) => b.value.length - a.value.length)
  return longestFirst.reduce(
    (text, { value, reference }) =>
      text.replaceAll(value, () => reference).replaceAll(JSON.stringify(value).slice(1, -1), () => reference),
    problem,
  )
}

/** The value where it is a mapping, else an empty one: a tree can be walked before it is known to be right. */
export function mappingOf(value: unknown): Record<string, unknown> {
  return isMapping(value) ? value : {}
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object'
}

/**
 * Puts a feed's service settings over the common ones, as written. Keys belong to an origin: where the feed names
 * another, they are not handed on to it.
 */
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

/** A chatbot that belongs to one feed alone can't have another one: each would delete the other's listings. */
function mirrorProblems(feeds: Record<string, unknown>): Located[] {
  const written = Object.entries(feeds).map(([name, value]) => ({ name, ...mappingOf(value) }))
  return written.flatMap((feed: { name: string; chatbot?: unknown; ownership?: unknown }) => {
    if (feed.ownership !== 'mirror') return []
    const others = written.filter((other: typeof feed) => other !== feed && other.chatbot === feed.chatbot)
    if (others.length === 0) return []
    const problem = `mirror is for a chatbot of one feed alone; this one is also that of ${others.map(({ name }) => name).join(', ')}`
    return [{ path: ['feeds', feed.name, 'ownership'], problem }]
  })
}

/**
 * What one value alone can't show: a service without any key, settings that do not fit their feed's source. Works on a tree whose
 * parts may be wrong, so that it adds to the schema's problems; `known` are places already complained about.
 */
export function keyProblems(tree: unknown, known: readonly Located[]): Located[] {
  const { service, feeds } = mappingOf(tree)
  const common = mappingOf(service)
  const problems: Located[] = []
  const lacksKey = ({ baseUrl, secretKey, sessionKey }: Record<string, unknown>) =>
    originOf(baseUrl) !== null && typeof baseUrl === 'string' && !isLoopback(baseUrl) && !secretKey && !sessionKey
  if (lacksKey(common)) {
    problems.push({ path: ['service'], problem: 'needs a secretKey or a sessionKey, as it is not on this machine' })
  }
  for (const [name, value] of Object.entries(mappingOf(feeds))) {
    const feed = mappingOf(value)
    const own = mappingOf(feed.service)
    if ('baseUrl' in own && lacksKey(mergeService(common, own))) {
      const problem = 'names another service, which needs a secretKey or a sessionKey of its own'
      problems.push({ path: ['feeds', name, 'service'], problem })
    }
    for (const { path, problem } of sourceSettingProblems(feed))
      problems.push({ path: ['feeds', name, ...path], problem })
  }
  problems.push(...mirrorProblems(mappingOf(feeds)))
  return problems.filter(({ path }) => !known.some((other) => other.path.join('.') === path.join('.')))
}

/** What can be read only once is for one feed, and not on a schedule. */
export function inputProblems(tree: unknown): Located[] {
  const readers = new Map<string, string>()
  return Object.entries(mappingOf(mappingOf(tree).feeds)).flatMap(([name, feed]) => {
    const { source, schedule } = mappingOf(feed)
    const input = readOnce(source)
    if (input === null) return []
    const problems: Located[] = []
    const at = (key: string, problem: string) => problems.push({ path: ['feeds', name, key], problem })
    const reader = readers.get(input)
    if (reader !== undefined) at('source', `${input} can be read once, and ${reader} reads it already`)
    if (schedule !== undefined) at('schedule', `${input} is there only for a run by hand`)
    readers.set(input, reader ?? name)
    return problems
  })
}
