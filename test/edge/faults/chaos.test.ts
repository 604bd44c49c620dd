import { expect, test } from 'vitest';
import { runChaos } from '../../../bench/chaos/run.ts';

const durationMs = 60_000;

test('a minute of random faults: every redirect is one scan in the log, the counters, the warehouse, the webhook and the feed', async () => {
  let until: number | undefined;
  const { isClean, ...result } = await runChaos({
    isOver: () => {
      until ??= performance.now() + durationMs;
      return performance.now() > until;
    },
    isShort: true,
    // Other test files run at the same time on the same two cores.
    clients: 6,
  });
  expect(isClean, JSON.stringify(result, null, 2)).toBe(true);
  expect(result.faults.length, 'kinds of faults, including none').toBeGreaterThan(4);
  expect(result.total.redirected).toBeGreaterThan(1_000);
  expect(result.webhook.scans).toBe(result.total.logged);
  expect(result.interruptedReplays, 'a replay was under way when the services were killed').toBeGreaterThan(0);
  expect(result.webhook.replayed, 'deliveries of replays').toBeGreaterThan(0);
  expect(result.feed.connections, 'the reader had to reconnect').toBeGreaterThan(1);
}, 400_000);
