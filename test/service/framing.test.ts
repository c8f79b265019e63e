/** Every framing that the documentation leaves open (docs/service.md, S17), cut at any byte. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ObjectSplitter } from '../../src/service/framing.ts'

const objects = [
  { content: 'Two homes: ' },
  { content: 'data: {"not": "an object"} } { ] \\" data: [DONE]\n: no comment\r\n' },
  { content: 'Größe 120 m² 🏡, 日本' },
  { content: '', nested: { list: [1, { deep: [] }] } },
  { QuestionID: 1, AnswerID: 2, Answer: 'all of it', TotalToken: 3 },
]
const texts = objects.map((object) => JSON.stringify(object))
const pretty = objects.map((object) => JSON.stringify(object, null, 2))

const framings: Record<string, string> = {
  'back to back': texts.join(''),
  'one a line': texts.map((text) => `${text}\n`).join(''),
  'lines ended by CRLF, no last one': texts.join('\r\n'),
  SSE: texts.map((text) => `data: ${text}\n\n`).join(''),
  'SSE without blanks, CR alone': texts.map((text) => `data:${text}\r\r`).join(''),
  'SSE with everything else': `\ufeff: a comment with { in it\n\n${texts.map((text, i) => `id: ${i}\nevent: {message}\nretry: 10\ndata: ${text}\n\n`).join('')}data: [DONE]\n\n`,
  'SSE, objects over several data lines': pretty
    .map(
      (text) =>
        `${text
          .split('\n')
          .map((line) => `data: ${line}\n`)
          .join('')}\n`,
    )
    .join(''),
  'pretty printed, back to back': pretty.join(''),
  'an array': `[${texts.join(',\n')}]`,
  'record separators': texts.map((text) => `\u001e${text}\n`).join(''),
}

function split(bytes: Uint8Array, cuts: number[]): { objects: unknown[]; rest: string } {
  const splitter = new ObjectSplitter()
  const found: unknown[] = []
  const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length]
  for (let i = 1; i < places.length; i++) found.push(...splitter.push(bytes.subarray(places[i - 1], places[i])))
  return { objects: found, rest: splitter.rest }
}

describe.each(Object.entries(framings))('%s', (_, text) => {
  const bytes = Buffer.from(text)

  test('whole, and byte by byte', () => {
    expect(split(bytes, [])).toEqual({ objects, rest: '' })
    expect(split(bytes, [...bytes.keys()])).toEqual({ objects, rest: '' })
  })

  test('cut anywhere', () => {
    const cuts = fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 12 })
    fc.assert(
      fc.property(cuts, (places) => {
        expect(split(bytes, places)).toEqual({ objects, rest: '' })
      }),
    )
  })
})

test('tells what is left: half an object, or what is no object at all', () => {
  expect(split(Buffer.from('data: {"content": "ha'), [])).toEqual({ objects: [], rest: '{"content": "ha' })
  expect(split(Buffer.from('<html>Bad gateway</html>\n'), []).rest).toBe('<html>Badgateway</html>')
  expect(split(Buffer.from('data: [DONE]\n\n: bye\n'), []).rest).toBe('')
})

test('throws for an object that is no JSON', () => {
  expect(() => split(Buffer.from('{"content": oops}'), [])).toThrow(SyntaxError)
})
