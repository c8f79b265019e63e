import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Forks: better-sqlite3 has crashed at worker exit before, and the tests start real child processes anyway.
    pool: 'forks',
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
