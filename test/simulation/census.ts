/** What a run holds at once of that which grows with the number of listings (invariant 9), counted where it is handed over. */
import type { ChangeKind } from '../../src/plan/change.ts'
import type { OfKind, Stored, Workspace } from '../../src/workspace/workspace.ts'

export class Census {
  /** Most rows that were handed to the workspace in one go. */
  mostInOneGo = 0
  /** Most changes of a kind that the executor had taken from the plan and not yet ended. */
  mostUnderWay = 0
  #underWay = new Set<number>()
  /** The executor begins with what to forget; who asks for what is held comes after it: the report reads, and holds nothing. */
  #phase: 'before' | 'applying' | 'after' = 'before'

  /** The workspace as a run has it. */
  workspace(workspace: Workspace): Workspace {
    const counted =
      <Row>(hand: (rows: readonly Row[]) => void) =>
      (rows: readonly Row[]): void => {
        this.mostInOneGo = Math.max(this.mostInOneGo, rows.length)
        hand(rows)
      }
    this.#phase = 'before'
    return {
      ...workspace,
      addDelivered: counted((rows) => workspace.addDelivered(rows)),
      addShown: counted((rows) => workspace.addShown(rows)),
      addChanges: (changes, sides) => counted((rows: typeof changes) => workspace.addChanges(rows, sides))(changes),
      addBookkeeping: counted((rows) => workspace.addBookkeeping(rows)),
      recordOutcomes: counted((outcomes) => {
        for (const { seq } of outcomes) this.#underWay.delete(seq)
        workspace.recordOutcomes(outcomes)
      }),
      changes: <Kind extends ChangeKind>(kind?: Kind): Iterable<Stored<OfKind<Kind>>> => {
        this.#underWay.clear()
        if (kind === 'hold') this.#phase = 'after'
        else if (kind === 'forget' && this.#phase === 'before') this.#phase = 'applying'
        const changes = workspace.changes(kind!)
        // Deletes and adoptions go in batches.
        return kind === 'create' || kind === 'update' || kind === 'forget' ? this.#taken(changes) : changes
      },
    }
  }

  *#taken<C extends Stored>(changes: Iterable<C>): Generator<C> {
    for (const change of changes) {
      if (change.outcome === null && this.#phase === 'applying') this.#underWay.add(change.seq)
      this.mostUnderWay = Math.max(this.mostUnderWay, this.#underWay.size)
      yield change
    }
  }
}
