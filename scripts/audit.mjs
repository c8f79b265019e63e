// What `npm audit --json` found, for .ci/run: `node audit.mjs FILE`. Ends with 1 where there are known faults, with 0 where
// there are none or the registry answers no such question, and says which.
import { readFileSync } from 'node:fs'

let answer = null
try {
  answer = JSON.parse(readFileSync(process.argv[2], 'utf8'))
} catch {
  // Not JSON: no answer.
}
if (answer?.vulnerabilities === undefined) {
  console.log(`the registry answers no audit (${answer?.message ?? 'no answer'}): known faults were not looked for`)
} else {
  const found = Object.values(answer.vulnerabilities).map(({ name, severity }) => `${name} (${severity})`)
  console.log(
    found.length === 0
      ? 'no known faults in the production dependencies'
      : `known faults in production dependencies: ${found.join(', ')}`,
  )
  process.exitCode = found.length === 0 ? 0 : 1
}
