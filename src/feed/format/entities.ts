import * as known from '@nodable/entities'

/** A decoder of all named entities of HTML. Made at its first use, as most commands read no text with one. */
export function htmlDecoder(): { decode(text: string): string; reset(): void } {
  let made: known.EntityDecoder | null = null
  const decoder = (): known.EntityDecoder => (made ??= new known.EntityDecoder({ namedEntities: namedEntities() }))
  return { decode: (text) => decoder().decode(text), reset: () => made?.reset() }
}

/** The package's `ALL_ENTITIES`, made here, as importing it would put nine hundred names together each time. */
const namedEntities = (): Record<string, string> => ({
  ...known.BASIC_LATIN,
  ...known.LATIN_ACCENTS,
  ...known.LATIN_EXTENDED,
  ...known.GREEK,

  ...known.CYRILLIC,
  ...known.MATH,
  ...known.MATH_ADVANCED,
  ...known.ARROWS,
  ...known.SHAPES,
  ...known.PUNCTUATION,
  ...known.CURRENCY,
  ...known.FRACTIONS,
  ...known.MISC_SYMBOLS,
})

/**
 * Named entities of HTML and every numeric one. References to halves of a surrogate pair, as older exporters write an
 * emoji, are joined; a reference to no character becomes U+FFFD.
 */
export function entityDecoder() {
  const decoder = htmlDecoder()
  return {
    setExternalEntities: () => {},
    addInputEntities: () => {},
    setXmlVersion: () => {},
    reset: () => decoder.reset(),
    decode: (text: string) => {
      if (!text.includes('&')) return text
      return decoder.decode(text.includes('&#') ? withPairsJoined(text) : text)
    },
  }
}

function withPairsJoined(text: string): string {
  return text.replace(/(?:&#(?:[xX][0-9a-fA-F]+|[0-9]+);)+/g, (run) => {
    const joined = run.replace(/&#([xX]?)([0-9a-fA-F]+);/g, (reference, hex: string, digits: string) => {
      const code = Number.parseInt(digits, hex ? 16 : 10)
      if (code >= 0xd800 && code <= 0xdfff) return String.fromCharCode(code)
      return code > 0x10ffff ? '\ufffd' : reference
    })
    return joined.toWellFormed()
  })
}

/** Decodes the escaped text of an XML element. */
export const decodeEntities = entityDecoder().decode
