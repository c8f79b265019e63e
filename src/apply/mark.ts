import type { CallKind } from '../run.ts'
import type { StoredChange } from '../workspace/workspace.ts'
import type { ApplyContext } from './context.ts'

/** The marks of one call: written again before each attempt, so that the time to settle runs from the last one. */
export class Mark {
  readonly changes: readonly StoredChange[]
  readonly beforeSend: () => void
  sent = false
  #context: ApplyContext
  readonly #earlier: boolean

  /** `earlier`: an attempt before this call may still land, so that the marks outlast it. */
  constructor(context: ApplyContext, kind: CallKind, changes: readonly StoredChange[], earlier = false) {
    this.changes = changes
    this.#earlier = earlier
    this.#context = context
    this.beforeSend = () => {
      this.sent = true
      const { store, settings, runtime } = context
      for (const approved of [true, false]) {
        const keys = changes
          .map((change) => change.mlsNumber)
          .filter((key) => settings.approved(kind, key) === approved)
        if (keys.length > 0)
          store.markInFlight(settings.chatbot, settings.feed, kind, keys, runtime.clock.now(), approved)
      }
      for (const { seq } of changes) context.underWay.add(seq)
    }
  }

  /** Takes back marks of calls that surely had no effect. A mark of an earlier run, which this one was to settle, stays. */
  clear(): void {
    if (!this.sent || this.#earlier) return
    const keys = this.changes
      .filter((change) => change.cause !== 'settle' && !change.unsettled)
      .map((change) => change.mlsNumber)
    this.#context.store.clearFlight(this.#context.settings.chatbot, keys)
  }
}
