import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { longFiles } from './support/durations.ts';
import { testTimeoutMs } from './support/limits.ts';
import { LongestFirst } from './support/longest-first.ts';
import { Progress } from './support/progress.ts';
import { filesStartingProcesses } from './support/starting-processes.ts';

/**
 * Files that start servers or processes of their own, and those that take long: the others are units, and short tests against
 * the servers of the run.
 */
const leftOutIfQuick = () => [
  ...['test/edge/faults/**', 'test/deploy/**', 'test/stack/**'],
  ...filesStartingProcesses(join(import.meta.dirname, '..')),
  ...longFiles,
];

/** Pages can only be looked at where there is a browser; ./scanlog test says what it leaves out. */
const leftOut = [
  ...(process.env['SCANLOG_BROWSER'] ? [] : ['test/browser/**']),
  ...(process.env['SCANLOG_TEST_QUICK'] ? leftOutIfQuick() : []),
];

export default defineConfig({
  test: {
    reporters: [new Progress()],
    globalSetup: 'test/support/stack.ts',
    setupFiles: 'test/support/timeouts.ts',
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
    // Files run side by side, each on its own database, stream and warehouse of the one stack. Four on two cores, because
    // many tests wait for timeouts and restarts: 10 instead of 12 minutes with three.
    maxWorkers: 4,
    // Bun loads the sources itself.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { shuffle: { files: false, tests: true }, sequencer: LongestFirst },
    include: ['test/**/*.test.ts'],
    exclude: leftOut,
    // A process runs one file after another.
    isolate: false,
  },
});
