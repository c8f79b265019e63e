/** Removes secrets from texts by their values. Redaction by place misses the next place (docs/faults.md, F143). */
import { escapeUnseen, printable, printableLines } from './text.ts'

/**
 * Replaces every spelling of the secrets by `***`: plain, as printed, in JSON, percent-encoded whole or as a part of an address, in
 * base64 at any offset, in hex.
 */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const spellings = allSpellings(secrets)
  if (spellings.length === 0) return (text) => text
  const alternatives = spellings
    .sort((a, b) => b.length - a.length)
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  const pattern = new RegExp(alternatives.join('|'), 'gi')
  return (text) => text.replace(pattern, '***')
}

/** The same for a text that comes in pieces: an end that may be the beginning of a secret waits for the next piece, or for `end`. */
export function scrubbedPieces(secrets: readonly string[], write: (text: string) => void) {
  const scrub = scrubber(secrets)
  const spellings = allSpellings(secrets).map((spelling) => spelling.toLowerCase())
  const longest = Math.max(0, ...spellings.map(({ length }) => length))
  let held = ''
  return {
    write: (piece: string): void => {
      const text = scrub(held + piece)
      let cut = Math.max(0, text.length - longest + 1)
      while (cut < text.length && !spellings.some((spelling) => spelling.startsWith(text.slice(cut).toLowerCase())))
        cut++
      held = text.slice(cut)
      if (cut > 0) write(text.slice(0, cut))
    },
    end: (): void => {
      if (held !== '') write(held)
      held = ''
    },
  }
}

function allSpellings(secrets: readonly string[]): string[] {
  const spellings = secrets.filter((secret) => secret.length >= 4).flatMap(spellingsOf)
  return [...new Set(spellings)]
}

function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].flatMap((offset) => {
    // After 0, 1 or 2 other bytes, without the digits that also hold bits of the neighbours.
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const start = Math.ceil((offset * 8) / 6)
    const end = Math.floor(((offset + bytes.length) * 8) / 6)
    const digits = encoded.slice(start, end)
    return digits.length < 5 ? [] : [digits, digits.replaceAll('+', '-').replaceAll('/', '_')]
  })
  // A body that was logged as text may itself hold JSON.
  const quoted = escapeUnseen(JSON.stringify(secret).slice(1, -1))
  const quotedTwice = JSON.stringify(quoted).slice(1, -1)
  const formed = secret.toWellFormed()
  const percent = encodeURIComponent(formed)
  const shown = [printable(secret), printableLines(secret)].filter(({ length }) => length >= 4)
  const encoded = [percent, percent.replaceAll('%20', '+'), ...inAddresses(formed), bytes.toString('hex'), ...base64]
  return [secret, ...shown, quoted, quotedTwice, ...encoded]
}

/** How a server may repeat it in an address: each part of an address leaves other characters unencoded. */
function inAddresses(secret: string): string[] {
  const url = new URL('http://h')
  url.pathname = `/${secret}`
  url.search = secret
  url.hash = secret
  url.username = secret
  const pieces = [url.pathname.slice(1), url.search.slice(1), url.hash.slice(1), url.username, encodeURI(secret)]
  return pieces.filter(({ length }) => length >= 4)
}

/** The secret and, if it begins with a scheme such as Bearer, the rest alone. */
export function withoutScheme(secret: string): string[] {
  return [secret, secret.replace(/^\S+\s+/, '')]
}
