import { expect, test } from 'vitest';
import { DueQueue } from '../../src/webhooks/due-queue.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();

test('deliveries with much data are read a few at a time, and each is returned once', async () => {
  const { sql } = database;
  const now = new Date();
  const ids = Array.from({ length: 20 }, (_, i) => `whd_${String(i).padStart(20, '0')}`);
  for (const [i, id] of ids.entries())
    await sql`
      INSERT INTO deliveries (id, account, webhook, generation, type, code, occurred_at, data, status, due_at, created_at)
      VALUES (${id}, 'acct_1', 'wh_1', 0, 'code.updated', 'qr_1', ${now}, ${sql.json({ rules: 'x'.repeat(200_000) })},
        'pending', ${new Date(now.getTime() - 1_000 + i)}, ${now})`;
  const queue = new DueQueue(sql, { account: 'acct_1', webhook: 'wh_1', generation: 0, replaying: false });
  const returned: string[] = [];
  for (;;) {
    while (queue.needsRefill) await queue.refill(now);
    const batch = [];
    for (let due = queue.next(); due !== undefined; due = queue.next()) batch.push(due);
    if (batch.length === 0) break;
    expect(batch.length, 'that were in memory at once').toBeLessThanOrEqual(6);
    for (const due of batch) {
      returned.push(due.id);
      await sql`UPDATE webhook_deliveries SET status = 'delivered' WHERE id = ${due.id}`;
      queue.markRecorded(due);
    }
  }
  expect(returned).toEqual(ids);
});
