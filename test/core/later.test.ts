import { expect, test } from 'vitest'
import { z } from 'zod'
import { later } from '../../src/core/setting-kinds.ts'

test.each([true, false])('a type is made when it first has a value to judge (jitless: %s)', (jitless) => {
  let made = 0
  const number = later(() => (made++, z.number()))
  const schema = z.strictObject({ alone: number.optional(), one: z.union([z.string(), number]).optional() })
  expect(schema.safeParse({ one: 'text' }, { jitless }).success).toBe(true)
  expect(schema.safeParse({ other: 1 }, { jitless }).success).toBe(false)
  expect(made).toBe(0)
  expect(schema.safeParse({ alone: 'text' }, { jitless }).error?.issues[0].message).toContain('expected number')
  expect(schema.parse({ alone: 1, one: 2 }, { jitless })).toEqual({ alone: 1, one: 2 })
  expect(made).toBe(1)
})
