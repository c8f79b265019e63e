/** Keys that match nothing: how they are refused or counted, and how many a Delete accepts. */
import { many } from '../core/text.ts'
import { refusalWords, resultWords } from './calls.ts'
import type { Reply } from './calls.ts'
import { largestTaken, searchLimit } from './largest.ts'
import type { Question } from './question.ts'
import { wholeListing } from './sentinel-listing.ts'

/** An Update whose Key matches nothing. If the service creates a listing, it is removed at once. */
export const updateWithoutMatch: Question = {
  key: 'updateWithoutMatch',
  unknown: 'S5',
  title: 'Update of an MLSNumber that is not there',
  async ask({ sentinels }, answer): Promise<void> {
    const mlsNumber = sentinels.names.mlsNumber(3)
    const reply = await sentinels.update(wholeListing(sentinels.names, 3, sentinels.nextWrite()))
    const { rows } = await sentinels.awaitRows(
      mlsNumber,
      (found) => !reply.taken || reply.value === 0 || found.length > 0,
    )
    sentinels.updatesCreate = rows.length > 0
    if (rows.length > 0) {
      answer.facts.updateWithoutMatch = 'creates'
      answer.words.push('An Update of an MLSNumber that is not there creates a listing. (It was removed.)')
    } else {
      const counted = reply.taken && (reply.value === 0 ? 'zero' : `counts ${reply.value}`)
      answer.facts.updateWithoutMatch = counted || 'refused'
      const result = `${counted ? 'succeeds and ' : ''}${resultWords(reply)}`
      answer.words.push(`An Update of an MLSNumber that is not there ${result}.`)
    }
    await sentinels.remove(mlsNumber)
  },
}

export const deleteWithoutMatch: Question = {
  key: 'deleteWithoutMatch',
  unknown: 'S6',
  title: 'Delete of an MLSNumber that is not there',
  async ask({ calls, sentinels }, answer): Promise<void> {
    const reply = await calls.remove('MLSNumber', [sentinels.names.absent(0)])
    answer.facts.deleteWithoutMatch = reply.taken ? `counts ${reply.value}` : 'refused'
    const result = `${reply.taken ? 'succeeds and ' : ''}${resultWords(reply)}`
    answer.words.push(`A Delete of an MLSNumber that is not there ${result}.`)
  },
}

/** If keys that match nothing are refused, the limit only shows by a refusal with another code. */
export const deleteBatch: Question = {
  key: 'deleteBatch',
  unknown: 'S7',
  title: 'Most Keys in one Delete',
  async ask({ calls, sentinels: { names } }, answer): Promise<void> {
    const ask = (size: number): Promise<Reply<number>> =>
      calls.remove(
        'MLSNumber',
        Array.from({ length: size }, (_, index) => names.absent(index)),
      )
    const single = await ask(1)
    let refusal: Reply<number> = single
    const largest = await largestTaken(50, async (size) => {
      const reply = await ask(size)
      const fits = reply.taken || (!single.taken && reply.code === single.code && reply.status === single.status)
      if (!fits) refusal = reply
      return fits
    })
    if (largest < searchLimit && !refusal.taken) {
      answer.facts.maxKeys = largest
      answer.profile.deleteBatch = Math.max(1, largest)
      answer.words.push(
        `A Delete takes ${many(largest, 'key')}; ${largest + 1} are refused (${refusalWords(refusal)}).`,
      )
    } else if (single.taken) {
      answer.facts.maxKeys = null
      answer.words.push(`A Delete takes ${searchLimit} keys; larger numbers were not tried.`)
    } else {
      answer.notLearnt.push(
        `how many keys a Delete takes, because keys that match nothing are refused with the same code (${single.code}) that ${searchLimit} of them get`,
      )
    }
  },
}

/** Removes sentinel 1. */
export const partialDelete: Question = {
  key: 'partialDelete',
  unknown: 'S6',
  title: 'Delete of one key that matches and one that does not',
  async ask({ calls, sentinels }, answer): Promise<void> {
    const mlsNumber = sentinels.names.mlsNumber(1)
    if ((await sentinels.lookUp(mlsNumber)).length !== 1)
      return void answer.notLearnt.push(
        'what a Delete does with half of its keys, because its test listing does not exist exactly once',
      )
    const reply = await calls.remove('MLSNumber', [mlsNumber, sentinels.names.absent(0)])
    const isGone = await sentinels.isGone(mlsNumber)
    answer.facts.partialDelete = reply.taken ? `counts ${reply.value}` : 'refused'
    answer.facts.partialDeleteCarriedOut = isGone
    answer.words.push(
      `A Delete of two keys of which one matches ${resultWords(reply)}, and the listing that matches ${isGone ? 'is deleted' : 'stays'}.`,
    )
    if (reply.taken && reply.value === 2)
      answer.contradictions.push(
        'SuccessCount is "number of listings deleted", but keys that match nothing are counted',
      )
  },
}
