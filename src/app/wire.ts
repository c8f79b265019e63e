import { outrankedBy } from '../config/config.ts'
import type { Config, FeedConfig } from '../config/config.ts'
import { fingerprint } from '../core/hash.ts'
import type { Clock } from '../core/machine.ts'
import { formats } from '../feed/format/formats.ts'
import { decompressed } from '../feed/transport/decompress.ts'
import { openSource } from '../feed/transport/transports.ts'
import type { Feed } from '../run/tools.ts'

/** A feed with its parts. */
export function wire(feed: FeedConfig, config: Config, clock: Clock): Feed {
  const { name, chatbot, timezone, mapping, source, transport, plan, deadline } = feed
  const { rate, concurrency, profile, secretKey, sessionKey } = feed.service
  const { directory } = config
  const { maxBytes, member } = transport
  return {
    name,
    chatbot,
    timezone,
    mapping,
    source: member === null ? source : `${source}#${member}`,
    transport,
    open: (validators, signal, scratch) =>
      openSource(source, { ...transport, directory, validators, scratch, clock, signal }),
    decompress: (opened, scratch) => decompressed(opened, { maxBytes: maxBytes * 20, scratch, member }),
    format: formats[mapping.format],
    plan,
    outranks: outrankedBy(config, feed),
    deadline,
    rate,
    concurrency,
    deleteBatch: profile.deleteBatch,
    keys: fingerprint([secretKey, sessionKey]),
  }
}
