import { Secret, TOTP } from 'otpauth';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { command } from '../support/command.ts';
import { openTab, type Tab } from '../support/console.ts';
import { goodPassword, person } from '../support/people.ts';
import { useService } from '../support/service.ts';

let time = Date.now();
const service = useService({ projections: false, clock: () => new Date(time) });
let account: string;
beforeAll(async () => {
  account = (await service.account()).id;
});

// All tests come from one address, whose tries are limited.
beforeEach(async () => {
  await service.database.sql`DELETE FROM rate_windows`;
});

const pass = (seconds: number) => {
  time += seconds * 1000;
};

const signIn = async (email: string, password = goodPassword) => {
  const tab = openTab(service.urls[0] ?? '');
  return { tab, response: await tab.form('/console/session', { email, password }) };
};

/** A person whose sign-ins ask for a code. */
async function newPersonWithCodes() {
  const { email } = await person(service, { account });
  const { tab } = await signIn(email);
  const begun = await tab.send('POST', '/console/api/me/totp');
  expect(begun.status, begun.text).toBe(201);
  const totp = new TOTP({ secret: Secret.fromBase32(begun.body.secret) });
  const code = () => totp.generate({ timestamp: time });
  const confirmed = await tab.send('POST', '/console/api/me/totp/confirm', { code: code() });
  expect(confirmed.status, confirmed.text).toBe(200);
  pass(60);
  return { email, tab, code, recovery: confirmed.body.recovery_codes as string[] };
}

const stepOf = (text: string) => /name="step" value="([^"]+)"/.exec(text)?.[1] ?? '';
const isSignedIn = async (tab: Tab) => (await tab.get('/console/api/me')).status === 200;
/** Six digits that are not the code of this time, though they may be the code of another. */
const wrong = (code: string) => (code === '000000' ? '111111' : '000000');

test('the right password leads to a page that asks for a code, which signs in once', async () => {
  const { email, code } = await newPersonWithCodes();
  const { tab, response } = await signIn(email);
  expect([response.status, response.text]).toEqual([200, expect.stringContaining('One-time code')]);
  expect(await isSignedIn(tab), 'not signed in by the password').toBe(false);
  const step = stepOf(response.text);
  const refused = await tab.form('/console/code', { step, code: 'abcde-fghjk-mnpqr' });
  expect([refused.status, refused.text]).toEqual([401, expect.stringContaining('This code is wrong')]);
  const right = code();
  expect((await tab.form('/console/code', { step: stepOf(refused.text), code: right })).status).toBe(303);
  expect(await isSignedIn(tab)).toBe(true);

  const other = await signIn(email);
  const replayed = await other.tab.form('/console/code', { step: stepOf(other.response.text), code: right });
  expect(replayed.status, 'the same code').toBe(401);
  pass(60);
  const reused = await other.tab.form('/console/code', { step, code: code() });
  expect([reused.status, await isSignedIn(other.tab)], 'the same step').toEqual([400, false]);
});

test('a wrong password does not tell that a code would be asked for', async () => {
  const { email } = await newPersonWithCodes();
  const known = await signIn(email, 'another long password');
  expect([known.response.status, known.response.text]).toEqual([401, expect.not.stringContaining('One-time code')]);
});

test('a step expires, and one that was not begun here is refused', async () => {
  const { email, code } = await newPersonWithCodes();
  const { tab, response } = await signIn(email);
  const forged = await tab.form('/console/code', { step: `${stepOf(response.text)}A`, code: code() });
  expect(forged.status).toBe(400);
  pass(601);
  const late = await tab.form('/console/code', { step: stepOf(response.text), code: code() });
  expect([late.status, late.text]).toEqual([400, expect.stringContaining('took too long')]);
  expect(await isSignedIn(tab)).toBe(false);
});

test('ten wrong codes are the limit, from all steps together; a recovery code still signs in', async () => {
  const { email, code, recovery } = await newPersonWithCodes();
  const statuses: number[] = [];
  let last = await signIn(email);
  for (let i = 0; i < 11; i++) {
    if (i === 5) last = await signIn(email);
    statuses.push(
      (await last.tab.form('/console/code', { step: stepOf(last.response.text), code: wrong(code()) })).status,
    );
  }
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  const step = stepOf(last.response.text);
  expect((await last.tab.form('/console/code', { step, code: code() })).status, 'the right code').toBe(429);
  expect((await last.tab.form('/console/code', { step, code: recovery[0] ?? '' })).status).toBe(303);
  expect((await last.tab.get('/console/api/me')).body).toMatchObject({ totp: true, recovery_codes_left: 9 });
});

test('a code proves a session again, and turning codes off needs a proof', async () => {
  const { email, tab, code } = await newPersonWithCodes();
  pass(20 * 60);
  const refused = await tab.send('DELETE', '/console/api/me/totp');
  expect([refused.status, refused.body.error.code]).toEqual([403, 'reauthentication_required']);
  const failed = await tab.form('/console/proof', { code: 'abcde-fghjk-mnpqr' });
  expect([failed.status, failed.body.error.details[0].field]).toEqual([400, 'code']);
  expect((await tab.form('/console/proof', { code: code() })).status).toBe(200);
  const replaced = await tab.send('POST', '/console/api/me/totp/recovery-codes');
  expect(replaced.body.recovery_codes).toHaveLength(10);
  expect((await tab.send('DELETE', '/console/api/me/totp')).status).toBe(200);
  expect((await tab.get('/console/api/me')).body).toMatchObject({ totp: false, recovery_codes_left: 0 });
  expect((await signIn(email)).response.status, 'the password alone').toBe(303);
});

test('our script signs in without leaving the page: it gets the step, and sends the code for it', async () => {
  const { email, code, recovery } = await newPersonWithCodes();
  const tab = openTab(service.urls[0] ?? '');
  const script = { 'sec-fetch-site': 'same-origin', accept: 'application/json' };
  const send = (path: string, fields: Record<string, string>) => tab.form(path, fields, script);
  const begin = () => send('/console/session', { email, password: goodPassword, account });
  const begun = await begin();
  expect([begun.status, Object.keys(begun.body), await isSignedIn(tab)]).toEqual([200, ['step'], false]);
  const { step } = begun.body;
  const refused = await send('/console/code', { step, code: 'abcde-fghjk-mnpqr' });
  expect([refused.status, refused.body.error]).toEqual([
    401,
    { code: 'unauthorized', message: expect.stringContaining('This code is wrong') },
  ]);
  const done = await send('/console/code', { step, code: code() });
  expect([done.status, done.body]).toMatchObject([200, { account: { id: account }, user: { email } }]);
  expect(await isSignedIn(tab)).toBe(true);
  const again = await send('/console/code', { step, code: recovery[0] ?? '' });
  expect([again.status, again.body.error.code], 'the same step').toEqual([400, 'step_over']);
  const late = (await begin()).body.step;
  pass(601);
  const expired = await send('/console/code', { step: late, code: code() });
  expect([expired.status, expired.body.error.code]).toEqual([400, 'step_over']);
});

test('a session with an API key has no codes', async () => {
  const { keys } = await service.account();
  const tab = openTab(service.urls[0] ?? '');
  await tab.signIn(keys.live);
  expect((await tab.send('POST', '/console/api/me/totp')).status).toBe(404);
});

test('the operator turns off the codes of a person who has lost the app and the recovery codes', async () => {
  const { email } = await newPersonWithCodes();
  const environment = { DATABASE_URL: service.database.url, PUBLIC_URL: service.urls[0] ?? '' };
  const { code, output } = await command(['user', 'reset', email, '--remove-codes'], environment);
  expect(code, output).toBe(0);
  expect(output).toContain('One-time codes of the person are turned off.');
  expect((await signIn(email)).response.status).toBe(303);
});

test('the form of a passkey has room for a post-quantum signature', async () => {
  const tab = openTab(service.urls[0] ?? '');
  const text = 'A'.repeat(300);
  const assertion = { clientDataJSON: text, authenticatorData: text, signature: 'A'.repeat(6_170), userHandle: text };
  const response = { id: text, rawId: text, type: 'public-key', response: assertion, clientExtensionResults: {} };
  const fields = { step: text, response: JSON.stringify(response), next: '/console/analytics' };
  const { status, text: page } = await tab.form('/console/passkey', fields);
  expect([status, page]).toEqual([401, expect.stringContaining('name="next" value="/console/analytics"')]);
});
