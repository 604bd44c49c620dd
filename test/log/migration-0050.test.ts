import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../src/log/migrate.ts';
import { createDatabase } from '../support/database.ts';

test('recipients of alerts get links to unsubscribe, and those of reports keep theirs', async () => {
  const { sql, drop } = await createDatabase('template0');
  onTestFinished(drop);
  await migrate(sql, { upTo: '0050' });
  await sql`
    INSERT INTO report_recipients VALUES
      ('token', 'rpt_1', 'acct_1', 'ada@example.com', 0, NULL), ('other', 'rpt_1', 'acct_1', 'eve@example.com', NULL, now())`;
  await sql`
    INSERT INTO alert_recipients VALUES
      ('alr_1', 'acct_1', ARRAY['grace@example.com', 'Ada@example.com']), ('alr_2', 'acct_1', '{}')`;
  await migrate(sql);
  const rows = await sql<{ subject: string; email: string; number: number | null; token: string }[]>`
    SELECT subject, email, number, token, unsubscribed_at IS NOT NULL AS gone FROM mail_recipients ORDER BY subject, number`;
  expect(rows).toMatchObject([
    { subject: 'alr_1', email: 'grace@example.com', number: 0, gone: false },
    { subject: 'alr_1', email: 'Ada@example.com', number: 1, gone: false },
    { subject: 'rpt_1', email: 'ada@example.com', number: 0, token: 'token', gone: false },
    { subject: 'rpt_1', email: 'eve@example.com', number: null, token: 'other', gone: true },
  ]);
  const [first, second] = rows;
  expect(first?.token).toMatch(/^[0-9a-f]{52}$/);
  expect(second?.token).not.toBe(first?.token);
});
