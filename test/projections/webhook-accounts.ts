import type { Plan } from '../../events/plans.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { createAccount, setPlan } from '../../src/accounts/accounts.ts';
import { newId } from '../../src/lib/ids.ts';
import { createSecretBox } from '../../src/lib/secret-box.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { readRange } from '../../src/log/read.ts';
import { disable, remove, set } from '../../src/webhooks/commands.ts';
import { dropStopped } from '../../src/webhooks/upkeep.ts';
import { useDatabase } from '../support/database.ts';
import { scanned } from '../support/scans.ts';

/** A database for the tests of a file, and accounts with a webhook on it. No service runs: a test calls `catchUp`. */
export function useWebhookAccounts() {
  const database = useDatabase();
  const box = createSecretBox('x'.repeat(32));
  const by = () => ({ actor: 'operator', now: new Date() });

  /** Creates an account, with functions that change it and read its deliveries. */
  async function newAccount(plan: Plan = 'enterprise') {
    const { sql } = database;
    const { id: account } = await createAccount(sql, { name: 'Test', plan, now: new Date() });
    const owner = { account, mode: 'live' as const };
    return {
      account,
      set: (url = 'https://example.com/a') => set(sql, box, owner, url, by()),
      remove: () => remove(sql, owner, 'live', by()),
      disable: () =>
        disable(sql, { account, webhook: 'live' }, { reason: 'gone', attemptedAt: new Date(), now: new Date() }),
      plan: (to: Plan) => setPlan(sql, account, to, new Date()),
      scan: (count: number, mode: 'live' | 'test' = 'live') => {
        const scans = Array.from({ length: count }, () => scanned({ account, mode, code: `qr_${account}` }));
        return appendScans(sql, batchOf(newId('batch', Date.now()), 1, scans));
      },
      deliveries: () => sql<{ status: string; generation: number; error: string | null }[]>`
        SELECT status, generation, error FROM deliveries WHERE account = ${account} ORDER BY id`,
      endpoint: async () => (await sql`SELECT * FROM endpoints WHERE account = ${account}`)[0],
    };
  }

  async function catchUp(maxEntries = 1_000): Promise<void> {
    const { sql } = database;
    for (let position = await webhooks.checkpoint(sql); ; ) {
      const range = await readRange(sql, position, maxEntries);
      if (range.to === position) return;
      await webhooks.apply(sql, range, new Date());
      position = range.to;
    }
  }

  const dropAll = async () => {
    while ((await dropStopped(database.sql, new Date())) !== undefined);
  };

  return { database, box, by, newAccount, catchUp, dropAll };
}
