import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const slow = 'test/**/*.slow.test.ts'
const alone = 'test/**/*.alone.test.ts'

/**
 * `npm test` runs all but the slow tests; `npm run test:all` all, and those but the slow ones again with the clock ahead. A
 * test is slow, and its file called `*.slow.test.ts`, that starts child processes, waits for real time, plays more than 120
 * histories or takes over five seconds. A test is alone, in a `*.alone.test.ts`, that changes a module (test/README.md).
 */
export default defineConfig({
  test: {
    globalSetup: 'test/support/temporary.ts',
    setupFiles: 'test/support/setup.ts',
    // Forks: better-sqlite3 has crashed at worker exit before, and the tests start real child processes anyway.
    pool: 'forks',
    // The default leaves one core idle, which is half of a small machine.
    maxWorkers: availableParallelism(),
    // These end what hangs. On a busy machine all else ends long before, however slow it is.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: [
      // Loading everything anew for each of a hundred files would take a third of the time.
      { extends: true, test: { name: 'fast', include: ['test/**/*.test.ts'], exclude: [slow, alone], isolate: false } },
      { extends: true, test: { name: 'alone', include: [alone] } },
      { extends: true, test: { name: 'slow', include: [slow], testTimeout: 1_200_000 } },
    ],
  },
})
