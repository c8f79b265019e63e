/** The invariants of DESIGN §3 over the other half of the seeded histories. */
import { testHalf } from './half.ts'

testHalf(1)
