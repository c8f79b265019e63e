import { ALL_ENTITIES, EntityDecoder } from '@nodable/entities'

/**
 * Named entities of HTML and every numeric one. References to halves of a surrogate pair, as older exporters write an
 * emoji, are joined; a reference to no character becomes U+FFFD.
 */
export function entityDecoder() {
  const decoder = new EntityDecoder({ namedEntities: ALL_ENTITIES })
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
