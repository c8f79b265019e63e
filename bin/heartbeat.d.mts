/** How often the daemon beats, in milliseconds. */
export const beatEvery: number

/** Where a configuration's daemon beats, by the path of the configuration. */
export function heartbeatFile(configFile: string): string

/** Sets a file's time to now, in milliseconds; creates it if missing. Never through a link. Throws what the system throws. */
export function touch(file: string, now: number): void

/** Whether the file was touched within a minute before `now`, in milliseconds. */
export function isFresh(file: string, now: number): boolean

/**
 * The configuration of a command line that is `status --health` and nothing more; null: it is another one. `named`: by the
 * environment.
 */
export function healthOf(words: readonly string[], named: string | undefined): string | null
