import { expect, test } from 'vitest';
import { sweep } from '../../src/api/sweep.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();

test('windows that have ended and answers older than a day are forgotten; the others stay', async () => {
  const { sql } = database;
  await sql`
    INSERT INTO rate_windows (subject, started_at, used)
    VALUES ('now', now(), 1), ('still counting', now() - interval '59 seconds', 1), ('over', now() - interval '3 minutes', 1)`;
  await sql`
    INSERT INTO idempotency_keys (account, mode, key, request_hash, created_at)
    VALUES ('acct_1', 'live', 'today', 'x', now() - interval '23 hours'),
      ('acct_1', 'live', 'yesterday', 'x', now() - interval '25 hours')`;

  await sweep(sql);

  expect((await sql`SELECT subject FROM rate_windows ORDER BY 1`).map(({ subject }) => subject)).toEqual([
    'now',
    'still counting',
  ]);
  expect((await sql`SELECT key FROM idempotency_keys`).map(({ key }) => key)).toEqual(['today']);
});
