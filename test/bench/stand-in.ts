/** The listing service as a process of its own, so that neither its time nor its memory is counted. Told over IPC. */
import { setPriority } from 'node:os'
import { startStandIn } from '../../src/stand-in/stand-in.ts'

const [, , pageSize] = process.argv
const standIn = await startStandIn({ profile: { maxPageSize: Number(pageSize) }, keepRequests: 5000 })
let counted = standIn.counts
process.on('message', (question: { seed?: [string, Parameters<typeof standIn.seed>[1]] }) => {
  if (question.seed !== undefined) standIn.seed(...question.seed)
  const now = standIn.counts
  const calls = Object.fromEntries(
    Object.entries(now).map(([name, count]) => [name, count - counted[name as keyof typeof counted]]),
  )
  counted = now
  process.send!({ calls, starts: standIn.requests.map(({ at }) => at) })
})
process.on('disconnect', () => process.exit())
try {
  // So that it notes when a call comes, and not when other work on the machine lets it.
  setPriority(-15)
} catch {
  // Not everybody may.
}
process.send!({ url: standIn.url })
