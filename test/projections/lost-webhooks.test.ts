import { describe, expect, test } from 'vitest';
import type { WebhookEvent } from '../../events/webhooks/webhook.ts';
import { Superseded } from '../../projections/checkpoint.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { newId } from '../../src/lib/ids.ts';
import { headOfLog, readRange } from '../../src/log/read.ts';
import { verifyDeliveries } from '../../src/maintenance/verify-deliveries.ts';
import { abandonTail } from '../../src/stream/lost-tail.ts';
import { create } from '../../src/webhooks/commands.ts';
import { useWebhookAccounts } from './webhook-accounts.ts';

const { database, box, by, newAccount, catchUp, dropAll } = useWebhookAccounts();

describe('when the log has lost scans that were delivered', () => {
  test('their deliveries are removed, deliveries of other scans are unchanged, and missing ones are created', async () => {
    const { sql } = database;
    const account = await newAccount();
    await account.set();
    await account.scan(2);
    await catchUp();
    const agreed = await headOfLog(sql);
    await account.scan(3);
    await catchUp();
    await sql`UPDATE deliveries SET status = 'delivered' WHERE account = ${account.account}`;
    const { entries } = await readRange(sql, agreed, 100);
    const owner = { account: account.account, mode: 'live' as const };
    const lost = { id: newId('scan', Date.now()), code: `qr_${account.account}`, owner };
    await sql`
      UPDATE deliveries SET id = ${`whd_${lost.id.slice('scan_'.length)}`}
      WHERE id = ${`whd_${entries[0]?.id.slice('scan_'.length)}`}`;
    const inLog = { ...lost, id: entries[1]?.id ?? '' };

    await sql.begin((tx) => webhooks.rewind(tx, agreed, [lost, inLog]));
    const stale = webhooks.apply(sql, { after: agreed, to: agreed + 1, entries: [] }, new Date());
    await expect(stale, 'a process that still has lost events to apply').rejects.toThrow(Superseded);
    expect(await webhooks.checkpoint(sql)).toBe(agreed);
    await catchUp();
    const statuses = (await account.deliveries()).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...Array(4).fill('delivered'), 'pending']);
    expect((await verifyDeliveries(sql, { account: account.account })).differences).toEqual([]);
  });

  test('a checkpoint before the lost scans stays where it is', async () => {
    const { sql } = database;
    await catchUp();
    const position = await webhooks.checkpoint(sql);
    await sql.begin((tx) => webhooks.rewind(tx, position + 100, []));
    await sql.begin((tx) => webhooks.rewind(tx, position + 100, []));
    expect(await webhooks.checkpoint(sql)).toBe(position);
  });

  test('of two rewinds before a restart, the one that goes further back counts', async () => {
    const { sql } = database;
    const account = await newAccount();
    await account.scan(3);
    await catchUp();
    const position = await webhooks.checkpoint(sql);
    for (const to of [position - 1, position - 3, position - 2]) await sql.begin((tx) => webhooks.rewind(tx, to, []));
    expect(await webhooks.checkpoint(sql)).toBe(position - 3);
  });
});

describe('when the log has lost an event that changed a webhook', () => {
  /** The projection receives an event from the stream that the log has lost; then the loss is detected. */
  async function applyLost(account: string, event: WebhookEvent, whileLost = async () => {}) {
    const { sql } = database;
    const kept = await headOfLog(sql);
    const id = newId('evt', Date.now());
    const entry = {
      ...event,
      id,
      stream: account,
      version: 99,
      position: kept + 1,
      actor: 'key_1',
      occurred_at: new Date(),
    };
    await webhooks.apply(sql, { after: kept, to: kept + 1, entries: [entry] }, new Date());
    await whileLost();
    await abandonTail(sql, { agreedTo: kept, lostTo: kept + 1, reported: [] });
    await catchUp();
  }

  /** What must hold after any loss: later scans are delivered exactly as the log says. */
  const differencesOf = async (account: string) => (await verifyDeliveries(database.sql, { account })).differences;

  test('a removal: what was dropped by it is pending again, and later scans are delivered', async () => {
    const account = await newAccount();
    await account.set();
    await account.scan(2);
    await catchUp();
    const before = await account.endpoint();
    await applyLost(account.account, { type: 'webhook_removed', data: { mode: 'live' } }, async () => {
      await dropAll();
      expect((await account.deliveries()).map(({ status }) => status)).toEqual(['failed', 'failed']);
    });
    await account.scan(1);
    await catchUp();
    await dropAll();
    expect(await account.deliveries()).toEqual(Array(3).fill({ status: 'pending', generation: 0, error: null }));
    expect(await account.endpoint()).toMatchObject({ is_set: true, generation: 0, due_at: before?.['due_at'] });
    expect(await differencesOf(account.account)).toEqual([]);
  });

  test('the first setting: nothing is delivered', async () => {
    const account = await newAccount();
    await account.scan(1);
    await catchUp();
    await applyLost(account.account, {
      type: 'webhook_set',
      data: { mode: 'live', url: 'https://example.com/a' },
    });
    await account.scan(5);
    await catchUp();
    expect(await account.deliveries()).toEqual([]);
    expect(await account.endpoint()).toBeUndefined();
    expect(await differencesOf(account.account)).toEqual([]);
  });

  test('a setting after a removal: scans until the next setting are not delivered', async () => {
    const account = await newAccount();
    await account.set();
    await account.remove();
    await catchUp();
    const setAgain = { type: 'webhook_set' as const, data: { mode: 'live' as const, url: 'https://example.com/a' } };
    await applyLost(account.account, setAgain, async () => {
      // The log has it at the position of the lost event, which the projection has passed.
      await account.scan(2);
      const position = await webhooks.checkpoint(database.sql);
      await webhooks.apply(database.sql, await readRange(database.sql, position, 100), new Date());
      expect(await account.deliveries()).not.toHaveLength(0);
    });
    expect(await account.deliveries()).toEqual([]);
    await account.set();
    await account.scan(3);
    await catchUp();
    expect(await account.deliveries()).toHaveLength(3);
    expect(await differencesOf(account.account)).toEqual([]);
  });

  test('the deletion of a webhook with filters: its endpoint is there again', async () => {
    const account = await newAccount();
    const owner = { account: account.account, mode: 'live' as const };
    const settings = { url: 'https://example.com/b', description: '', active: true };
    const filter = { events: ['scan.created'], qr_ids: null, tags: null };
    const webhook = await create(database.sql, box, owner, Object.assign(settings, filter), by());
    await account.scan(1);
    await catchUp();
    await applyLost(account.account, { type: 'webhook_deleted', data: { webhook, mode: 'live' } }, async () => {
      await dropAll();
      expect(await account.endpoint()).toBeUndefined();
    });
    await account.scan(1);
    await catchUp();
    expect((await account.deliveries()).map(({ status }) => status)).toEqual(['pending', 'pending']);
    expect(await account.endpoint()).toMatchObject({ webhook, is_set: true, filter: { mode: 'live' } });
    expect(await differencesOf(account.account)).toEqual([]);
  });
});
