import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // ZeroMQ's native code wants processes of its own, not worker threads.
    pool: 'forks',
    maxWorkers: 2,
    // A notebook takes seconds, on a busy machine many.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
