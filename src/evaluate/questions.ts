/** A file of questions with expectations, in the form that users of promptfoo know. */
import { z } from 'zod'
import { fieldNames } from '../core/listing.ts'
import { unknownName } from '../core/text.ts'
import { namesIn } from './fill.ts'

const short = ['contains', 'icontains', 'not-contains', 'equals', 'regex'] as const
const lists = ['contains-any', 'contains-all'] as const
const scalar = z.union([z.string(), z.number(), z.boolean()])

const assertion = z
  .strictObject({
    type: z.enum([...short, ...lists, 'latency']).describe('How the answer is judged'),
    value: z.union([z.string(), z.number(), z.array(z.union([z.string(), z.number()]))]).optional(),
    threshold: z.number().optional().describe('With latency, in place of value'),
  })
  .superRefine(({ type, value, threshold }, context) => {
    const problem = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message })
    if (threshold !== undefined && type !== 'latency') return problem('threshold', 'is for latency only; use value')
    if (type === 'latency') {
      const most = value ?? threshold
      if (typeof most !== 'number' || most <= 0) problem('value', 'takes the most milliseconds, a number above 0')
    } else if (type === 'contains-any' || type === 'contains-all') {
      if (!Array.isArray(value) || value.length === 0) problem('value', 'takes a list of texts that is not empty')
    } else if (value === undefined || Array.isArray(value) || value === '') problem('value', 'takes a text')
    else if (type === 'regex' && patternProblem(String(value)) !== null)
      problem('value', `is no regular expression: ${patternProblem(String(value))}`)
  })

const testSchema = z
  .strictObject({
    description: z.string().optional(),
    vars: z.record(z.string(), scalar).optional(),
    assert: z.array(assertion).min(1),
  })
  .superRefine(({ vars = {}, assert }, context) => {
    const known = [...Object.keys(vars), ...fieldNames, 'address']
    const check = (text: unknown, path: (string | number)[]): void => {
      for (const name of namesIn(String(text)))
        if (!known.includes(name))
          context.addIssue({ code: 'custom', path, message: `{{${name}}}: ${unknownName(name, known, 'name')}` })
    }
    for (const [name, value] of Object.entries(vars)) check(value, ['vars', name])
    for (const [index, { value }] of assert.entries())
      for (const text of [value ?? ''].flat()) check(text, ['assert', index, 'value'])
  })

/** The whole file. `prompts`: the messages, each asked for every test; by default what each test has as `vars.question`. */
export const questionsSchema = z
  .strictObject({
    description: z.string().optional(),
    prompts: z.array(z.string().min(1)).min(1).optional(),
    tests: z.array(testSchema).min(1),
  })
  .superRefine(({ prompts = ['{{question}}'], tests }, context) => {
    for (const [index, { vars = {} }] of tests.entries()) {
      const known = [...Object.keys(vars), ...fieldNames, 'address']
      for (const name of prompts.flatMap(namesIn))
        if (!known.includes(name))
          context.addIssue({
            code: 'custom',
            path: ['tests', index, 'vars'],
            message: `lacks ${name}, which the prompt uses`,
          })
    }
  })

export type Questions = z.output<typeof questionsSchema>
export type Test = Questions['tests'][number]
export type Assertion = Test['assert'][number]

function patternProblem(pattern: string): string | null {
  try {
    // Placeholders are filled with escaped text later.
    void new RegExp(pattern.replaceAll(/\{\{[^{}]*\}\}/g, 'x'), 'u')
    return null
  } catch (error) {
    return (error as Error).message
  }
}
