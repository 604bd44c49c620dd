import { expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { sweep } from '../../src/maintenance/sweep.ts';
import { useDatabase } from '../support/database.ts';
import { scanned } from '../support/scans.ts';

const database = useDatabase();

test('deletes ended windows, old sessions, expired links, and responses older than a day, and keeps the others', async () => {
  const { sql } = database;
  await sql`
    INSERT INTO rate_windows (subject, started_at, used)
    VALUES ('now', now(), 1), ('still counting', now() - interval '59 seconds', 1), ('over', now() - interval '3 minutes', 1)`;
  await sql`
    INSERT INTO idempotency_keys (account, mode, key, request_hash, created_at)
    VALUES ('acct_1', 'live', 'today', 'x', now() - interval '23 hours'),
      ('acct_1', 'live', 'yesterday', 'x', now() - interval '25 hours')`;

  await sql`
    INSERT INTO console_sessions (hash, account, live_key, ends_at)
    VALUES ('here', 'acct_1', 'key_1', now() + interval '1 hour'), ('ended', 'acct_1', 'key_1', now() - interval '29 days'),
      ('forgotten', 'acct_1', 'key_1', now() - interval '31 days')`;
  await sql`
    INSERT INTO console_sign_in_links (hash, account, session, expires_at)
    VALUES ('valid', 'acct_1', 'here', now() + interval '1 minute'), ('expired', 'acct_1', 'ended', now() - interval '1 minute')`;

  await sweep(sql);

  expect((await sql`SELECT subject FROM rate_windows ORDER BY 1`).map(({ subject }) => subject)).toEqual([
    'now',
    'still counting',
  ]);
  expect((await sql`SELECT hash FROM console_sessions ORDER BY 1`).map(({ hash }) => hash)).toEqual(['ended', 'here']);
  expect((await sql`SELECT hash FROM console_sign_in_links`).map(({ hash }) => hash)).toEqual(['valid']);
  expect((await sql`SELECT key FROM idempotency_keys`).map(({ key }) => key)).toEqual(['today']);
});

test('keeps a scan writer for 400 days, in which a repeated batch changes nothing', async () => {
  const { sql } = database;
  const batch = batchOf(newId('batch', Date.now()), 1, [scanned(), scanned()]);
  await appendScans(sql, batch);
  await sql`UPDATE scan_writers SET written_at = now() - interval '399 days' WHERE writer = ${batch.writer}`;
  await sql`INSERT INTO scan_writers VALUES ('expired', 7, now() - interval '401 days')`;

  await sweep(sql);
  await appendScans(sql, batch);

  expect((await sql`SELECT writer FROM scan_writers`).map(({ writer }) => writer)).toEqual([batch.writer]);
  expect(await sql`SELECT FROM scans`).toHaveLength(2);
});
