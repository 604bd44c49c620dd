import { expect, test } from 'vitest';
import { runChaos } from '../../../src/chaos/run.ts';

const forMs = 60_000;

test('a minute of any faults at any moments: every redirect is one scan, in the log, the counters, the warehouse and the webhook', async () => {
  let until: number | undefined;
  const { isClean, ...result } = await runChaos({
    isOver: () => {
      until ??= performance.now() + forMs;
      return performance.now() > until;
    },
    // Other files are tested at the same time, on the same two cores.
    clients: 6,
  });
  expect(isClean, JSON.stringify(result, null, 2)).toBe(true);
  expect(result.faults.length, 'kinds of faults, and the calm between them').toBeGreaterThan(4);
  expect(result.total.redirected).toBeGreaterThan(1_000);
  expect(result.told.scans).toBe(result.total.logged);
}, 400_000);
