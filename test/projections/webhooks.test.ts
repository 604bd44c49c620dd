import { describe, expect, test } from 'vitest';
import { isScan } from '../../events/entry.ts';
import type { Plan } from '../../events/plans.ts';
import { Superseded } from '../../projections/checkpoint.ts';
import { notificationIn } from '../../projections/delivery-columns.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { createAccount, setPlan } from '../../src/accounts/accounts.ts';
import { newId } from '../../src/lib/ids.ts';
import { createSecretBox } from '../../src/lib/secret-box.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { headOfLog, readRange } from '../../src/log/read.ts';
import { verifyDeliveries } from '../../src/maintenance/verify-deliveries.ts';
import { bodyOf } from '../../src/webhooks/body.ts';
import { disable, remove, set } from '../../src/webhooks/commands.ts';
import { dueDeliveries } from '../../src/webhooks/deliveries.ts';
import { dropStopped, pruneDeliveries } from '../../src/webhooks/upkeep.ts';
import { useDatabase } from '../support/database.ts';
import { scanned } from '../support/scans.ts';
import { dumpTable } from '../support/tables.ts';

const database = useDatabase();
const box = createSecretBox('x'.repeat(32));
const by = () => ({ actor: 'operator', now: new Date() });
const day = 24 * 60 * 60 * 1000;

/** Creates an account, with functions that change it and read its deliveries. */
async function newAccount(plan: Plan = 'enterprise') {
  const { sql } = database;
  const { id: account } = await createAccount(sql, { name: 'Test', plan, now: new Date() });
  const owner = { account, mode: 'live' as const };
  return {
    account,
    set: (url = 'https://example.com/a') => set(sql, box, owner, url, by()),
    remove: () => remove(sql, owner, by()),
    disable: () => disable(sql, owner, { reason: 'gone', attemptedAt: new Date(), now: new Date() }),
    plan: (to: Plan) => setPlan(sql, account, to, new Date()),
    scan: (count: number, mode: 'live' | 'test' = 'live') => {
      const scans = Array.from({ length: count }, () => scanned({ account, mode, code: `qr_${account}` }));
      return appendScans(sql, batchOf(newId('batch', Date.now()), 1, scans));
    },
    deliveries: () => sql<{ status: string; generation: number; error: string | null }[]>`
      SELECT status, generation, error FROM webhook_deliveries WHERE account = ${account} ORDER BY id`,
    endpoint: async () => (await sql`SELECT * FROM webhook_endpoints WHERE account = ${account}`)[0],
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
            SELECT status, deliveries FROM webhook_delivery_counts WHERE account = ${account.account}`
        ).map(({ status, deliveries }) => [status, deliveries]),
      );
    expect(await counts()).toEqual({ pending: 5 });
    await account.remove();
    await catchUp();
    await dropAll();
    expect(await counts()).toEqual({ pending: 0, failed: 5 });
    await database.sql`DELETE FROM webhook_deliveries WHERE account = ${account.account}`;
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
    const endpoint = { account: account.account, mode: 'live' as const, generation: 0 };
    const read = () => dueDeliveries(sql, endpoint, { now: new Date(), limit: 10 });
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
    const sent = theirs.map((row) => ({ id: row.id, body: bodyOf(notificationIn(row)) }));
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
    const before = await dumpTable(database.sql, 'webhook_deliveries');
    await database.sql`DELETE FROM checkpoints WHERE projection = 'webhooks'`;
    expect(await webhooks.checkpoint(database.sql)).toBe(await headOfLog(database.sql));
    expect(await dumpTable(database.sql, 'webhook_deliveries')).toEqual(before);
  });

  test('when the checkpoint is set back by hand: a scan can have only one delivery', async () => {
    const account = await newAccount();
    await account.set();
    await account.scan(3);
    const start = await webhooks.checkpoint(database.sql);
    await catchUp();
    await database.sql`UPDATE webhook_deliveries SET status = 'delivered' WHERE account = ${account.account}`;
    await database.sql`UPDATE checkpoints SET position = ${start} WHERE projection = 'webhooks'`;
    await catchUp();
    expect((await account.deliveries()).map(({ status }) => status)).toEqual(Array(3).fill('delivered'));
  });
});

describe('when the log has lost scans that were delivered', () => {
  test('their deliveries are removed, those of other scans are unchanged, and missing ones are created', async () => {
    const { sql } = database;
    const account = await newAccount();
    await account.set();
    await account.scan(2);
    await catchUp();
    const agreed = await headOfLog(sql);
    await account.scan(3);
    await catchUp();
    await sql`UPDATE webhook_deliveries SET status = 'delivered' WHERE account = ${account.account}`;
    const { entries } = await readRange(sql, agreed, 100);
    const owner = { account: account.account, mode: 'live' as const };
    const lost = { id: newId('scan', Date.now()), code: `qr_${account.account}`, owner };
    await sql`
      UPDATE webhook_deliveries SET id = ${`whd_${lost.id.slice('scan_'.length)}`}
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

test('verify reports a missing delivery, and one that should not exist', async () => {
  const account = await newAccount();
  await account.set();
  await account.scan(2);
  await catchUp();
  const { sql } = database;
  await sql`
    DELETE FROM webhook_deliveries WHERE id = (SELECT min(id) FROM webhook_deliveries WHERE account = ${account.account})`;
  await sql`
    INSERT INTO webhook_deliveries (id, account, mode, code, scanned_at, country, city, device, is_unique, generation,
      due_at, created_at)
    SELECT 'whd_x', account, mode, 'qr_other', scanned_at, country, city, device, is_unique, generation, due_at, created_at
    FROM webhook_deliveries WHERE account = ${account.account}`;
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
  const ids = (await sql<{ id: string }[]>`SELECT id FROM webhook_deliveries WHERE account = ${account.account}`).map(
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
      UPDATE webhook_deliveries SET status = ${status},
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
