import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../src/log/migrate.ts';
import { createDatabase } from '../support/database.ts';

test('hosts blocked by earlier versions become canonical, and sessions end 90 days after their sign-in', async () => {
  const { sql, drop } = await createDatabase('template0');
  onTestFinished(drop);
  await migrate(sql, { upTo: '0030' });
  await sql`
    INSERT INTO blocked_hosts VALUES ('evil.example', '2026-01-02'), ('evil.example.', '2026-01-01'), ('[2001:db8::1]', '2026-01-01'),
      ('[::ffff:c633:6407]', '2026-01-01'), ('[64:ff9b::c633:6408]', '2026-01-01'), ('other.example', '2026-01-01')`;
  await sql`
    INSERT INTO console_sessions (hash, account, live_key, is_own_device, created_at, ends_at) VALUES
      ('old', 'acct_1', 'key_1', true, '2026-01-01', '2026-05-01'), ('new', 'acct_1', 'key_1', true, '2026-01-01', '2026-02-01')`;
  await migrate(sql);
  expect(await sql`SELECT host, blocked_at::date::text AS day FROM blocked_hosts ORDER BY host`).toEqual([
    { host: '198.51.100.7', day: '2026-01-01' },
    { host: '198.51.100.8', day: '2026-01-01' },
    { host: '[2001:db8::1]', day: '2026-01-01' },
    { host: 'evil.example', day: '2026-01-01' },
    { host: 'other.example', day: '2026-01-01' },
  ]);
  expect(
    await sql`SELECT hash, ends_at::date::text AS ends, proven_at = created_at AS proven FROM console_sessions ORDER BY hash`,
  ).toEqual([
    { hash: 'new', ends: '2026-02-01', proven: true },
    { hash: 'old', ends: '2026-04-01', proven: true },
  ]);
});
