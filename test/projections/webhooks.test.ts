import { describe, expect, test } from 'vitest';
import { isScan } from '../../events/entry.ts';
import { notificationIn } from '../../projections/delivery-columns.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { headOfLog, readRange } from '../../src/log/read.ts';
import { verifyDeliveries } from '../../src/maintenance/verify-deliveries.ts';
import { contractBodyOf } from '../../src/webhooks/body.ts';
import { dueDeliveries } from '../../src/webhooks/deliveries.ts';
import { pruneDeliveries } from '../../src/webhooks/upkeep.ts';
import { dumpTable } from '../support/tables.ts';
import { useWebhookAccounts } from './webhook-accounts.ts';

const { database, newAccount, catchUp, dropAll } = useWebhookAccounts();
const day = 24 * 60 * 60 * 1000;

describe('deliveries', () => {
  test.each([1, 3, 1_000])('are created for scans while the webhook is on, in ranges of %i', async (maxEntries) => {
    const account = await newAccount();
    await account.scan(2);
    await account.set();
    await account.scan(3);
    await account.set('https://example.com/b');
    await account.scan(1);
    await account.scan(5, 'test');
    await account.remove();
    await account.scan(7);
    await account.set();
    await account.scan(4);
    await account.disable();
    await account.scan(1);
    await catchUp(maxEntries);
    const created = await account.deliveries();
    expect(created.map(({ generation }) => generation).toSorted()).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect(await verifyDeliveries(database.sql, { account: account.account })).toMatchObject({
      scans: 8,
      waiting: 8,
      differences: [],
    });
    await dropAll();
    expect(new Set((await account.deliveries()).map(({ status }) => status))).toEqual(new Set(['failed']));
  });

  test('are not created on the plan Free, and are created again after an upgrade', async () => {
    const account = await newAccount('pro');
    await account.set();
    await account.scan(1);
    await account.plan('free');
    await account.scan(10);
    await account.plan('business');
    await account.scan(2);
    await account.plan('pro');
    await account.scan(1);
    await catchUp();
    await dropAll();
    const statuses = (await account.deliveries()).map(({ status, error }) => [status, error]);
    expect(statuses.toSorted()).toEqual([
      ['failed', 'The account went to a plan without webhooks before this could be sent.'],
      ...Array.from({ length: 3 }, () => ['pending', null]),
    ]);
    expect((await verifyDeliveries(database.sql, { account: account.account })).differences).toEqual([]);
  });

  test('are created once: a range that is already applied is refused', async () => {
    const account = await newAccount();
    await account.set();
    await catchUp();
    await account.scan(3);
    const range = await readRange(database.sql, await webhooks.checkpoint(database.sql), 100);
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => webhooks.apply(database.sql, range, new Date())));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await account.deliveries()).toHaveLength(3);
  });

  test('are counted when they are created, change and are deleted', async () => {
    const account = await newAccount();
    await account.set();
    await account.scan(5);
    await catchUp();
    const counts = async () =>
      Object.fromEntries(
        (
          await database.sql<{ status: string; deliveries: number }[]>`
            SELECT status, deliveries FROM delivery_counts WHERE account = ${account.account}`
        ).map(({ status, deliveries }) => [status, deliveries]),
      );
    expect(await counts()).toEqual({ pending: 5 });
    await account.remove();
    await catchUp();
    await dropAll();
    expect(await counts()).toEqual({ pending: 0, failed: 5 });
    await database.sql`DELETE FROM deliveries WHERE account = ${account.account}`;
    expect(await counts()).toEqual({ pending: 0, failed: 0 });
  });
});

describe('deliveries of scans, while an instance of the version before migration 0017 runs', () => {
  const columns =
    'id, account, mode, code, scanned_at, country, city, device, is_unique, generation, due_at, created_at';

  test('are read by both: each finds what the other has stored', async () => {
    const { sql } = database;
    const account = await newAccount();
    await account.set();
    await account.scan(2);
    await catchUp();
    const endpoint = { account: account.account, webhook: 'live', generation: 0 };
    const read = async () =>
      (await dueDeliveries(sql, endpoint, { now: new Date(), limit: 10, maxBytes: 1_000_000 })).due;
    const ours = await read();

    // The columns that the older version reads and writes.
    const rows = await sql.unsafe(`SELECT ${columns} FROM webhook_deliveries WHERE account = $1`, [account.account]);
    await sql`DELETE FROM webhook_deliveries WHERE account = ${account.account}`;
    await sql`
      INSERT INTO webhook_deliveries (${sql.unsafe(columns)})
      SELECT ${sql.unsafe(columns)} FROM jsonb_populate_recordset(NULL::webhook_deliveries,
        ${sql.json(JSON.parse(JSON.stringify(rows)))})`;
    const theirs = await read();
    expect(theirs.map(notificationIn)).toEqual(ours.map(notificationIn));
    const { entries } = await readRange(sql, 0, 10_000);
    const scans = entries.filter(isScan).filter((scan) => scan.account === account.account);
    const expected = scans.map(({ id, code, occurred_at, country, city, device, is_unique }) => ({
      id: `whd_${id.slice('scan_'.length)}`,
      body: {
        event: 'scan.created',
        timestamp: occurred_at.toISOString(),
        data: { qr_id: code, scan_id: id, country, city, device, is_unique },
      },
    }));
    const sent = theirs.map((row) => ({ id: row.id, body: contractBodyOf(notificationIn(row)) }));
    expect(sent.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(
      expected.toSorted((a, b) => a.id.localeCompare(b.id)),
    );
  });
});

describe('no delivery is sent again', () => {
  test('when the checkpoint is lost: the projection starts at the end of the log', async () => {
    const account = await newAccount();
    await account.set();
    await account.scan(3);
    await catchUp();
    const before = await dumpTable(database.sql, 'deliveries');
    await database.sql`DELETE FROM checkpoints WHERE projection = 'webhooks'`;
    expect(await webhooks.checkpoint(database.sql)).toBe(await headOfLog(database.sql));
    expect(await dumpTable(database.sql, 'deliveries')).toEqual(before);
  });

  test('when the checkpoint is set back by hand: a scan can have only one delivery', async () => {
    const account = await newAccount();
    await account.set();
    await account.scan(3);
    const start = await webhooks.checkpoint(database.sql);
    await catchUp();
    await database.sql`UPDATE deliveries SET status = 'delivered' WHERE account = ${account.account}`;
    await database.sql`UPDATE checkpoints SET position = ${start} WHERE projection = 'webhooks'`;
    await catchUp();
    expect((await account.deliveries()).map(({ status }) => status)).toEqual(Array(3).fill('delivered'));
  });
});

test('verify reports a missing delivery, and one that should not exist', async () => {
  const account = await newAccount();
  await account.set();
  await account.scan(2);
  await catchUp();
  const { sql } = database;
  await sql`
    DELETE FROM deliveries WHERE id = (SELECT min(id) FROM deliveries WHERE account = ${account.account})`;
  await sql`
    INSERT INTO deliveries (id, account, webhook, code, scanned_at, country, city, device, is_unique, generation,
      due_at, created_at)
    SELECT 'whd_x', account, webhook, 'qr_other', scanned_at, country, city, device, is_unique, generation, due_at, created_at
    FROM deliveries WHERE account = ${account.account}`;
  const { differences } = await verifyDeliveries(sql, { account: account.account });
  expect(differences).toMatchObject([
    { what: 'webhooks', code: `qr_${account.account}`, found: 'no delivery' },
    { what: 'webhooks', code: 'qr_other', found: '1 deliveries' },
  ]);
});

test('deliveries are deleted 7 days after success and 30 days after failure, and never while pending', async () => {
  const account = await newAccount();
  await account.set();
  await account.scan(5);
  await catchUp();
  const { sql } = database;
  const ids = (await sql<{ id: string }[]>`SELECT id FROM deliveries WHERE account = ${account.account}`).map(
    ({ id }) => id,
  );
  const now = new Date();
  const ages: [string, number | null][] = [
    ['delivered', 6.9],
    ['delivered', 7.1],
    ['failed', 29.9],
    ['failed', 30.1],
    ['pending', null],
  ];
  for (const [i, [status, days]] of ages.entries())
    await sql`
      UPDATE deliveries SET status = ${status},
        finished_at = ${days === null ? null : new Date(now.getTime() - days * day)}
      WHERE id = ${ids[i] as string}`;
  expect(await pruneDeliveries(sql, now)).toBe(2);
  expect((await account.deliveries()).map(({ status }) => status).toSorted()).toEqual([
    'delivered',
    'failed',
    'pending',
  ]);
  expect(await pruneDeliveries(sql, now)).toBe(0);
});
