import { expect, test } from 'vitest';
import { webhooks } from '../../projections/webhooks.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { remove } from '../../src/codes/change.ts';
import { createCodes } from '../../src/codes/create.ts';
import { newId } from '../../src/lib/ids.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { readRange } from '../../src/log/read.ts';
import { set } from '../../src/webhooks/commands.ts';
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
  const deliveries = await sql`SELECT code FROM deliveries`;
  expect(deliveries).toEqual([{ code: kept?.code.id }]);
});
