import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Alert } from '../../events/alert.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { checkLimits } from '../../src/alerts/checks.ts';
import { addMember } from '../../src/people/members.ts';
import { useDatabase } from '../support/database.ts';
import { person } from '../support/people.ts';

const now = new Date('2026-03-01T10:00:00Z');
const database = useDatabase();
let operator: string;
let other: string;

beforeAll(async () => {
  const accountAt = async (time: Date) =>
    (await createAccount(database.sql, { name: 'Test', plan: 'free', now: time })).id;
  operator = await accountAt(new Date(now.getTime() - 1));
  other = await accountAt(now);
});

const alertOf = (account: string): Alert => ({
  id: 'alr_1',
  account,
  mode: 'live',
  kind: 'limit_near',
  name: 'Limits',
  codes: null,
  tags: null,
  percent: 90,
  active: true,
  language: 'en',
  created_at: now,
});

/** Of 1,000 MB, 40 are kept for the system, as `df` counts: 864 of 960 are used. */
const disk = { bsize: 1_000_000, blocks: 1_000, bfree: 136, bavail: 96 };

const findingsOf = async (alert: Alert, statDisk: () => Promise<typeof disk> = async () => disk) => {
  const limits = { testCodes: 1, givenShortCodes: undefined };
  const options = { publicUrl: 'https://qr.example.com', limits, folder: '/var/lib/scanlog', statDisk };
  return (await checkLimits(database.sql, alert, options, now)).findings;
};

test('a disk that is nearly full is reported to the first account, which is that of the operator', async () => {
  expect(await findingsOf(alertOf(operator))).toEqual([
    {
      subject: 'disk',
      code: null,
      domain: null,
      title: 'The disk of this service is nearly full',
      message: expect.stringMatching(/^864 of 960 MB are used on the disk that keeps scans/),
      link: 'https://qr.example.com/console/account',
    },
  ]);
  expect(await findingsOf(alertOf(other)), 'another account').toEqual([]);
});

test('the first account does not learn about the disk if it is a customer’s', async () => {
  const { sql } = database;
  const { id } = await person({ database });
  onTestFinished(async () => {
    await sql`DELETE FROM members`;
    await sql`DELETE FROM users`;
  });
  await sql`UPDATE users SET is_operator = true WHERE id = ${id}`;
  expect(await findingsOf(alertOf(operator))).toEqual([]);
  await addMember(sql, operator, id, 'owner', { actor: 'operator', now });
  expect(await findingsOf(alertOf(operator))).toMatchObject([{ subject: 'disk' }]);
});

test.each<[string, Partial<Alert>]>([
  ['with a higher percentage', { percent: 91 }],
  ['about some codes', { tags: ['menu'] }],
  ['of test mode', { mode: 'test' }],
])('an alert %s does not report it', async (_, fields) => {
  expect(await findingsOf(Object.assign(alertOf(operator), fields))).toEqual([]);
});

test('a process without the folder reports nothing about its disk', async () => {
  const missing = () => Promise.reject(new Error('ENOENT'));
  expect(await findingsOf(alertOf(operator), missing)).toEqual([]);
});
