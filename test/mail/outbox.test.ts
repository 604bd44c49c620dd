import { expect, test } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { maxPerHour, maxToOneAddress, maxWaiting, type NewMail, Outbox, takeDue } from '../../src/mail/outbox.ts';
import { afterAttempt, forgetOld, maxAgeMs, record } from '../../src/mail/outcomes.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();
const start = new Date('2026-11-16T06:00:00Z');
const later = (ms: number) => new Date(start.getTime() + ms);
const outbox = new Outbox(() => start);

const mailTo = (to: string, more: Partial<NewMail> = {}): NewMail => ({
  key: `test/${to}`,
  account: null,
  to,
  subject: 'Scans of last week',
  text: 'Text',
  html: '<p>Text</p>',
  ...more,
});

const take = (limit: number, now = start) => takeDue(database.sql, now, { limit, leaseMs: 60_000 });
const clear = () => database.sql`DELETE FROM mails`;

async function newAccount(): Promise<string> {
  return (await createAccount(database.sql, { name: 'Test', plan: 'free', now: start })).id;
}

test('one cause is one mail, whoever queues it and however often', async () => {
  const mail = mailTo('ada@example.com', {
    attachments: [{ name: 'a.bin', type: 'application/octet-stream', content: new Uint8Array([0, 255, 10]) }],
    headers: { 'List-Unsubscribe': '<https://example.com>' },
  });
  const queued = await Promise.all(Array.from({ length: 8 }, () => outbox.enqueue(database.sql, mail)));
  expect(queued.sort()).toEqual([...Array(7).fill('duplicate'), 'queued']);
  const [due, ...others] = await take(10);
  expect(others).toEqual([]);
  expect(due).toMatchObject({ recipient: 'ada@example.com', headers: mail.headers, attempts: 1 });
  expect(due?.attachments.map(({ name, content }) => [name, [...content]])).toEqual([['a.bin', [0, 255, 10]]]);
  await record(database.sql, due as NonNullable<typeof due>, { kind: 'sent' }, later(1));
  expect(await outbox.enqueue(database.sql, mail)).toBe('duplicate');
  const [row] = await database.sql`
    SELECT status, plain_text, html, (SELECT count(*) FROM mail_attachments) AS attachments FROM mails`;
  expect(row).toMatchObject({ status: 'sent', plain_text: null, html: null, attachments: 0 });
  await clear();
});

test('a mail of a transaction that is rolled back is never sent', async () => {
  const undone = database.sql.begin(async (tx) => {
    await outbox.enqueue(tx, mailTo('undone@example.com'));
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await take(10)).toEqual([]);
});

test('processes that take mails at the same time never take the same one, until the lease ends', async () => {
  for (let i = 0; i < 20; i++) await outbox.enqueue(database.sql, mailTo(`r${i}@example.com`));
  const taken = (await Promise.all(Array.from({ length: 10 }, () => take(4)))).flat();
  const rest = await take(100);
  const ids = [...taken, ...rest].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBe(20);
  expect(await take(100, later(59_000))).toEqual([]);
  expect((await take(100, later(60_000))).length).toBe(20);
  await clear();
});

test('accounts take turns, and a suspended one has none', async () => {
  const [many, few, suspended] = [await newAccount(), await newAccount(), await newAccount()];
  for (let i = 0; i < 10; i++) await outbox.enqueue(database.sql, mailTo(`m${i}@example.com`, { account: many }));
  await outbox.enqueue(database.sql, mailTo('few@example.com', { account: few }));
  await outbox.enqueue(database.sql, mailTo('suspended@example.com', { account: suspended }));
  await database.sql`UPDATE accounts SET suspended_at = now(), suspended_reason = 'spam' WHERE id = ${suspended}`;
  const recipients = (await take(3)).map(({ recipient }) => recipient);
  expect(recipients).toContain('few@example.com');
  expect((await take(100)).map(({ recipient }) => recipient)).not.toContain('suspended@example.com');
  await clear();
});

/** Rows as sent or waiting mails have them. */
const fill = (sql: Sql, account: string, status: 'sent' | 'refused' | 'waiting', count: number) => sql`
  INSERT INTO mails (key, account, recipient, subject, headers, bytes, status, due_at, created_at, ended_at)
  SELECT ${`${status}/`} || n, ${account}, 'x@example.com', '', '{}', 10, ${status},
    CASE WHEN ${status} = 'waiting' THEN ${start}::timestamptz END, ${start}, CASE WHEN ${status} <> 'waiting' THEN ${start}::timestamptz END
  FROM generate_series(1, ${count}::int) AS n`;

test('an account sends so many mails in an hour, and the next after it', async () => {
  const account = await newAccount();
  await fill(database.sql, account, 'sent', maxPerHour - 11);
  await fill(database.sql, account, 'refused', 10);
  await outbox.enqueue(database.sql, mailTo('a@example.com', { account }));
  await outbox.enqueue(database.sql, mailTo('b@example.com', { account }));
  expect((await take(100, later(1))).length).toBe(1);
  expect((await take(100, later(3_600_000))).map(({ recipient }) => recipient)).toContain('b@example.com');
  await clear();
});

test('an account has so many mails waiting, and others are not affected', async () => {
  const [full, other] = [await newAccount(), await newAccount()];
  await fill(database.sql, full, 'waiting', maxWaiting);
  expect(await outbox.enqueue(database.sql, mailTo('a@example.com', { account: full }))).toBe('full');
  expect(await outbox.enqueue(database.sql, mailTo('a@example.com', { account: other }))).toBe('queued');
  await clear();
});

test('an account mails one address so often in an hour, and others are not affected', async () => {
  const [account, other] = [await newAccount(), await newAccount()];
  await fill(database.sql, account, 'sent', maxToOneAddress - 1);
  const enqueue = (to: string, of: string | null, key: string) =>
    outbox.enqueue(database.sql, mailTo(to, { account: of, key }));
  expect(await enqueue('X@example.com', account, 'last')).toBe('queued');
  expect(await enqueue('x@example.com', account, 'beyond')).toBe('full');
  for (const [to, of] of [
    ['y@example.com', account],
    ['x@example.com', other],
    ['x@example.com', null],
  ] as const)
    expect(await enqueue(to, of, `${to}/${of}`), `to ${to} by ${of}`).toBe('queued');
  const hourLater = new Outbox(() => later(3_600_000));
  expect(await hourLater.enqueue(database.sql, mailTo('x@example.com', { account, key: 'later' }))).toBe('queued');
  await clear();
});

test('a mail is tried again later and later, for three days; a refusal for good ends it', () => {
  const mail = (attempts: number) => ({ attempts, created_at: start });
  const deferred = { kind: 'deferred', reason: '451 later' } as const;
  expect(afterAttempt(mail(1), deferred, start)).toEqual({ dueAt: later(60_000) });
  expect(afterAttempt(mail(9), deferred, start)).toEqual({ dueAt: later(4 * 3_600_000) });
  expect(afterAttempt(mail(3), deferred, later(maxAgeMs))).toEqual({ ending: 'expired' });
  expect(afterAttempt(mail(1), { kind: 'refused', reason: '550 no' }, start)).toEqual({ ending: 'refused' });
  expect(afterAttempt(mail(7), { kind: 'unreachable', reason: 'down' }, start)).toEqual({ dueAt: later(30_000) });
});

test('what became of a mail is known for 90 days', async () => {
  await outbox.enqueue(database.sql, mailTo('gone@example.com'));
  const [mail] = await take(1);
  await record(database.sql, mail as NonNullable<typeof mail>, { kind: 'refused', reason: '550 no such user' }, start);
  const rows = () => database.sql`SELECT status, error FROM mails`;
  await forgetOld(database.sql, later(89 * 86_400_000));
  expect([...(await rows())]).toEqual([{ status: 'refused', error: '550 no such user' }]);
  await forgetOld(database.sql, later(91 * 86_400_000));
  expect([...(await rows())]).toEqual([]);
});
