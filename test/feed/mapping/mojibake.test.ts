import { describe, expect, test } from 'vitest'
import { mayBeDoubled, mendRecord, mendedText } from '../../../src/feed/mapping/mojibake.ts'
import { randomFrom } from '../../contract/format.ts'

/** The text as a program writes it that reads its UTF-8 as `encoding`. */
function doubled(text: string, encoding = 'windows-1252'): string {
  if (encoding === 'latin1') return Buffer.from(text).toString('latin1')
  return new TextDecoder(encoding).decode(Buffer.from(text), { stream: true })
}

const texts = [
  'Café',
  'Zentrumsnähe, große Küche',
  'ESPAÑA',
  'MÖBEL, SCHÖN, KÖLN, MÜNCHEN',
  'PERÚ, JERICÓ y CÁDIZ: ¡qué día!',
  '“São João” – 120 m², R$ 3.200.000 – Edifício Águas',
  "L’Étoile d'Été à Nîmes : 350 000 €…",
  'à',
  'Île, Œuvre, Ÿ, Ž, Š, š',
  'Kraków, Łódź, drogę, Świętokrzyska',
  'București, Timișoara',
  'Квартира в Москве',
  'Αθήνα',
  'شقة للإيجار',
  'דירה',
  '東京都港区',
  'Nhà ở Việt Nam',
  'Villa 😀 with a view 🏠',
  'Matterport™ 3D, 25°C, ½ bath',
  'Café (Santa Fé)',
  'Rua da Manhã 5, “Manhã”',
]

describe('text that was encoded twice', () => {
  test.each(texts)('%s is mended', (text) => {
    expect(mendedText(doubled(text))).toBe(text)
    expect(mayBeDoubled(Buffer.from(doubled(text)))).toBe(true)
  })

  test.each(texts)('%s is mended where Latin-1 was taken for it', (text) => {
    expect(mendedText(doubled(text, 'latin1'))).toBe(text)
    expect(mayBeDoubled(Buffer.from(doubled(text, 'latin1')))).toBe(true)
  })

  test.each(texts)('%s is mended after two and three times', (text) => {
    expect(mendedText(doubled(doubled(text)))).toBe(text)
    expect(mendedText(doubled(doubled(doubled(text))))).toBe(text)
  })

  test.each(texts)('%s is left alone where it is sound', (text) => {
    expect(mendedText(text)).toBe(text)
  })

  test('a sound word beside it stays', () => {
    expect(mendedText(`Café ${doubled('Río')}, ${doubled('España')}`)).toBe('Café Río, España')
    expect(mendedText(`“CAFÉ” ${doubled('Río')}`)).toBe('“CAFÉ” Río')
  })

  test('a run of which a part was lost stays', () => {
    expect(mendedText('voilÃ la cafÃ©')).toBe('voilÃ la café')
    expect(mendedText('Ã©Ã')).toBe('Ã©Ã')
  })
})

test.each([
  'SÃO PAULO',
  'MANHÃ',
  '“MANHÔ',
  '"MANHÃ"…',
  'VISITE PELA MANHÃ…',
  'VISITE PELA MANHÔ, DISSE',
  'CAFÉ”',
  'QUALITÉ\u00a0: DÉJÀ VU\u00a0!',
  'NESCAFÉ®, CAFÉ™, CAFÉ’S',
  '« Résidence privilégié\u00a0»',
  'très élevé\u00a0» et perché…”',
  '„Spaß“',
  'Spaß“ und MENÜ“',
  'LULEÅ–BODEN',
  'CITTÀ…”, COSÌ…, PERÚ…, JERICÓ”',
  'É\u00a0isso',
  '3×½, Ø\u00a010',
  'à\u00a0« »',
  'ção, ÇÕES, Ãngela',
  'Straße, großß',
  'ÅÄÖ åäö',
  'Â, Ê, Î, Ô, Û',
  'VÝŠKA, BLÍŽE, PŘÍŠTÍ, ÚŽICE',
  '',
  '😀',
])('the sound text %j is left alone', (text) => {
  expect(mendedText(text)).toBe(text)
})

/** Letters of a language beside the plain ones, and what it puts around and behind words. */
const languages = [
  ['áâãàéêíóôõúüç', ['“', '”', '…', ' –', '®', 'º']],
  ['àâçéèêëîïôùûü', ['«\u00a0', '\u00a0»', '\u00a0:', '’s', '…', '™']],
  ['äöüß', ['„', '“', '–', '…', '²', '»']],
  ['áčďéěíňóřšťúůýž', ['„', '“', '–', '…', '\u00a0']],
  ['ąćęłńóśźż', ['„', '”', '–', '…', '\u00a0']],
  ['åäöéæø', ['”', '»', '–', '…', '\u00a0']],
  ['ăâîșțşţ', ['„', '”', '«', '…', '\u00a0']],
  ['áéíóúüñ', ['“', '”', '…', '™', '½', '\u00a0']],
] as const

test('random words of many languages: sound text stays, and what was encoded twice comes back', () => {
  const seed = Number(process.env.SEED ?? 20261121)
  const random = randomFrom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  let mended = 0
  for (let round = 0; round < 5000; round++) {
    const [letters, marks] = languages[below(languages.length)]
    const words = Array.from({ length: 1 + below(8) }, () => {
      const alphabet = `abcdefghijklmnoprstuvz${letters}`
      const small = Array.from({ length: 2 + below(8) }, () => alphabet[below(alphabet.length)])
        .join('')
        .replace(/[âã]+$/, 'a')
      const word = [small, small.toUpperCase(), small[0].toUpperCase() + small.slice(1)][below(3)]
      return random() < 0.2 ? word + marks[below(marks.length)] : word
    })
    const text = words.join(' ')
    const why = `seed ${seed}, round ${round}: ${JSON.stringify(text)}`
    expect(mendedText(text), why).toBe(text)
    const back = mendedText(doubled(text))
    if (back !== doubled(text)) mended++
    // A letter that may be correct stays, unless other text in the record is certainly wrong.
    if (/[a-z][áâãàéêíóôõúüçäö]/.test(text)) expect(back, why).toBe(text)
  }
  expect(mended).toBeGreaterThan(3500)
})

test('every text of a record is mended, attributes and lists too, and nothing else is touched', () => {
  const record = { '@id': doubled('Ä1'), a: { '#text': doubled('é'), b: [doubled('ü'), 'é'] }, c: 'plain' }
  mendRecord(record)
  expect(record).toEqual({ '@id': 'Ä1', a: { '#text': 'é', b: ['ü', 'é'] }, c: 'plain' })
})

test('a long text takes time in proportion to its length', () => {
  for (const part of ['Ã©', 'Ã', 'É”', 'é ', 'ÃƒÂ©', '\u00a0', 'aÃ©']) mendedText(part.repeat(500_000))
})
