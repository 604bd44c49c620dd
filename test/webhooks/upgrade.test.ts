import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WebhookEvent } from '../../events/webhooks/webhook.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { append } from '../../src/log/append.ts';
import { migrate } from '../../src/log/migrate.ts';
import { headOfLog } from '../../src/log/read.ts';
import { findWebhooks } from '../../src/webhooks/commands.ts';
import { dueDeliveries } from '../../src/webhooks/deliveries.ts';
import { Leases } from '../../src/webhooks/leases.ts';
import { createDatabase } from '../support/database.ts';
import { testBox } from '../support/secret-box.ts';

/** The database of the version before migration 0032, and statements of that version, which go on beside this one. */

let database: Awaited<ReturnType<typeof createDatabase>>;
let sql: Sql;
let account: string;
const now = new Date();
const sealed = (mode: string) => testBox.seal(`whsec_${mode}`, { account, webhook: mode });
const settings = { url: 'https://example.com/b', description: '', events: ['scan.created'], qr_ids: null, tags: null };
const scan = { code: 'qr_1', country: 'DE', city: 'Berlin', device: 'ios', is_unique: true };

beforeEach(async () => {
  database = await createDatabase('template0');
  sql = database.sql;
  await migrate(sql, { upTo: '0032' });
  await openAccount();
  const events: WebhookEvent[] = [
    { type: 'webhook_set', data: { mode: 'live', url: 'https://example.com/a' } },
    { type: 'webhook_created', data: { webhook: 'wh_1', mode: 'live', active: true, ...settings } },
  ];
  const [{ version }] = await sql<[{ version: number }]>`SELECT version FROM accounts WHERE id = ${account}`;
  const appended = events.map((event, i) => ({ stream: account, version: version + 1 + i, event }));
  await sql.begin((tx) => append(tx, appended, { actor: 'operator', now }));
  await setWebhook('https://example.com/a');
  const times = { since: now, created_at: now, updated_at: now };
  const subscription = { id: 'wh_1', account, mode: 'live', ...settings, status: 'enabled', reason: null, ...times };
  await sql`
    INSERT INTO webhook_subscriptions
    SELECT * FROM jsonb_populate_recordset(NULL::webhook_subscriptions, ${sql.json([JSON.parse(JSON.stringify(subscription))])})`;
  for (const mode of ['live', 'wh_1'])
    await sql`INSERT INTO webhook_secrets (account, mode, current) VALUES (${account}, ${mode}, ${sealed(mode)})`;
  const filter = { mode: 'live', events: ['scan.created'], qr_ids: null, tags: null };
  await saveEndpoint('live', null);
  await saveEndpoint('wh_1', filter);
  await sql`UPDATE webhook_endpoints SET due_at = ${now}, replaying = true`;
  await insertDelivery('whd_1', 'live', 0);
  await insertDelivery('whd_2', 'live', -1);
  await insertDelivery('whd_3', 'wh_1', 0);
  await sql`UPDATE checkpoints SET position = ${await headOfLog(sql)} WHERE projection = 'webhooks'`;
  await rewind((await headOfLog(sql)) - 1);

  await migrate(sql);
});
afterEach(() => database.drop());

/** As the version before stores a new account. */
async function openAccount(): Promise<void> {
  account = newId('acct', now.getTime());
  const event = { type: 'account_created' as const, data: { name: 'Test', plan: 'pro' as const } };
  await sql.begin((tx) => append(tx, [{ stream: account, version: 1, event }], { actor: 'operator', now }));
  await sql`INSERT INTO accounts (id, name, plan, created_at, version) VALUES (${account}, 'Test', 'pro', ${now}, 1)`;
}

async function setWebhook(url: string): Promise<void> {
  const row = { account, mode: 'live', url, status: 'enabled', reason: null, since: now, created_at: now };
  await sql`DELETE FROM webhooks WHERE account = ${account} AND mode = 'live'`;
  await sql`
    INSERT INTO webhooks
    SELECT * FROM jsonb_populate_record(NULL::webhooks, ${sql.json(JSON.parse(JSON.stringify(row)))})`;
}

const saveEndpoint = (mode: string, filter: object | null) => sql`
  INSERT INTO webhook_endpoints (account, mode, is_set, is_paid, generation, stopped_by, dropping, filter)
  SELECT account, mode, is_set, is_paid, generation, stopped_by, dropping, filter
  FROM jsonb_populate_recordset(NULL::webhook_endpoints, ${sql.json([
    JSON.parse(JSON.stringify({ account, mode, is_set: true, is_paid: true, generation: 0, dropping: false, filter })),
  ])})
  ORDER BY account, mode
  ON CONFLICT (account, mode) DO UPDATE SET
    is_set = excluded.is_set, is_paid = excluded.is_paid, generation = excluded.generation,
    stopped_by = excluded.stopped_by, dropping = excluded.dropping, filter = excluded.filter, failing_since = NULL`;

const insertDelivery = (id: string, mode: string, generation: number) => sql`
  INSERT INTO webhook_deliveries (id, account, mode, type, code, scanned_at, country, city, device, is_unique, generation,
    replay, due_at, created_at)
  VALUES (${id}, ${account}, ${mode}, 'scan.created', ${scan.code}, ${now}, ${scan.country}, ${scan.city}, ${scan.device},
    ${scan.is_unique}, ${generation}, NULL, ${now}, ${now})
  ON CONFLICT DO NOTHING`;

const rewind = (to: number) => sql`
  UPDATE checkpoints SET position = greatest(CASE WHEN position < 0 THEN position ELSE -1 - position END, ${-1 - to})
  WHERE projection = 'webhooks'`;

async function idsOf(webhook: string, replayed: boolean): Promise<string[]> {
  const query = { now: new Date(), limit: 10, maxBytes: 1_000_000, replayed };
  const { due } = await dueDeliveries(sql, { account, webhook, generation: 0 }, query);
  return due.map(({ id }) => id);
}
const found = () => findWebhooks(sql, testBox, { account, mode: 'live' }, { now });

test('the migration keeps webhooks, secrets, deliveries and the checkpoint', async () => {
  const common = { account, mode: 'live', status: 'enabled', created_at: now, updated_at: now, failing_since: null };
  expect(await found()).toMatchObject([
    { ...common, webhook: 'live', body: 'contract', url: 'https://example.com/a', secret: 'whsec_live' },
    { ...common, webhook: 'wh_1', body: 'event', url: 'https://example.com/b', secret: 'whsec_wh_1' },
  ]);

  expect(await idsOf('live', false)).toEqual(['whd_1']);
  expect(await idsOf('live', true)).toEqual(['whd_2']);
  expect(await idsOf('wh_1', false)).toEqual(['whd_3']);

  const head = await headOfLog(sql);
  expect(await webhooks.checkpoint(sql)).toBe(head - 1);
  await sql`UPDATE checkpoints SET position = ${head} WHERE projection = 'webhooks'`;
  await rewind(head);
  expect(await webhooks.checkpoint(sql), 'by an instance of the version before').toBe(head);
  const rows = await sql`SELECT webhook, is_set, filter ->> 'body' AS body FROM endpoints ORDER BY webhook`;
  expect(rows).toEqual([
    { webhook: 'live', is_set: true, body: 'contract' },
    { webhook: 'wh_1', is_set: true, body: 'event' },
  ]);
});

test('an instance of the version before sets webhooks and endpoints after the migration', async () => {
  await setWebhook('https://example.com/c');
  expect((await found())[0]).toMatchObject({
    webhook: 'live',
    body: 'contract',
    url: 'https://example.com/c',
    description: '',
  });
  const theirs = await sql`SELECT url FROM webhooks UNION ALL SELECT url FROM webhook_subscriptions`;
  expect(theirs).toEqual([{ url: 'https://example.com/c' }, { url: 'https://example.com/b' }]);

  await saveEndpoint('live', null);
  await saveEndpoint('test', null);
  const rows =
    await sql`SELECT filter ->> 'mode' AS mode, filter ->> 'body' AS body FROM endpoints WHERE webhook <> 'wh_1'`;
  expect(rows.toSorted((a, b) => a['mode'].localeCompare(b['mode']))).toEqual([
    { mode: 'live', body: 'contract' },
    { mode: 'test', body: 'contract' },
  ]);
});

test('an instance of the version before sends beside this one: one worker has the lease, and both store outcomes', async () => {
  await insertDelivery('whd_4', 'live', -1);
  expect(await idsOf('live', true)).toEqual(['whd_2', 'whd_4']);
  const lease = 'theirs';
  const claimed = await sql`
      UPDATE webhook_endpoints AS e SET lease = ${lease}, lease_until = now() + interval '1 hour'
      FROM (
        SELECT account, mode FROM webhook_endpoints
        WHERE is_set AND is_paid AND (lease IS NULL OR lease_until < now()) ORDER BY due_at LIMIT 2 FOR UPDATE SKIP LOCKED
      ) AS free
      WHERE e.account = free.account AND e.mode = free.mode RETURNING e.mode`;
  expect(claimed.map(({ mode }) => mode).toSorted()).toEqual(['live', 'wh_1']);
  const ours = new Leases(sql, 'ours', 1_000);
  expect((await ours.claim(new Date(), 10)).claimed).toEqual([]);

  const results = ['whd_1', 'whd_2'].map((id) => ({
    account,
    mode: 'live',
    id,
    status: 'delivered',
    attempt: { error: null },
  }));
  await sql`
      WITH given AS MATERIALIZED (
        SELECT * FROM jsonb_to_recordset(${sql.json(results)}) AS r (account text, mode text, id text, status text, attempt jsonb)
      ),
      held AS MATERIALIZED (
        SELECT account, mode FROM webhook_endpoints
        WHERE lease = ${lease} AND (account, mode) IN (SELECT account, mode FROM given) ORDER BY account, mode FOR UPDATE
      )
      UPDATE webhook_deliveries d SET
        status = g.status, tries = d.tries + 1, attempts = d.attempts || g.attempt, finished_at = now(),
        generation = CASE WHEN d.generation < 0 THEN -1 - d.generation ELSE d.generation END
      FROM given g JOIN held USING (account, mode) WHERE d.account = g.account AND d.mode = g.mode AND d.id = g.id`;
  await sql`UPDATE webhook_endpoints SET lease = NULL, lease_until = NULL, due_at = ${now} WHERE lease = ${lease}`;
  expect((await ours.claim(new Date(), 10)).claimed.map(({ webhook }) => webhook).toSorted()).toEqual(['live', 'wh_1']);
  expect([await idsOf('live', false), await idsOf('live', true)]).toEqual([[], ['whd_4']]);
  expect(await sql`SELECT webhook, status, deliveries FROM delivery_counts ORDER BY webhook, status`).toEqual([
    { webhook: 'live', status: 'delivered', deliveries: 2 },
    { webhook: 'live', status: 'pending', deliveries: 1 },
    { webhook: 'wh_1', status: 'pending', deliveries: 1 },
  ]);
});
