/** Several rows with one MLSNumber, and whether a Delete by ID works, which `repair` needs. */
import { refusalWords, resultWords } from './calls.ts'
import type { Answer, Context, Question } from './question.ts'
import { idOf, textOf, wholeListing } from './sentinel-listing.ts'

/** Removes sentinel 2 or leaves it to be removed. */
export const duplicates: Question = {
  key: 'duplicates',
  unknown: 'S3',
  title: 'A second Create with the same MLSNumber',
  needs: [2],
  async ask(context, answer): Promise<void> {
    const second = await createSecond(context, answer)
    if (second === null) return
    if (second.rows.length !== 2) {
      await deleteById(answer, context, second.rows.length === 1 ? context.sentinels.identifier(2) : null)
      return
    }
    const isOne = await deleteById(answer, context, second.identifier)
    if (isOne) await createSecond(context, null)
    if ((await context.sentinels.lookUp(context.sentinels.names.mlsNumber(2))).length === 2)
      await deleteBoth(answer, context)
    else answer.notLearnt.push('what a Delete by MLSNumber does to two rows, because there are no longer two')
  },
}

/** Creates sentinel 2 again and adds the result to the answer, if given; null: result unknown. */
async function createSecond({ sentinels }: Context, answer: Answer | null) {
  const body = wholeListing(sentinels.names, 2, sentinels.nextWrite())
  const reply = await sentinels.create(body)
  if (!reply.taken) {
    if (answer === null) return null
    answer.facts.duplicates = 'refused'
    answer.words.push(`A second Create with the same MLSNumber is refused (${refusalWords(reply)}).`)
    return { rows: await sentinels.lookUp(body.MLSNumber), identifier: null }
  }
  const { rows } = await sentinels.awaitRows(body.MLSNumber, (found) =>
    found.some((row) => textOf(row, 'Url') === body.Url),
  )
  if (rows.length === 0) {
    answer?.notLearnt.push('what a second Create with the same MLSNumber does, because it was accepted but not listed')
    return null
  }
  if (answer !== null) {
    answer.facts.duplicates = rows.length > 1 ? 'allowed' : 'replaces'
    answer.words.push(
      rows.length > 1
        ? 'A second Create with the same MLSNumber makes a second listing.'
        : 'A second Create with the same MLSNumber changes the listing that is there.',
    )
  }
  return { rows, identifier: reply.value }
}

/** Deletes one row of sentinel 2 by its ID from Create. Returns whether exactly that one was deleted. */
async function deleteById(answer: Answer, { calls, sentinels }: Context, identifier: string | null): Promise<boolean> {
  const mlsNumber = sentinels.names.mlsNumber(2)
  const { id, why } = await sentinels.certainId(mlsNumber, identifier)
  if (id === null) {
    answer.notLearnt.push(
      `whether Delete takes the ID of the list as NativeId, by which repair could delete single copies, because ${why}`,
    )
    return false
  }
  const before = (await sentinels.lookUp(mlsNumber)).map(idOf)
  const reply = await calls.remove('NativeId', [id])
  const { missed } = await sentinels.awaitRows(mlsNumber, (rows) => !rows.map(idOf).includes(id))
  const after = (await sentinels.lookUp(mlsNumber)).map(idOf)
  const isGone = !after.includes(id)
  const othersStay = before.every((other) => other === id || after.includes(other))
  answer.facts.deleteById = isGone && othersStay
  if (isGone && othersStay) {
    answer.profile.nativeId = 'list-id'
    answer.words.push(
      'A Delete by the ID of the list, as NativeId, takes exactly that row: repair can delete single copies.',
    )
    return true
  }
  answer.words.push(
    !othersStay
      ? `A Delete by the ID of one row takes ${isGone ? 'the other rows of its MLSNumber too' : 'another row of its MLSNumber'}: repair does not use it.`
      : `A Delete by the ID of the list, as NativeId, ${resultWords(reply)} and the row was still there at look-up ${missed}: repair does not use it.`,
  )
  return false
}

const pause = 1000

async function deleteBoth(answer: Answer, { calls, sentinels }: Context): Promise<void> {
  const mlsNumber = sentinels.names.mlsNumber(2)
  const reply = await calls.remove('MLSNumber', [mlsNumber])
  if (!reply.taken)
    return void answer.words.push(`A Delete by an MLSNumber that two rows have is refused (${refusalWords(reply)}).`)
  await sentinels.awaitRows(mlsNumber, (rows) => rows.length < 2)
  // The second one may leave the list a little later.
  await calls.pause(pause)
  const { length } = await sentinels.lookUp(mlsNumber)
  if (length > 1)
    return void answer.notLearnt.push('what a Delete by MLSNumber does to two rows, because both are still listed')
  answer.facts.doubles = length === 0 ? 'all' : 'first'
  answer.facts.deleteCounts = reply.value
  answer.words.push(
    `A Delete by an MLSNumber that two rows have counts ${reply.value} and takes ${length === 0 ? 'both' : 'one of them'}.`,
  )
}
