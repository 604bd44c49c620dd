import { expect, test } from 'vitest';
import { maxInvitationMails, maxInvitationMailsToOne } from '../../src/people/mails.ts';
import { openTab } from '../support/console.ts';
import { eventually } from '../support/eventually.ts';
import { goodPassword, person, signedIn } from '../support/people.ts';
import { useService } from '../support/service.ts';

let aheadMs = 0;
// The mails stay in the outbox: without projections, no process sends them.
const service = useService({
  projections: false,
  config: { signup: 'open', smtpUrl: 'smtp://127.0.0.1:9?tls=off', mailFrom: 'qr@example.com' },
  clock: () => new Date(Date.now() + aheadMs),
});
const newTab = () => openTab(service.urls[0] as string);
const tokenIn = (text: string) => /#([0-9A-Za-z]{43})\b/.exec(text)?.[1] ?? '';

const mailsTo = (address: string) => service.database.sql<{ subject: string; plain_text: string; html: string }[]>`
  SELECT subject, plain_text, html FROM mails WHERE recipient = ${address} ORDER BY id`;

/** The only mail to an address. */
const mailTo = (address: string) =>
  eventually(async () => {
    const mails = await mailsTo(address);
    expect(mails, `mails to ${address}`).toHaveLength(1);
    return mails[0] as (typeof mails)[number];
  });

test('an invitation is mailed with the link that the answer has', async () => {
  const account = await service.account();
  const invitation = { email: 'bea@example.com', role: 'viewer' };
  const { body } = await account.live.post('/v1/account/invitations', invitation);
  expect(body.is_mailed).toBe(true);
  const mail = await mailTo(invitation.email);
  expect(mail.subject).toBe('Join Test on Scanlog');
  expect(mail.plain_text).toContain(body.url);
  expect(mail.html).toContain(body.url);
});

test('an account mails an address three invitations a day, and 100 in all', async () => {
  const account = await service.account();
  const invite = async (email: string) => {
    const { status, body } = await account.live.post('/v1/account/invitations', { email, role: 'viewer' });
    if (status === 201) await account.live.delete(`/v1/account/invitations/${body.id}`);
    return [status, body.error?.message];
  };
  const stranger = 'Stranger@example.com';
  for (let i = 0; i < maxInvitationMailsToOne; i++) expect(await invite(stranger)).toEqual([201, undefined]);
  const refused = [
    429,
    expect.stringMatching(/^stranger@example.com was mailed 3 invitations .*: try again tomorrow\.$/),
  ];
  expect(await invite(stranger.toLowerCase())).toEqual(refused);
  expect((await account.live.get('/v1/account/invitations')).body.data).toEqual([]);
  await service.database.sql`
    INSERT INTO mails (key, account, recipient, subject, headers, bytes, status, created_at, ended_at)
    SELECT 'invitation/' || i, ${account.id}, i || '@example.com', '', '{}', 0, 'sent', now(), now()
    FROM generate_series(4, ${maxInvitationMails}) AS i`;
  expect(await invite('another@example.com')).toEqual([429, expect.stringContaining('mailed 100 invitations')]);
  aheadMs += 24 * 3_600_000;
  expect(await invite(stranger)).toEqual([201, undefined]);
});

test('the mails to a person are deleted with the person', async () => {
  const account = (await service.account()).id;
  await person(service, { account });
  const ana = await person(service, { account });
  await signedIn(service, ana);
  const tab = await signedIn(service, ana);
  await mailTo(ana.email);
  expect((await tab.send('DELETE', '/console/api/me')).status).toBe(200);
  expect(await mailsTo(ana.email)).toEqual([]);
});

test('a forgotten password is set with a mailed link, one every five minutes, and no one learns who has an address', async () => {
  const ana = await person(service, { account: (await service.account()).id });
  expect((await newTab().get('/console')).text).toContain('href="/console/forgot"');
  expect((await newTab().get('/console/forgot')).status).toBe(200);
  const ask = (email: string) => newTab().form('/console/forgot', { email });
  const [known, unknown] = [await ask(ana.email.toUpperCase()), await ask('no-one@example.com')];
  expect([known.status, known.text]).toEqual([unknown.status, unknown.text]);
  await mailTo(ana.email);
  await ask(ana.email);
  aheadMs += 5 * 60_000;
  await ask(ana.email);
  await eventually(async () => expect(await mailsTo(ana.email)).toHaveLength(2));
  expect(await mailsTo('no-one@example.com')).toEqual([]);
  // A link that was not mailed does not exist.
  const links = await service.database.sql`SELECT 1 FROM one_time_links WHERE user_id = ${ana.id}`;
  expect(links).toHaveLength(2);
  const [mail] = await mailsTo(ana.email);
  const password = 'another tulip 61 ferry';
  const set = await newTab().form('/console/reset', { token: tokenIn(mail?.plain_text ?? ''), password });
  expect(set.status, set.text).toBe(303);
  expect((await newTab().form('/console/session', { email: ana.email, password })).status).toBe(303);
});

test('a sign-in on a new device is mailed to the person, the first one is not', async () => {
  const ana = await person(service, { account: (await service.account()).id });
  await signedIn(service, ana);
  expect(await mailsTo(ana.email)).toEqual([]);
  await signedIn(service, ana);
  expect((await mailTo(ana.email)).subject).toBe('New sign-in to Scanlog');
});

test('a new person confirms the address before there is a user', async () => {
  const email = 'Cleo@example.com';
  const asked = await newTab().form('/console/sign-up', { email });
  expect([asked.status, asked.text]).toEqual([200, expect.stringContaining('Look into your mailbox')]);
  const token = tokenIn((await mailTo(email)).plain_text);
  const tab = newTab();
  const form = await tab.form('/console/confirm', { token });
  expect([form.status, form.text]).toEqual([200, expect.stringContaining('Name of the account')]);
  const fields = { token, name: 'Cleo', account: 'Atelier', password: goodPassword };
  const done = await tab.form('/console/confirm', fields);
  expect(done.status, done.text).toBe(303);
  const [user] = await service.database.sql`SELECT name, email, email_confirmed_at FROM users WHERE email = ${email}`;
  expect(user).toMatchObject({ name: 'Cleo', email_confirmed_at: expect.any(Date) });
  expect((await newTab().form('/console/confirm', fields)).status).toBe(404);
  // The answer is the same for an address that has a user, whom a mail tells so.
  aheadMs += 5 * 60_000;
  const again = await newTab().form('/console/sign-up', { email: email.toLowerCase() });
  expect([again.status, again.text]).toEqual([asked.status, asked.text]);
  expect((await mailTo(email.toLowerCase())).subject).toBe('You have a user at Scanlog already');
});
