/** A transcript: a file to which each answer of a chatbot is added as a line of JSON, so that a stop loses none. */
import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import type { Doors } from '../app/doors.ts'
import { messageOf, UserError } from '../core/errors.ts'
import { escapeUnseen } from '../core/text.ts'

export interface Transcript {
  add(line: object): void
  close(): void
}

/** Opens a file to add to; null: no transcript is wanted. Throws `UserError`, before the first question. */
export function openTranscript(file: string | undefined, doors: Doors): Transcript | null {
  if (file === undefined) return null
  let descriptor: number
  try {
    descriptor = openSync(file, 'a')
    if (fstatSync(descriptor).isDirectory()) throw new Error('it is a folder')
  } catch (error) {
    throw new UserError(`${file}: the transcript can't be written: ${messageOf(error)}`, { cause: error })
  }
  return {
    add: (line) => appendFileSync(descriptor, doors.answer(line, jsonLine)),
    close: () => closeSync(descriptor),
  }
}

/** Plain data as one line of JSON, without what a terminal would obey. */
export function jsonLine(value: unknown): string {
  return `${escapeUnseen(JSON.stringify(value))}\n`
}

/** Questions asked before, the latest first; lines that are none are passed over. */
export function questionsOf(file: string | undefined): string[] {
  // Only a file has lines from before; a pipe would be waited for.
  if (file === undefined || !statSync(file).isFile()) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  const questions = lines.flatMap((line) => {
    try {
      const { question } = JSON.parse(line) as { question?: unknown }
      return typeof question === 'string' ? [question] : []
    } catch {
      return []
    }
  })
  return [...new Set(questions.toReversed())].slice(0, 1000)
}
