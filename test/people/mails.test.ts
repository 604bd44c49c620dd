import { Secret, TOTP } from 'otpauth';
import { expect, test } from 'vitest';
import { sweep } from '../../src/maintenance/sweep.ts';
import { maxInvitationMails, maxInvitationMailsToOne } from '../../src/people/mails.ts';
import { maxChanges, noteChange } from '../../src/people/security-changes.ts';
import type { Json } from '../support/api.ts';
import { command } from '../support/command.ts';
import { openTab, type Tab } from '../support/console.ts';
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

test('an invitation is mailed with the link that the response has', async () => {
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
  const tab = newTab();
  expect((await tab.form('/console/session', { email: ana.email, password })).status).toBe(303);
  expect(await changesOf(tab)).toMatchObject([{ change: 'password_reset', by: 'you' }]);
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
  // The response is the same for an address that has a user, whom a mail tells so.
  aheadMs += 5 * 60_000;
  const again = await newTab().form('/console/sign-up', { email: email.toLowerCase() });
  expect([again.status, again.text]).toEqual([asked.status, asked.text]);
  expect((await mailTo(email.toLowerCase())).subject).toBe('You have a user at Scanlog already');
});

const changesOf = async (tab: Tab): Promise<Json[]> => (await tab.get('/console/api/me/security-changes')).body.data;
/** What the mails about changes of the sign-in say. */
const toldTo = async (address: string): Promise<string[]> =>
  (await mailsTo(address))
    .filter(({ subject }) => subject === 'Your sign-in to Scanlog has changed')
    .map(({ plain_text }) => plain_text.split('\n\n')[1] ?? '');

test('changes of the sign-in are listed for the person alone, and mailed if someone else could sign in by them', async () => {
  const ana = await person(service, { account: (await service.account()).id });
  const tab = await signedIn(service, ana);
  const agent = { 'user-agent': 'Mozilla/5.0 (Macintosh) Firefox/130.0' };
  const send = (method: string, path: string, body?: unknown) =>
    tab.send(method, `/console/api${path}`, body, {
      'sec-fetch-site': 'same-origin',
      'x-scanlog-console': '1',
      'content-type': 'application/json',
      ...agent,
    });
  const password = 'another tulip 61 ferry';
  expect((await send('PATCH', '/me', { password: { current: goodPassword, new: password } })).status).toBe(200);
  const { secret } = (await send('POST', '/me/totp')).body;
  const now = Date.now() + aheadMs;
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now });
  expect((await send('POST', '/me/totp/confirm', { code })).status).toBe(200);
  expect((await send('POST', '/me/totp/recovery-codes')).status).toBe(200);
  expect((await send('DELETE', '/me/totp')).status).toBe(200);
  expect((await send('DELETE', '/me/totp')).status, 'once more').toBe(200);
  const email = `new-${ana.email}`;
  expect((await send('PATCH', '/me', { email })).status).toBe(200);
  expect((await newTab().form('/console/session', { email, password })).status).toBe(303);
  expect((await send('DELETE', '/sessions')).body.ended).toHaveLength(1);

  const changes = await changesOf(tab);
  expect(changes.map(({ change, detail }) => [change, detail])).toEqual([
    ['sessions_ended', '1'],
    ['email_changed', email],
    ['codes_turned_off', null],
    ['recovery_codes_replaced', null],
    ['codes_turned_on', null],
    ['password_changed', null],
  ]);
  for (const change of changes) expect(change).toMatchObject({ by: 'you', device: 'Mac', browser: 'Firefox' });
  // The address before is told of the new one.
  expect(await toldTo(ana.email)).toEqual([
    'Your password was changed. All other sessions have ended. On Mac, Firefox.',
    'New recovery codes were made. The earlier ones no longer work. On Mac, Firefox.',
    'One-time codes were turned off. The password alone signs in from now on. On Mac, Firefox.',
    `Your e-mail address was changed to ${email}. This address no longer signs in. On Mac, Firefox.`,
  ]);
  expect(await toldTo(email)).toEqual([]);
  const exported = (await tab.get('/console/api/me/export')).body.security_changes;
  expect(exported).toHaveLength(changes.length);
  const { sql } = service.database;
  const events = await sql<{ type: string }[]>`SELECT DISTINCT type FROM events WHERE actor = ${ana.id}`;
  expect(events.map(({ type }) => type).toSorted(), 'in the log').toEqual(['session_ended', 'session_started']);
});

test('the list of a person is bounded, forgets after a year, and is deleted with the person', async () => {
  const { sql } = service.database;
  const account = (await service.account()).id;
  await person(service, { account });
  const ben = await person(service, { account });
  const tab = await signedIn(service, ben);
  const note = (detail: string) =>
    sql.begin((tx) =>
      noteChange(tx, { user: ben.id, change: 'passkey_added', detail }, { actor: ben.id, now: new Date() }),
    );
  await sql`
    INSERT INTO security_changes (user_id, number, change, detail, actor, changed_at)
    SELECT ${ben.id}, i, 'passkey_added', i::text, ${ben.id}, now() FROM generate_series(1, ${maxChanges}::int) AS i`;
  // Two at the same time are two.
  await Promise.all([note('last'), note('last')]);
  const listed = await changesOf(tab);
  expect([listed.length, listed[1]?.['detail'], listed.at(-1)?.['detail']]).toEqual([maxChanges, 'last', '3']);
  await sql`UPDATE security_changes SET changed_at = now() - interval '367 days' WHERE detail <> '7'`;
  await sweep(sql);
  expect(await changesOf(tab)).toMatchObject([{ detail: '7' }]);
  expect((await tab.send('DELETE', '/console/api/me')).status).toBe(200);
  expect([...(await sql`SELECT FROM security_changes WHERE user_id = ${ben.id}`)]).toEqual([]);
  const [deleted] =
    await sql`SELECT type, actor, data FROM events WHERE stream = 'service' ORDER BY version DESC LIMIT 1`;
  expect(deleted).toEqual({ type: 'user_deleted', actor: ben.id, data: { user: ben.id } });
});

test('links of commands are printed and mailed, and what operators did is in their audit and on the page of the person', async () => {
  const account = await service.account();
  const cleo = await person(service, { account: account.id, name: 'Cleo' });
  const tab = await signedIn(service, cleo);
  const { secret } = (await tab.send('POST', '/console/api/me/totp')).body;
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + aheadMs });
  await tab.send('POST', '/console/api/me/totp/confirm', { code });
  const url = service.urls[0] ?? '';
  const environment = { DATABASE_URL: service.database.url, PUBLIC_URL: url };
  const smtp = { SMTP_URL: 'smtp://127.0.0.1:9?tls=off', MAIL_FROM: 'qr@example.com' };
  const run = async (args: string[], more: Record<string, string>) => {
    const { code: exit, output } = await command(args, Object.assign({}, environment, more));
    expect(exit, output).toBe(0);
    return output;
  };

  const invite = (email: string) => ['user', 'invite', email, '--account', account.id, '--role', 'viewer'];
  const silent = await run(invite('dan@example.com'), {});
  expect([tokenIn(silent), silent.includes('mailed')]).toEqual([expect.stringMatching(/^\w{43}$/), false]);
  expect(await mailsTo('dan@example.com')).toEqual([]);
  const told = await run(invite('eva@example.com'), smtp);
  expect(told).toContain('It is mailed to eva@example.com, too.');
  const invitation = await mailTo('eva@example.com');
  expect(invitation.plain_text).toContain(`${url}/console/invitation#${tokenIn(told)}`);
  expect(invitation.plain_text).toContain('The operator of this service entered your address.');

  const reset = await run(['user', 'reset', cleo.email, '--remove-codes'], smtp);
  expect(reset).toContain(`It is mailed to ${cleo.email}, too.`);
  const [removed, link] = await mailsTo(cleo.email);
  expect(removed?.plain_text).toContain('One-time codes were turned off.');
  expect(removed?.plain_text).toContain('An operator of the service did it.');
  expect(link?.plain_text).toContain(`${url}/console/reset#${tokenIn(reset)}`);
  expect(await changesOf(tab)).toMatchObject([
    { change: 'reset_link_created', by: 'operator', device: null },
    { change: 'codes_turned_off', by: 'operator', device: null },
    { change: 'codes_turned_on', by: 'you' },
  ]);
  const audit = JSON.parse(await run(['audit', '--json'], {})).data;
  expect(audit.slice(0, 2)).toMatchObject([
    { type: 'reset_link_created', actor: 'operator', subject: { id: cleo.id, name: 'Cleo' } },
    { type: 'one_time_codes_removed', actor: 'operator', subject: { id: cleo.id, name: 'Cleo' } },
  ]);
});
