import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Forks: better-sqlite3 has crashed at worker exit before, and the tests start real child processes anyway.
    pool: 'forks',
    // The default leaves one core idle, which is half of a small machine.
    maxWorkers: availableParallelism(),
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
