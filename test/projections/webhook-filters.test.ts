import { describe, expect, test } from 'vitest';
import type { WebhookSettings } from '../../events/webhooks/webhook.ts';
import { webhookEventTypes } from '../../events/webhooks/webhook-events.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { createAccount, setPlan } from '../../src/accounts/accounts.ts';
import { change as changeCode, remove as removeCode } from '../../src/codes/change.ts';
import { createCodes } from '../../src/codes/create.ts';
import { newId } from '../../src/lib/ids.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { headOfLog, readRange } from '../../src/log/read.ts';
import { verifyDeliveries } from '../../src/maintenance/verify-deliveries.ts';
import { change, create, remove } from '../../src/webhooks/commands.ts';
import { dropStopped } from '../../src/webhooks/upkeep.ts';
import { useDatabase } from '../support/database.ts';
import { scanned } from '../support/scans.ts';
import { testBox } from '../support/secret-box.ts';

const database = useDatabase();
const by = () => ({ actor: 'operator', now: new Date() });

/** An account with two codes, one of them tagged, and functions that change it and read its deliveries. */
async function newAccount() {
  const { sql } = database;
  const { id: account } = await createAccount(sql, { name: 'Test', plan: 'enterprise', now: new Date() });
  const owner = { account, mode: 'live' as const };
  const requests = [undefined, ['summer']].map((tags) => ({
    name: 'Menu',
    destination_url: 'https://example.com',
    ...(tags === undefined ? {} : { optional: { tags } }),
  }));
  const codes = (await sql.begin((tx) => createCodes(tx, testBox, owner, requests, by()))).map(({ code }) => code.id);
  const [plain = '', tagged = ''] = codes;
  const defaults = { events: [...webhookEventTypes], qr_ids: null, tags: null, description: '', active: true };
  return {
    owner,
    account,
    plain,
    tagged,
    add: (settings: Partial<WebhookSettings> = {}) =>
      create(sql, testBox, owner, { url: 'https://example.com/a', ...defaults, ...settings }, by()),
    set: (id: string, settings: Partial<WebhookSettings>) => change(sql, owner, id, settings, by()),
    remove: (id: string) => remove(sql, owner, id, by()),
    tag: (code: string, tags: string[] | null) => changeCode(sql, owner, code, { tags }, by()),
    rename: (code: string, name: string) => changeCode(sql, owner, code, { name }, by()),
    pause: (code: string, active: boolean) => changeCode(sql, owner, code, { active }, by()),
    delete: (code: string) => removeCode(sql, owner, code, by()),
    scan: (code: string, count = 1) => {
      const scans = Array.from({ length: count }, () => scanned({ ...owner, code }));
      return appendScans(sql, batchOf(newId('batch', Date.now()), 1, scans));
    },
    /** The types of the webhook's deliveries, in the order of the log. */
    typesOf: async (id: string) =>
      (
        await sql<{ type: string }[]>`
          SELECT d.type FROM deliveries d
          LEFT JOIN events e ON 'whd_' || substr(e.id, 5) = d.id LEFT JOIN scans s ON 'whd_' || substr(s.id, 6) = d.id
          WHERE d.account = ${account} AND d.webhook = ${id} ORDER BY coalesce(e.position, s.position)`
      ).map(({ type }) => type),
    statusesOf: async (id: string) =>
      (
        await sql<{ status: string; error: string | null }[]>`
          SELECT status, error FROM deliveries WHERE account = ${account} AND webhook = ${id} ORDER BY id`
      ).map(({ status, error }) => error ?? status),
    differences: async () => (await verifyDeliveries(sql, { account })).differences,
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

describe.each([1, 1_000])('in ranges of %i entries', (maxEntries) => {
  test('each webhook gets what its filter lets through', async () => {
    const account = await newAccount();
    const { plain, tagged } = account;
    const all = await account.add();
    const scans = await account.add({ events: ['scan.created'] });
    const ofCode = await account.add({ qr_ids: [plain], events: ['scan.created', 'code.paused'] });
    const ofTag = await account.add({ tags: ['summer', 'winter'] });
    const paused = await account.add({ active: false });
    await account.scan(plain);
    await account.scan(tagged, 2);
    await account.rename(tagged, 'Speisekarte');
    await account.pause(plain, false);
    await account.delete(plain);
    await catchUp(maxEntries);
    const three = ['scan.created', 'scan.created', 'scan.created'];
    expect(await account.typesOf(all)).toEqual([...three, 'code.updated', 'code.paused', 'code.deleted']);
    expect(await account.typesOf(scans)).toEqual(three);
    expect(await account.typesOf(ofCode)).toEqual(['scan.created', 'code.paused']);
    expect(await account.typesOf(ofTag)).toEqual(['scan.created', 'scan.created', 'code.updated']);
    expect(await account.typesOf(paused)).toEqual([]);
    expect(await account.differences()).toEqual([]);
  });

  test('tags are those after the event, however late the projection applies it', async () => {
    const account = await newAccount();
    const ofTag = await account.add({ tags: ['summer'] });
    const { plain, tagged } = account;
    await account.scan(plain);
    await account.tag(plain, ['summer', 'x']);
    await account.scan(plain);
    await account.tag(tagged, ['winter']);
    await account.scan(tagged);
    await account.tag(plain, null);
    await account.scan(plain);
    await account.tag(tagged, ['summer']);
    await account.tag(plain, ['summer']);
    await catchUp(maxEntries);
    expect(await account.typesOf(ofTag)).toEqual(['code.updated', 'scan.created', 'code.updated', 'code.updated']);
    expect(await account.differences()).toEqual([]);
  });

  test('a changed filter, a pause and a removal apply from their position on', async () => {
    const account = await newAccount();
    const { plain } = account;
    const id = await account.add({ events: ['scan.created'] });
    await account.scan(plain, 2);
    await account.set(id, { events: ['code.updated'] });
    await account.scan(plain);
    await account.rename(plain, 'New');
    await account.set(id, { active: false, url: 'https://example.com/b' });
    await account.rename(plain, 'Newer');
    await account.set(id, { active: true });
    await account.rename(plain, 'Newest');
    await setPlan(database.sql, account.account, 'free', new Date());
    await account.rename(plain, 'Newest of all');
    await setPlan(database.sql, account.account, 'pro', new Date());
    await catchUp(maxEntries);
    expect(await account.typesOf(id)).toEqual(['scan.created', 'scan.created', 'code.updated', 'code.updated']);
    expect(await account.differences()).toEqual([]);
    await account.remove(id);
    await catchUp(maxEntries);
    while ((await dropStopped(database.sql, new Date())) !== undefined);
    expect(new Set(await account.statusesOf(id)).size, 'all have failed with a reason').toBe(1);
    const rows = await database.sql`SELECT FROM endpoints WHERE account = ${account.account}`;
    expect(rows, 'the endpoint of a removed webhook is gone').toHaveLength(0);
    expect(await account.differences()).toEqual([]);
  });
});

test('deliveries of entries that the log has lost are removed from every webhook', async () => {
  const { sql } = database;
  const account = await newAccount();
  const id = await account.add();
  await catchUp();
  const agreed = await headOfLog(sql);
  await account.rename(account.plain, 'Lost');
  await catchUp();
  const lost = { id: newId('evt', Date.now()), code: account.plain, owner: undefined };
  await sql`UPDATE deliveries SET id = ${`whd_${lost.id.slice(4)}`} WHERE account = ${account.account}`;
  expect(await account.differences()).toHaveLength(2);
  await sql.begin((tx) => webhooks.rewind(tx, agreed, [lost]));
  await catchUp();
  expect(await account.typesOf(id)).toEqual(['code.updated']);
  expect(await account.differences()).toEqual([]);
});
