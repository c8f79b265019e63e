/** An evaluation as JUnit XML, which CI servers show: a case for each try. */
import type { Evaluation } from './evaluate.ts'

export function junit(name: string, { tries, wanted, stopped }: Evaluation): string {
  const failed = tries.filter(({ pass, problem }) => !pass && problem === null).length
  const broken = tries.filter(({ problem }) => problem !== null).length
  const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(3)
  const total = tries.reduce((sum, { took }) => sum + took, 0)
  const cases = tries.map((attempt) => {
    const head = `    <testcase classname="${xml(name)}" name="${xml(`${attempt.id} (try ${attempt.try})`)}" time="${seconds(attempt.took)}"`
    if (attempt.pass) return `${head}/>`
    const answer = `asked: ${attempt.question}\nanswered: ${attempt.answer ?? ''}`
    const [kind, message] =
      attempt.problem === null ? ['failure', attempt.failures.join('; ')] : ['error', attempt.problem]
    return `${head}>\n      <${kind} message="${xml(message)}">${xml(answer)}</${kind}>\n    </testcase>`
  })
  const skipped = wanted - tries.length
  if (skipped > 0)
    cases.push(
      `    <testcase classname="${xml(name)}" name="not done: ${skipped}"><skipped message="${xml(stopped ?? '')}"/></testcase>`,
    )
  const counts = `tests="${cases.length}" failures="${failed}" errors="${broken}" skipped="${skipped > 0 ? 1 : 0}" time="${seconds(total)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${xml(name)}" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

/** Without what XML 1.0 has no way to say. */
function xml(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;' }
  return text
    .toWellFormed()
    .replaceAll(/(?!\n)\p{Cc}|[\ufffe\uffff]/gu, ' ')
    .replaceAll(/[&<>"\n]/g, (character) => names[character])
}
