import { escapeUnseen } from '../text.ts'
import type { Findings } from './findings.ts'

/** The findings for a program: one document. What a terminal must not be sent stands as `\uXXXX`. */
export function findingsJson(findings: Findings): string {
  return `${escapeUnseen(JSON.stringify(findings, null, 2))}\n`
}
