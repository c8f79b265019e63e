/** `verify`: whether and how the chatbot is asked about changed listings. */
import { z } from 'zod'
import { judgedBy, text, whole } from '../core/setting-kinds.ts'
import { defaultQuestion, questionProblem } from './question.ts'

export const verifySchema = z.strictObject({
  session: whole('ID of the chat session to ask in: one of this chatbot that is used for nothing else', {
    min: Number.MIN_SAFE_INTEGER,
  }).optional(),
  sample: whole('Most changed listings asked about after a sync; 0: none', { min: 0, max: 100 }).prefault(3),
  question: text('The question, with {MLSNumber} and {address}')
    .superRefine(judgedBy(questionProblem))
    .prefault(defaultQuestion),
})

/** With the chat session, which the user gives: how to create one is not documented. */
export type VerifySettings = z.output<typeof verifySchema> & { session: number }
