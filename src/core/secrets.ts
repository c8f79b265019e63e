/** Takes secrets out of texts by their values: what is redacted by its place is missed in the next one (fault-model F143). */
/** Replaces every spelling of the secrets by `***`: as it is, in JSON, percent-encoded, in base64 wherever it begins, in hex. */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const spellings = new Set(secrets.filter((secret) => secret.length >= 4).flatMap(spellingsOf))
  if (spellings.size === 0) return (text) => text
  const alternatives = [...spellings]
    .sort((a, b) => b.length - a.length)
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  const pattern = new RegExp(alternatives.join('|'), 'gi')
  return (text) => text.replace(pattern, '***')
}

function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].flatMap((offset) => {
    // Behind 0, 1 or 2 other bytes; the digits that also hold bits of the neighbours are left out.
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const start = Math.ceil((offset * 8) / 6)
    const end = Math.floor(((offset + bytes.length) * 8) / 6)
    const digits = encoded.slice(start, end)
    return digits.length < 5 ? [] : [digits, digits.replaceAll('+', '-').replaceAll('/', '_')]
  })
  // A body that was logged as text may itself hold JSON.
  const quoted = JSON.stringify(secret).slice(1, -1)
  const quotedTwice = JSON.stringify(quoted).slice(1, -1)
  const percent = encodeURIComponent(secret.toWellFormed())
  return [secret, quoted, quotedTwice, percent, percent.replaceAll('%20', '+'), bytes.toString('hex'), ...base64]
}

/** The secret itself and, where a scheme word such as Bearer stands before it, what follows that. */
export function withoutScheme(secret: string): string[] {
  return [secret, secret.replace(/^\S+\s+/, '')]
}
