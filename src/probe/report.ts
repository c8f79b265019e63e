/** The findings of a probe, as text and as JSON. */
import { escapeUnseen, jsonDocument, many, printable } from '../core/text.ts'
import type { ServiceProfile } from '../service/settings.ts'
import type { Asked } from './ask.ts'

/** Times in milliseconds since the epoch. */
export interface Probed extends Asked {
  feed: string
  chatbot: string
  startedAt: number
  finishedAt: number
  /** How long a call without an answer may still take effect, in milliseconds. */
  settle: number
}

/** `partial`: some questions are open. `failed`: it ended early, or test listings may be left on the service. */
export function resultOf({ error, left, lost, answers }: Asked): 'ok' | 'partial' | 'failed' {
  if (error !== null || left.size > 0 || lost.size > 0) return 'failed'
  return answers.some(({ notLearnt }) => notLearnt.length > 0) ? 'partial' : 'ok'
}

/** Everything that was learnt for `service.profile`. */
export function profileOf({ answers }: Asked): Partial<ServiceProfile> {
  return Object.assign({}, ...answers.map(({ profile }) => profile)) as Partial<ServiceProfile>
}

export function probedJson(probed: Probed): string {
  const { feed, chatbot, startedAt, finishedAt, error, calls, removed, left, lost, notes, answers } = probed
  const document = {
    version: 1,
    feed,
    chatbot,
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: new Date(finishedAt).toISOString(),
    result: resultOf(probed),
    error,
    calls,
    profile: profileOf(probed),
    answers: answers.map(({ key, unknown, title, facts, words, notLearnt, contradictions }) => {
      // Version 1 of this document numbers the questions by the letter U.
      return { key, unknown: unknown.replaceAll('S', 'U'), title, facts, words, notLearnt, contradictions }
    }),
    notes,
    removed,
    left: [...left].map(([mlsNumber, why]) => ({ mlsNumber, why })),
    mayAppear: [...lost].map(([mlsNumber, at]) => {
      return { mlsNumber, until: new Date(at + probed.settle).toISOString() }
    }),
  }
  return jsonDocument(document)
}

export function probedText(probed: Probed): string {
  const { feed, chatbot, answers, calls, removed, error, notes } = probed
  const open = answers.filter(({ notLearnt }) => notLearnt.length > 0).length
  const lines = [
    `${feed} → chatbot ${printable(chatbot)}: ${answers.length - open} of ${answers.length} questions answered in full, ${many(calls, 'call')}`,
  ]
  if (removed.length > 0) lines.push(`  test listings that an earlier probe left, removed: ${removed.join(', ')}`)
  for (const note of notes) lines.push(...wrapped(note, '  '))
  for (const { title, words, notLearnt } of answers) {
    lines.push('', title)
    for (const sentence of words) lines.push(...wrapped(sentence, '  '))
    for (const sentence of notLearnt) {
      const isWhole = sentence.startsWith('not ')
      lines.push(...wrapped(`${isWhole ? '' : 'Not learnt: '}${sentence}.`.replace(/\.\.$/, '.'), '  '))
    }
  }
  const against = answers.flatMap(({ contradictions }) => contradictions)
  if (against.length > 0) lines.push('', 'Contradictions to the documentation')
  for (const sentence of against) lines.push(...wrapped(`${sentence}.`, '  '))
  lines.push('', ...configuration(probed), ...leftLines(probed))
  if (error !== null) lines.push('', ...wrapped(`The probe ended early: ${error}`, ''))
  return `${lines.join('\n')}\n`
}

function configuration(probed: Probed): string[] {
  const profile = Object.entries(profileOf(probed))
  if (profile.length === 0) return ['Nothing was learnt for the configuration.']
  // JSON is valid YAML.
  const lines = profile.map(([name, value]) => {
    return `    ${name}: ${typeof value === 'object' ? escapeUnseen(JSON.stringify(value)) : value}`
  })
  return ['For the configuration', 'service:', '  profile:', ...lines]
}

function leftLines({ feed, left, lost, settle }: Probed): string[] {
  const lines: string[] = []
  for (const [mlsNumber, why] of left) {
    const sentence = `PERHAPS LEFT: the test listing with MLSNumber ${mlsNumber} may still be on the service (${why}). Run listing-sync probe --feed ${feed} again, which removes it, or delete that MLSNumber by hand.`
    lines.push('', ...wrapped(sentence, ''))
  }
  for (const [mlsNumber, at] of lost) {
    const until = new Date(at + settle).toISOString()
    const sentence = `MAY APPEAR: the test listing with MLSNumber ${mlsNumber} was never confirmed; it may still be created until ${until}. Run listing-sync probe --feed ${feed} again after that, which removes it, or delete that MLSNumber by hand.`
    lines.push('', ...wrapped(sentence, ''))
  }
  return lines
}

const width = 110

/** Wraps a sentence, which may contain text of the service. */
function wrapped(sentence: string, indentation: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of printable(sentence).split(' ')) {
    if (line !== '' && line.length + word.length + 1 > width) {
      lines.push(`${indentation}${line}`)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  lines.push(`${indentation}${line}`)
  return lines
}
