import { confusedInWords, confusedRemedy, confusedWith, feedsOfChatbot } from '../config/config.ts'
import type { Config, FeedConfig } from '../config/config.ts'
import { FeedError } from '../core/errors.ts'
import { fingerprint, shortHash } from '../core/hash.ts'
import type { Clock } from '../core/machine.ts'
import { apiReader } from '../feed/api/reader.ts'
import { refresh, scopeOf } from '../feed/api/source.ts'
import { bounded } from '../feed/format/bounded.ts'
import { formats } from '../feed/format/formats.ts'
import { decompressed } from '../feed/transport/decompress.ts'
import { openSource } from '../feed/transport/transports.ts'
import type { Feed } from '../run/tools.ts'
import type { Gates } from './gates.ts'

/** Puts a feed's parts together. */
export function wire(feed: FeedConfig, config: Config, clock: Clock, gates: Gates): Feed {
  const { name, chatbot, timezone, source, live, transport, plan, deadline } = feed
  const { baseUrl, rate, concurrency, profile, secretKey, sessionKey } = feed.service
  const { directory } = config
  const ofChatbot = feedsOfChatbot(config, feed)
  const confused = confusedWith(config, feed)
  // On the service, marks may still have a former name.
  const namesOf = (feeds: readonly string[]): Set<string> =>
    new Set(
      config.feeds.flatMap((feedConfig) =>
        feeds.includes(feedConfig.name) ? [feedConfig.name, ...feedConfig.formerly] : [],
      ),
    )
  const { member, encoding } = transport
  // Beside the mapping, these decide what a record's bytes mean (dates are local, and letters may be), and what of it counts.
  const read = [feed.mapping.version, timezone, encoding, [...plan.volatile.fields].toSorted()]
  const mapping = { ...feed.mapping, version: shortHash(JSON.stringify(read)) }
  // Only a fingerprint of the source goes into the store, as the address may have a password in it.
  const part = live === null ? member : scopeOf(live)
  const identity = fingerprint([part === null ? source : `${source}#${part}`])
  // Other headers may be another account's. An answer to the old validators says nothing of that account's file.
  const asked = fingerprint([String(identity), ...Object.entries(transport.headers).flat()])
  return {
    name,
    chatbot,
    timezone,
    locale: config.locale,
    mapping,
    source: String(fingerprint([String(identity), timezone])),
    identity: String(identity),
    basis: shortHash(JSON.stringify([baseUrl, chatbot, asked, mapping.version])),
    transport,
    open: (validators, signal, scratch) =>
      openSource(source, { ...transport, directory, validators, scratch, clock, signal }),
    decompress: (opened, scratch) => decompressed(opened, { ...transport, scratch }),
    ...(live !== null && {
      live: (mirror, signal, options) => refresh(live, gates.of(live), mirror, { ...options, signal, clock }),
    }),
    joins: (mapping.joins ?? []).map((join) => ({
      ...join,
      async open(signal, scratch) {
        const own = { ...transport, member: join.member ?? null }
        const opened = await openSource(join.source, { ...own, directory, validators: null, scratch, clock, signal })
        if (opened === 'not-modified') throw new FeedError('the source answered HTTP 304 to a first request')
        const bytes = decompressed(opened, { ...own, scratch })
        const { maxRecordBytes, endsWithLineBreak } = transport
        const reading = bounded(formats['csv'], transport).read(bytes.bytes, {
          requiredHeaders: [join.key],
          encoding,
          maxRecordBytes,
          charset: opened.charset,
          lengthProven: () => !endsWithLineBreak || bytes.end().proven,
        })
        return { reading, end: () => bytes.end() }
      },
    })),
    format: bounded(live === null ? formats[mapping.format] : apiReader, transport),
    plan,
    outranks: namesOf(ofChatbot.slice(ofChatbot.indexOf(name) + 1)),
    configured: namesOf(ofChatbot),
    unmarked: namesOf(
      config.feeds.flatMap((feedConfig) =>
        feedConfig.plan.ownership === 'snapshot' && ofChatbot.includes(feedConfig.name) ? feedConfig.name : [],
      ),
    ),
    notes: [
      ...(confused.length === 0 ? [] : [`${confusedInWords(confused)}: ${confusedRemedy}`]),
      ...(feed.notes ?? []),
    ],
    deltas: new Set(
      config.feeds.flatMap((other) =>
        other.name !== name && other.mapping.delivery === 'delta' && ofChatbot.includes(other.name) ? other.name : [],
      ),
    ),
    deadline,
    rate,
    observe: feed.observe,
    concurrency,
    deleteBatch: profile.deleteBatch,
    listIdsAreNative: profile.nativeId === 'list-id',
    keys: fingerprint([secretKey, sessionKey]),
  }
}
