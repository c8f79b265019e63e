/** The invariants of docs/design.md over the other half of the seeded histories. */
import { testHalf } from './half.ts'

testHalf(1)
