import { expect, test } from 'vitest';
import { sweep } from '../../src/api/sweep.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();

test('windows and sessions that have ended and answers older than a day are forgotten; the others stay', async () => {
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
    VALUES ('here', 'acct_1', 'key_1', now() + interval '1 hour'), ('left', 'acct_1', 'key_1', now() - interval '1 hour')`;

  await sweep(sql);

  expect((await sql`SELECT subject FROM rate_windows ORDER BY 1`).map(({ subject }) => subject)).toEqual([
    'now',
    'still counting',
  ]);
  expect((await sql`SELECT hash FROM console_sessions`).map(({ hash }) => hash)).toEqual(['here']);
  expect((await sql`SELECT key FROM idempotency_keys`).map(({ key }) => key)).toEqual(['today']);
});
