import type { StandInProfile } from './profile.ts'
import { spelledPart } from './spelling.ts'

/** A streamed answer ready to write: the pieces, then the final object, each with its framing. */
export interface Stream {
  pieces: readonly string[]
  /** The final object, and what comes after it. */
  end: string
  bytesPerWrite: number | null
  /** Milliseconds before each write but the first. */
  pause: number
}

/** Cuts the answer of a final object (docs/service.md, "Message a chatbot") into pieces and frames all by the profile. */
export function streamOf(final: { Answer: string }, { stream, answers }: StandInProfile): Stream {
  const { pieceLength, bytesPerWrite, pause } = stream
  const spelt = (part: object): string => framed(spelledPart(part, answers), stream)
  const pieces = inPieces(final.Answer, pieceLength).map((content) => spelt({ content }))
  const done = stream.done && stream.framing !== 'bare' ? line('[DONE]', stream) : ''
  return { pieces, end: spelt(final) + done, bytesPerWrite, pause }
}

/** By characters, not by UTF-16 units, so that no surrogate pair is split. */
function inPieces(answer: string, length: number): string[] {
  const characters = length === 0 ? [] : Array.from(answer)
  const pieces: string[] = []
  for (let from = 0; from < characters.length; from += length) {
    pieces.push(characters.slice(from, from + length).join(''))
  }
  return pieces
}

function framed(value: unknown, stream: StandInProfile['stream']): string {
  const json = JSON.stringify(value)
  return stream.framing === 'bare' ? json : comment(stream) + line(json, stream)
}

function comment({ framing, comments, lineEnd }: StandInProfile['stream']): string {
  return comments && framing !== 'lines' ? `: still here${lineEnds[lineEnd]}` : ''
}

function line(text: string, { framing, lineEnd, blankAfterColon }: StandInProfile['stream']): string {
  const end = lineEnds[lineEnd]
  if (framing === 'lines') return text + end
  return `data:${blankAfterColon ? ' ' : ''}${text}${end}${framing === 'events' ? end : ''}`
}

const lineEnds = { lf: '\n', crlf: '\r\n' }
