import { expect, test } from 'vitest';
import { openTab } from '../support/console.ts';
import { unknownKey } from '../support/http.ts';
import { captureLog } from '../support/log-lines.ts';
import { holdWindows } from '../support/rate-windows.ts';
import { useService } from '../support/service.ts';

const captured = captureLog();
const service = useService({ projections: false, log: captured.log });
const from = (address: string) => ({ 'sec-fetch-site': 'same-origin', 'x-forwarded-for': address });
const signIns = () => captured.lines().filter(({ outcome }) => outcome !== undefined);

test('logs and counts every sign-in, sign-out and failed attempt', async () => {
  const { live, keys, id: account } = await service.account();
  const [{ id: key }] = (await live.get('/v1/account/keys')).body.data.filter(
    ({ mode }: { mode: string }) => mode === 'live',
  );
  const revoked = (await live.post('/v1/account/keys', { name: 'Old' })).body;
  await live.delete(`/v1/account/keys/${revoked.id}`);

  const tab = openTab(service.urls[0] as string);
  await tab.signIn(keys.live, {}, from('203.0.113.7'));
  await tab.send('POST', '/console/sign-out', undefined, from('203.0.113.7'));
  await tab.signIn(unknownKey(), {}, from('203.0.113.8'));
  await tab.signIn('hello', {}, from('203.0.113.8'));
  await tab.signIn(revoked.key, {}, from('203.0.113.8'));
  await tab.signIn(keys.live, {}, { 'sec-fetch-site': 'cross-site' });

  const lines = signIns();
  expect(lines).toMatchObject([
    { level: 'info', outcome: 'signed_in', key, account },
    { level: 'info', outcome: 'signed_out', key, account },
    { level: 'warn', outcome: 'refused', key: 'unknown' },
    { level: 'warn', outcome: 'refused', key: 'unknown' },
    { level: 'warn', outcome: 'refused', key: revoked.id },
    { level: 'warn', outcome: 'refused', key: 'unknown' },
  ]);
  const clients = lines.map(({ client }) => client);
  expect(clients).toEqual(lines.map(() => expect.stringMatching(/^[\w-]{16}$/)));
  expect(clients[1], 'the same client has the same hash').toBe(clients[0]);
  expect(clients[2], 'another client has another hash').not.toBe(clients[0]);
  expect(captured.text()).not.toContain('203.0.113');
  for (const secret of [keys.live, revoked.key]) expect(captured.text()).not.toContain(secret.slice(8));

  const metrics = await service.metrics();
  expect(metrics).toContain('scanlog_sign_ins_total{outcome="signed_in"} 1');
  expect(metrics).toContain('scanlog_sign_ins_total{outcome="signed_out"} 1');
  expect(metrics).toContain('scanlog_sign_ins_total{outcome="refused"} 4');

  await tab.signIn('hello', {}, from('198.51.100.9'));
  await holdWindows(service.database.sql);
  for (let i = 1; i < 61; i++) await tab.signIn('hello', {}, from('198.51.100.9'));
  expect(signIns().at(-1)).toMatchObject({ outcome: 'limited', key: 'unknown' });
  expect(await service.metrics()).toContain('scanlog_sign_ins_total{outcome="limited"} 1');
});
