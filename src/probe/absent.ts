/** Keys that match nothing: how they are refused or counted, and how many a Delete takes. No row is there meanwhile. */
import { refusalWords } from './calls.ts'
import type { Reply } from './calls.ts'
import { largestTaken, searchLimit } from './largest.ts'
import { emptyAnswer } from './question.ts'
import type { Context, Question } from './question.ts'
import { wholeListing } from './sentinel-listing.ts'

/** An Update whose Key matches nothing. Some services make a listing of it, which is removed at once. */
export const updateWithoutMatch: Question = {
  key: 'updateWithoutMatch',
  unknown: 'U5',
  title: 'Update of an MLSNumber that is not there',
  async ask({ sentinels }) {
    const answer = emptyAnswer()
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
    } else if (reply.taken) {
      answer.facts.updateWithoutMatch = reply.value === 0 ? 'zero' : `counts ${reply.value}`
      answer.words.push(`An Update of an MLSNumber that is not there succeeds and counts ${reply.value}.`)
    } else {
      answer.facts.updateWithoutMatch = 'refused'
      answer.words.push(`An Update of an MLSNumber that is not there is refused (${refusalWords(reply)}).`)
    }
    await sentinels.remove(mlsNumber)
    return answer
  },
}

export const deleteWithoutMatch: Question = {
  key: 'deleteWithoutMatch',
  unknown: 'U6',
  title: 'Delete of an MLSNumber that is not there',
  async ask({ calls, sentinels }) {
    const answer = emptyAnswer()
    const reply = await calls.remove('MLSNumber', [sentinels.names.absent(0)])
    answer.facts.deleteWithoutMatch = reply.taken ? `counts ${reply.value}` : 'refused'
    answer.words.push(
      reply.taken
        ? `A Delete of an MLSNumber that is not there succeeds and counts ${reply.value}.`
        : `A Delete of an MLSNumber that is not there is refused (${refusalWords(reply)}).`,
    )
    return answer
  },
}

/**
 * Where a key that matches nothing is refused, only a refusal with another code can be told from that: else nothing is
 * learnt.
 */
export const deleteBatch: Question = {
  key: 'deleteBatch',
  unknown: 'U7',
  title: 'Most Keys in one Delete',
  async ask({ calls, sentinels: { names } }) {
    const answer = emptyAnswer()
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
      answer.words.push(`A Delete takes ${largest} keys; ${largest + 1} are refused (${refusalWords(refusal)}).`)
    } else if (single.taken) {
      answer.facts.maxKeys = null
      answer.words.push(`A Delete takes ${searchLimit} keys; more was not tried.`)
    } else {
      answer.notLearnt.push(
        `how many keys a Delete takes, because keys that match nothing are refused with the very code (${single.code}) that ${searchLimit} of them get`,
      )
    }
    return answer
  },
}

/** Sentinel 1 is gone, afterwards. */
export const partialDelete: Question = {
  key: 'partialDelete',
  unknown: 'U6',
  title: 'Delete of one key that matches and one that does not',
  async ask({ calls, sentinels }: Context) {
    const answer = emptyAnswer()
    const mlsNumber = sentinels.names.mlsNumber(1)
    if ((await sentinels.lookUp(mlsNumber)).length !== 1) {
      answer.notLearnt.push('what a Delete does with half of its keys, because its test listing is not there once')
      return answer
    }
    const reply = await calls.remove('MLSNumber', [mlsNumber, sentinels.names.absent(0)])
    const isGone = await sentinels.isGone(mlsNumber)
    const said = reply.taken ? `counts ${reply.value}` : `is refused (${refusalWords(reply)})`
    answer.facts.partialDelete = reply.taken ? `counts ${reply.value}` : 'refused'
    answer.facts.partialDeleteCarriedOut = isGone
    answer.words.push(
      `A Delete of two keys of which one matches ${said}, and the listing that matches ${isGone ? 'is deleted' : 'stays'}.`,
    )
    if (reply.taken && reply.value === 2)
      answer.contradictions.push(
        'SuccessCount is "number of listings deleted", but keys that match nothing are counted',
      )
    return answer
  },
}
