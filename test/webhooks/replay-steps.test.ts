import { expect, test } from 'vitest';
import { webhooks } from '../../projections/webhooks.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { remove } from '../../src/codes/change.ts';
import { createCodes } from '../../src/codes/create.ts';
import { newId } from '../../src/lib/ids.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { readRange } from '../../src/log/read.ts';
import { create, set } from '../../src/webhooks/commands.ts';
import { replayNext } from '../../src/webhooks/replay-steps.ts';
import { startReplay } from '../../src/webhooks/replays.ts';
import { useDatabase } from '../support/database.ts';
import { scanned } from '../support/scans.ts';
import { testBox } from '../support/secret-box.ts';

const database = useDatabase();

async function catchUp(): Promise<void> {
  const { sql } = database;
  for (let position = await webhooks.checkpoint(sql); ; ) {
    const range = await readRange(sql, position, 1_000);
    if (range.to === position) return;
    await webhooks.apply(sql, range, new Date());
    position = range.to;
  }
}

test('a replay leaves out scans of deleted codes, as the feed does', async () => {
  const { sql } = database;
  const by = { actor: 'operator', now: new Date() };
  const { id: account } = await createAccount(sql, { name: 'Test', plan: 'enterprise', now: by.now });
  const owner = { account, mode: 'live' as const };
  const requests = ['Kept', 'Deleted'].map((name) => ({ name, destination_url: 'https://example.com' }));
  const [kept, deleted] = await sql.begin((tx) => createCodes(tx, testBox, owner, requests, by));
  const scans = [kept, deleted].map((created) =>
    scanned({ code: created?.code.id ?? '', ...owner, occurred_at: new Date() }),
  );
  await appendScans(sql, batchOf(newId('batch', Date.now()), 1, scans));
  await remove(sql, owner, deleted?.code.id ?? '', by);
  await set(sql, testBox, owner, 'https://example.com/hook', { ...by, now: new Date() });
  await catchUp();
  const hour = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 1_000) };
  const { id } = await startReplay(sql, { account, webhook: 'live' }, { ...hour, choice: 'missing' }, new Date());
  await replayNext(sql, id, new Date());
  const [replay] = await sql`SELECT total, selected FROM endpoint_replays WHERE id = ${id}`;
  expect(replay).toMatchObject({ total: 1, selected: 1 });
  const deliveries = await sql`SELECT code FROM deliveries WHERE account = ${account}`;
  expect(deliveries).toEqual([{ code: kept?.code.id }]);
});

test('a step takes no more of long changes than fit in memory', async () => {
  const { sql } = database;
  const by = { actor: 'operator', now: new Date() };
  const { id: account } = await createAccount(sql, { name: 'Test', plan: 'enterprise', now: by.now });
  const owner = { account, mode: 'live' as const };
  const settings = {
    url: 'https://example.com/hook',
    description: '',
    active: true,
    events: ['code.updated' as const],
    qr_ids: null,
    tags: null,
  };
  const webhook = await create(sql, testBox, owner, settings, by);
  const request = { name: 'Changed', destination_url: 'https://example.com' };
  const [created] = await sql.begin((tx) => createCodes(tx, testBox, owner, [request], by));
  const id = created?.code.id ?? '';
  const changes = 30;
  await sql`
    INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
    SELECT nextval('log_position'), 'evt_' || version, ${id}, version, 'code_renamed', 1,
      jsonb_build_object('from', 'Changed', 'to', repeat('x', 400000)), 'operator', now()
    FROM generate_series(2, ${changes + 1}::integer) AS version`;
  await catchUp();
  await sql`DELETE FROM deliveries WHERE account = ${account}`;
  const hour = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 1_000) };
  const replay = await startReplay(sql, { account, webhook }, { ...hour, choice: 'all' }, new Date());
  const selected: number[] = [];
  for (let sum = 0; sum < changes; ) {
    await replayNext(sql, replay.id, new Date());
    const [row] = await sql<[{ selected: number }]>`SELECT selected FROM endpoint_replays WHERE id = ${replay.id}`;
    expect(row.selected, 'each step selects some').toBeGreaterThan(sum);
    selected.push(row.selected - sum);
    sum = row.selected;
  }
  expect(Math.max(...selected)).toBeLessThan(15);
  const [{ count }] = await sql<[{ count: number }]>`SELECT count(*) FROM deliveries WHERE account = ${account}`;
  expect(count).toBe(changes);
});
