/** Wrong and mixed encodings, read from the bytes to the listings. */
import { describe, expect, test } from 'vitest'
import { delivered, resoRow, resoTable, zillowDocument, zillowHome } from '../../support/delivery.ts'
import type { DeliveryOptions } from '../../support/delivery.ts'

const words = 'Málaga – “piso” ½ € Żółć 中 😀'
const western = 'Málaga – “piso” ½ €'

/** The same homes as XML and as CSV: 1 and 3 are plain, 2 has the text in question as its city and in its description. */
const containers = [
  {
    container: 'XML',
    preset: 'zillow',
    feed: (text: string, declaration = '<?xml version="1.0"?>') =>
      zillowDocument(
        zillowHome('M1'),
        zillowHome('M2', { 'Location/City': text, 'BasicDetails/Description': `In ${text}.` }),
        zillowHome('M3'),
      ).replace('<?xml version="1.0"?>', declaration),
  },
  {
    container: 'CSV',
    preset: 'reso-csv',
    feed: (text: string) =>
      resoTable(resoRow('M1'), resoRow('M2', { City: text, PublicRemarks: `In ${text}.` }), resoRow('M3')),
  },
]

async function arrives(bytes: Buffer, text: string, options: DeliveryOptions): Promise<void> {
  const { listings, rejects, complete, reasons, notes } = await delivered(bytes, options)
  expect({ rejects, complete, reasons, notes }).toEqual({ rejects: [], complete: true, reasons: [], notes: [] })
  expect(Object.keys(listings)).toEqual(['M1', 'M2', 'M3'])
  expect(listings['M2']).toMatchObject({ City: text, Description: `In ${text}.` })
  expect(listings['M1']).toMatchObject({ City: 'Springfield' })
}

/** windows-1252 of the characters above. */
function cp1252(text: string): Buffer {
  const special: Record<string, number> = { '–': 0x96, '“': 0x93, '”': 0x94, '€': 0x80 }
  return Buffer.from(Array.from(text, (character) => special[character] ?? character.charCodeAt(0)))
}

const wide = (text: string): Buffer => Buffer.from(text, 'utf16le')

describe.each(containers)('$container', ({ container, preset, feed }) => {
  test('UTF-8 with a byte order mark', async () => {
    await arrives(Buffer.from(`\ufeff${feed(words)}`), words, { preset })
  })

  test('UTF-16 with a mark', async () => {
    await arrives(wide(`\ufeff${feed(words)}`), words, { preset })
    await arrives(wide(`\ufeff${feed(words)}`).swap16(), words, { preset })
  })

  test('UTF-16 without a mark, which nobody declares', async () => {
    await arrives(wide(feed(words)), words, { preset })
    await arrives(wide(feed(words)).swap16(), words, { preset })
  })

  test('UTF-16 declared by HTTP and by the configuration', async () => {
    await arrives(wide(feed(words)), words, { preset, charset: 'utf-16le' })
    await arrives(wide(feed(words)).swap16(), words, { preset, encoding: 'utf-16be' })
    await arrives(wide(`\ufeff${feed(words)}`).swap16(), words, { preset, charset: 'utf-16' })
  })

  test('windows-1252 that nobody declares, and declared as Latin-1', async () => {
    await arrives(cp1252(feed(western)), western, { preset })
    await arrives(cp1252(feed(western)), western, { preset, charset: 'iso-8859-1' })
    await arrives(cp1252(feed(western)), western, { preset, encoding: 'windows-1252' })
  })

  test.each(['binary', 'us-ascii'])('a server that says %s says nothing', async (charset) => {
    const xml = '<?xml version="1.0" encoding="UTF-8"?>'
    await arrives(Buffer.from(feed(western, xml)), western, { preset, charset })
    await arrives(Buffer.from(feed(western)), western, { preset, charset })
    await arrives(cp1252(feed(western)), western, { preset, charset })
  })

  test('UTF-8 and windows-1252 in one file that declares nothing: each record is what it can be', async () => {
    const text = feed('Tromsø')
    const last = text.lastIndexOf('Springfield')
    const bytes = Buffer.concat([
      Buffer.from(text.slice(0, last)),
      cp1252(text.slice(last).replace('Springfield', 'Århus')),
    ])
    const { listings, complete } = await delivered(bytes, { preset })
    expect(listings).toMatchObject({ M2: { City: 'Tromsø' }, M3: { City: 'Århus' } })
    expect(complete).toBe(true)
  })

  test('bytes that are not the UTF-8 they are said to be: that record alone is a reject that says which and what to do', async () => {
    const bytes = cp1252(feed('Málaga', '<?xml version="1.0" encoding="UTF-8"?>'))
    const { listings, rejects, complete } = await delivered(bytes, { preset, charset: 'utf-8' })
    expect(Object.keys(listings)).toEqual(['M1', 'M3'])
    expect(rejects).toEqual([
      {
        mlsNumber: 'M2',
        problems: [
          expect.stringMatching(
            /^record: byte \d+ of the record is not the UTF-8 that the document says .*"encoding: windows-1252"/,
          ),
        ],
      },
    ])
    expect(complete).toBe(true)
  })

  test('control characters and half characters are left out, what stands around them stays', async () => {
    const dirty = 'M\u0000á\u0008l\u001ba\u007f\u0085g\u200b\ufeffa'
    const { listings, rejects, complete } = await delivered(feed(dirty), { preset })
    expect({ rejects, complete }).toEqual({ rejects: [], complete: true })
    expect(listings['M2']).toMatchObject({ City: 'Mála ga', Description: 'In Mála ga.' })
  })

  describe('text that was encoded twice', () => {
    const doubled = new TextDecoder('windows-1252').decode(Buffer.from(words), { stream: true })

    test('is told with an example, and sent as the feed has it', async () => {
      const { listings, rejects, complete, notes } = await delivered(feed(doubled), { preset })
      expect(listings['M2']).toMatchObject({ City: doubled.replace('\u009d', '') })
      expect({ rejects, complete }).toEqual({ rejects: [], complete: true })
      expect(notes).toEqual([
        '1 new or changed record holds text that was encoded twice (MLSNumber M2: "MÃ¡laga" for "Málaga"); ' +
          'set repair: double-utf8 for this feed, or ask the sender to correct it',
      ])
    })

    test('is mended where the feed says so, sound text beside it stays', async () => {
      await arrives(Buffer.from(feed(doubled)), words, { preset, repair: 'double-utf8' })
      await arrives(Buffer.from(feed(words)), words, { preset, repair: 'double-utf8' })
    })

    test('comes from UTF-8 that HTTP calls Latin-1, too', async () => {
      const options = { preset, charset: 'iso-8859-1' }
      expect((await delivered(Buffer.from(feed(words)), options)).notes).toHaveLength(1)
      await arrives(Buffer.from(feed(words)), words, { ...options, repair: 'double-utf8' })
    })

    test('no more than three examples; records that cannot be read are counted, too', async () => {
      const text = feed(doubled)
      const [start, end] = container === 'XML' ? ['<Listings>', '</Listings>'] : [text.split('\n')[0], '']
      const records = text.slice(
        text.indexOf(start) + start.length,
        container === 'XML' ? text.indexOf(end) : undefined,
      )
      const price = records.replaceAll('250000', '2.5.0x')
      const { notes, rejects } = await delivered(`${start}\n${records}${price}${records}${records}${end}\n`, { preset })
      expect(rejects.length).toBeGreaterThan(0)
      expect(notes[0]).toMatch(
        /^4 new or changed records hold text that was encoded twice \((MLSNumber M2: [^;]+; ){2}MLSNumber M2:/,
      )
    })

    test('in the MLSNumber makes another listing when it is mended', async () => {
      const bytes = feed('Springfield').replaceAll('M2', 'MÃ¼-2')
      expect(Object.keys((await delivered(bytes, { preset })).listings)).toContain('MÃ¼-2')
      expect(Object.keys((await delivered(bytes, { preset, repair: 'double-utf8' })).listings)).toContain('Mü-2')
    })
  })
})

describe('XML', () => {
  const feed = containers[0].feed

  test('UTF-16 that its declaration names, and one whose declaration is wrong', async () => {
    const preset = 'zillow'
    const declared = '<?xml version="1.0" encoding="UTF-16"?>'
    await arrives(wide(`\ufeff${feed(words, declared)}`), words, { preset })
    await arrives(wide(feed(words, declared)).swap16(), words, { preset })
    // Transcoded on the way without adapting the declaration.
    await arrives(Buffer.from(feed(words, declared)), words, { preset })
    await arrives(wide(feed(words, '<?xml version="1.0" encoding="UTF-8"?>')), words, { preset })
  })

  test('declared Latin-1 is windows-1252', async () => {
    const declared = '<?xml version="1.0" encoding="ISO-8859-1"?>'
    await arrives(cp1252(feed(western, declared)), western, { preset: 'zillow' })
  })

  test('references to the halves of a surrogate pair are the one character', async () => {
    const { listings, complete } = await delivered(feed('View &#55357;&#56842; and &#xD83D;&#xDE0A;!'), {
      preset: 'zillow',
    })
    expect(listings['M2']).toMatchObject({ City: 'View 😊 and 😊!' })
    expect(complete).toBe(true)
  })

  test('references to half a pair, to no character and to controls harm nothing', async () => {
    const city = 'a&#55357;b&#xDE0A;c&#0;d&#x110000;e&#8;f&#xFFFE;g'
    const { listings, rejects, complete } = await delivered(feed(city), { preset: 'zillow' })
    expect({ rejects, complete }).toEqual({ rejects: [], complete: true })
    const found = listings['M2'].City ?? ''
    expect(found.isWellFormed()).toBe(true)
    expect(found.replaceAll(/[^a-g]/g, '')).toBe('abcdefg')
    // oxlint-disable-next-line no-control-regex
    expect(found).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
  })
})
