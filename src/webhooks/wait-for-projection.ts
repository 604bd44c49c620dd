import { setTimeout as sleep } from 'node:timers/promises';
import { retryLater } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';

/**
 * Waits until the projection `webhooks` has applied every event of the account. A delivery that is resent earlier would
 * be dropped with those that were pending when the webhook was last disabled or removed.
 */
export async function waitForWebhooksProjection(sql: Sql, account: string): Promise<void> {
  const deadline = performance.now() + timeouts.webhooksProjectionMs;
  for (;;) {
    const [row] = await sql<{ applied: boolean | null }[]>`
      SELECT (SELECT position FROM checkpoints WHERE projection = 'webhooks' AND NOT is_rewound)
        >= (SELECT position FROM events WHERE stream = ${account} ORDER BY version DESC LIMIT 1) AS applied`;
    if (row?.applied) return;
    if (performance.now() > deadline)
      throw retryLater('The delivery log lags behind the last change of the account: try again in a few seconds.');
    await sleep(50);
  }
}
