import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Pages can only be looked at where there is a browser; ./scanlog test says so when there is none.
    exclude: process.env['SCANLOG_BROWSER'] ? [] : ['test/browser/**'],
    globalSetup: 'test/support/stack.ts',
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Files run side by side, each on its own database, stream and warehouse of the one stack. Three on two cores, because
    // many tests wait for timeouts and restarts: 9 instead of 11 minutes.
    maxWorkers: 3,
    sequence: { shuffle: true },
  },
});
