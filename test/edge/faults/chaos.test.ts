import { expect, test } from 'vitest';
import { runChaos } from '../../../bench/chaos/run.ts';

const kinds = 10;
const redirects = 500;

test('random faults: every redirect is one scan in the log, the counters, the warehouse, the webhook and the feed', async () => {
  const { isClean, ...result } = await runChaos({
    isOver: ({ faults, redirected, interruptedReplays }) =>
      faults >= kinds && redirected > redirects && interruptedReplays > 0,
    pace: 0.2,
    // Few scans, so that webhooks keep up with them on a busy machine.
    clients: 4,
    scanPauseMs: 50,
  });
  expect(isClean, JSON.stringify(result, null, 2)).toBe(true);
  expect(result.faults.length, 'kinds of faults, and none').toBeGreaterThan(kinds);
  expect(result.total.redirected).toBeGreaterThan(redirects);
  expect(result.webhook.scans).toBe(result.total.logged);
  expect(result.interruptedReplays, 'a replay was under way when the services were killed').toBeGreaterThan(0);
  expect(result.webhook.replayed, 'deliveries of replays').toBeGreaterThan(0);
  expect(result.feed.connections, 'the reader had to reconnect').toBeGreaterThan(1);
});
