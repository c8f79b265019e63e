import { outrankedBy } from '../config/config.ts'
import type { Config, FeedConfig } from '../config/config.ts'
import { fingerprint } from '../core/hash.ts'
import type { Clock } from '../core/machine.ts'
import { schemeOf } from '../feed/transport/address.ts'
import { decompressed } from '../feed/transport/decompress.ts'
import type { Feed } from '../run/run.ts'
import { transports, formats } from './adapters.ts'

/** A feed with its parts. */
export function wire(feed: FeedConfig, config: Config, clock: Clock): Feed {
  const scheme = schemeOf(feed.source)
  const { maxBytes, maxRecordBytes, endsWithLineBreak, encoding, headers, transferTimeout: timeout } = feed
  const { rate, concurrency, profile, secretKey, sessionKey } = feed.service
  const { name, chatbot, timezone, mapping, limits, ownership, drift, settle, deadline } = feed
  const { source, member, login, ready } = feed
  return {
    name,
    chatbot,
    timezone,
    mapping,
    source: member === null ? source : `${source}#${member}`,
    open: (validators, signal, scratch) =>
      transports[scheme](source, {
        directory: config.directory,
        maxBytes,
        timeout,
        maxRedirects: 3,
        headers,
        validators,
        scratch,
        allowPrivateRedirects: feed.allowPrivateRedirects,
        login,
        ready,
        clock,
        signal,
      }),
    decompress: (opened, scratch) => decompressed(opened, { maxBytes: maxBytes * 20, scratch, member }),
    format: formats[mapping.format],
    formatOptions: { encoding, maxRecordBytes, endsWithLineBreak },
    limits,
    ownership,
    outranks: outrankedBy(config, feed),
    drift,
    volatile: new Set(feed.volatile.fields),
    refresh: feed.volatile.refresh,
    settle,
    deadline,
    rate,
    concurrency,
    deleteBatch: profile.deleteBatch,
    keys: fingerprint([secretKey, sessionKey]),
  }
}
