/**
 * Sets the clock of a Node process ahead, and of every process that it starts:
 * `SHIFT_DAYS=365 NODE_OPTIONS=--import=/…/shifted-clock.mjs node …`. Only what asks for the time of day is shifted: timers,
 * file times, TLS and SQLite keep the machine's. Plain JavaScript, as it is loaded before everything else.
 */
const days = Number(process.env.SHIFT_DAYS)
if (!Number.isFinite(days)) throw new Error(`SHIFT_DAYS takes a number of days, not "${process.env.SHIFT_DAYS}"`)
const shift = days * 86_400_000

const MachineDate = Date
const now = () => MachineDate.now() + shift

function ShiftedDate(...parts) {
  if (new.target === undefined) return new MachineDate(now()).toString()
  return Reflect.construct(MachineDate, parts.length === 0 ? [now()] : parts, new.target)
}
Object.defineProperties(ShiftedDate, { ...Object.getOwnPropertyDescriptors(MachineDate), now: { value: now } })
MachineDate.prototype.constructor = ShiftedDate
globalThis.Date = ShiftedDate

// The other way to the time of day: performance.timeOrigin + performance.now().
Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + shift })
