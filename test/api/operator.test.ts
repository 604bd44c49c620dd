import { describe, expect, test } from 'vitest';
import { resume, suspend } from '../../src/accounts/accounts.ts';
import { revoke } from '../../src/accounts/keys.ts';
import { block, unblock } from '../../src/codes/blocked-hosts.ts';
import { restore, takeDown } from '../../src/codes/takedown.ts';
import { type Api, newCode } from '../support/api.ts';
import { openTab } from '../support/console.ts';
import { uniqueName } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { useService } from '../support/service.ts';

const service = useService({ instances: 2 });
const now = () => new Date();
const everyInstance = [0, 1];

interface Created {
  id: string;
  short_code: string;
}

async function given(api: Api, fields: Record<string, unknown> = {}): Promise<Created> {
  const { status, body } = await api.post('/v1/qrcodes', newCode(fields));
  expect(status).toBe(201);
  return body;
}

const open = (instance: number, { short_code }: Created, init: RequestInit = {}) =>
  service.client(instance).send(`/${short_code}`, init);
/** Makes every instance cache the code's route. */
const openEverywhere = async (code: Created) => {
  for (const instance of everyInstance) expect((await open(instance, code)).status).toBe(302);
};
const answersEverywhere = (code: Created, status: number) =>
  eventually(async () => {
    for (const instance of everyInstance) expect((await open(instance, code)).status).toBe(status);
  });
const scansOf = async ({ id }: Created) => {
  await service.allStored();
  return (await service.database.sql<[{ count: number }]>`SELECT count(*) FROM scans WHERE code = ${id}`)[0].count;
};

describe('an account that the operator suspends', () => {
  test('has its links disabled on every instance until it is resumed; nothing is recorded or deleted', async () => {
    const account = await service.account();
    const code = await given(account.live);
    await openEverywhere(code);
    await suspend(service.database.sql, account.id, 'Unpaid since March.', now());
    await answersEverywhere(code, 410);
    const scans = await scansOf(code);
    const page = await open(1, code);
    expect(page.text).toContain('The operator of this service has disabled it.');
    const json = await open(0, code, { headers: { accept: 'application/json' } });
    expect(json.body).toMatchObject({ error: { code: 'disabled' } });
    expect(await scansOf(code)).toBe(scans);
    await resume(service.database.sql, account.id, now());
    await answersEverywhere(code, 302);
  });

  test('gets 403 with the reason from API and console in both modes', async () => {
    const account = await service.account();
    const tab = openTab(service.urls[0] as string);
    await tab.signIn(account.keys.live);
    await suspend(service.database.sql, account.id, 'Unpaid since March.', now());
    const refused = { error: { code: 'account_suspended', message: expect.stringContaining('Unpaid since March.') } };
    for (const api of [account.live, account.test]) {
      const response = await api.get('/v1/qrcodes');
      expect([response.status, response.body]).toEqual([403, refused]);
    }
    const response = await tab.get('/console/api/qrcodes');
    expect([response.status, response.body]).toEqual([403, refused]);
    await resume(service.database.sql, account.id, now());
    expect((await account.live.get('/v1/qrcodes')).status).toBe(200);
  });

  test('does not affect a new code of another account', async () => {
    const [suspended, other] = [await service.account(), await service.account()];
    await suspend(service.database.sql, suspended.id, 'Unpaid.', now());
    const code = await given(other.live);
    await openEverywhere(code);
  });
});

describe('a code that the operator takes down', () => {
  test('answers 410 on every instance; its owner sees the reason, can read and change the code, and cannot undo it', async () => {
    const { live } = await service.account();
    const code = await given(live);
    await openEverywhere(code);
    await takeDown(service.database.sql, code.id, 'Reported as phishing.', now());
    await answersEverywhere(code, 410);
    const path = `/v1/qrcodes/${code.id}`;
    const disabled = { reason: 'Reported as phishing.', at: expect.any(String) };
    expect((await live.get(path)).body).toMatchObject({ status: 'active', disabled });
    for (const change of [{ active: false }, { active: true }, { destination_url: 'https://example.com/new' }])
      expect((await live.patch(path, change)).body).toMatchObject({ disabled });
    expect((await open(0, code)).status).toBe(410);
    const { body: history } = await live.get(`${path}/history`);
    expect(history.data).toContainEqual(
      expect.objectContaining({ event: 'code_disabled', to: 'Reported as phishing.', key_id: 'operator' }),
    );
    await restore(service.database.sql, code.id, now());
    await answersEverywhere(code, 302);
    expect((await live.get(path)).body).not.toHaveProperty('disabled');
  });

  test('answers as deleted once its owner deletes it', async () => {
    const { live } = await service.account();
    const code = await given(live);
    await takeDown(service.database.sql, code.id, 'Reported.', now());
    await live.delete(`/v1/qrcodes/${code.id}`);
    const response = await open(0, code, { headers: { accept: 'application/json' } });
    expect(response.body).toMatchObject({ error: { code: 'gone' } });
  });
});

describe('a host that the operator blocks', () => {
  test('is blocked with its subdomains: create, bulk and PATCH are refused, and existing links are disabled', async () => {
    const { live } = await service.account();
    const host = `${uniqueName().replace('_', '-')}.example`;
    const leading = await given(live, { destination_url: `https://Shop.${host}./menu` });
    const other = await given(live, { destination_url: `https://not${host}/menu` });
    await openEverywhere(leading);
    await block(service.database.sql, host, now());
    await answersEverywhere(leading, 410);
    await openEverywhere(other);
    const path = `/v1/qrcodes/${leading.id}`;
    const disabled = { reason: `The operator of this service has blocked ${host}.`, at: expect.any(String) };
    expect((await live.get(path)).body).toMatchObject({ status: 'active', disabled });
    expect((await live.patch(path, { name: 'New' })).body).toMatchObject({ name: 'New', disabled });
    expect((await live.get(`/v1/qrcodes/${other.id}`)).body).not.toHaveProperty('disabled');
    await takeDown(service.database.sql, leading.id, 'Reported.', now());
    expect((await live.get(path)).body.disabled.reason, 'a takedown is shown first').toBe('Reported.');
    await restore(service.database.sql, leading.id, now());

    const destination_url = `http://www.${host}:8080/x`;
    const message = expect.stringContaining(host);
    const refused = { code: 'destination_blocked', message, details: [{ field: 'destination_url', message }] };
    const created = await live.post('/v1/qrcodes', newCode({ destination_url }));
    expect([created.status, created.body.error]).toEqual([400, refused]);
    const patched = await live.patch(`/v1/qrcodes/${other.id}`, { destination_url });
    expect([patched.status, patched.body.error]).toEqual([400, refused]);
    const bulk = await live.post('/v1/qrcodes/bulk', { qrcodes: [newCode(), newCode({ destination_url })] });
    expect(bulk.body.error).toMatchObject({ code: 'destination_blocked', details: [{ index: 1, message }] });

    await unblock(service.database.sql, host, now());
    await answersEverywhere(leading, 302);
    expect((await live.get(path)).body).not.toHaveProperty('disabled');
    expect((await live.post('/v1/qrcodes', newCode({ destination_url }))).status).toBe(201);
  });

  test('is blocked in every spelling, in every field of a code', async () => {
    const { live } = await service.account();
    const spellings = ['http://[::ffff:203.0.113.9]/', 'https://203.0.113.9../', 'http://0xcb.0.28937/'];
    const existing = await Promise.all(spellings.map((destination_url) => given(live, { destination_url })));
    for (const code of existing) await openEverywhere(code);
    await block(service.database.sql, '203.0.113.9', now());
    for (const code of existing) {
      await answersEverywhere(code, 410);
      expect((await live.get(`/v1/qrcodes/${code.id}`)).body).toHaveProperty('disabled');
    }
    const other = await given(live);
    for (const url of spellings) {
      const fields = [
        { destination_url: url },
        { fallback_url: url },
        { rules: [{ when: { devices: ['ios'] }, destination_url: url }] },
      ];
      for (const field of fields) {
        const responses = [
          await live.post('/v1/qrcodes', newCode(field)),
          await live.post('/v1/qrcodes/bulk', { qrcodes: [newCode(field)] }),
          await live.post(`/v1/qrcodes/${other.id}/duplicate`, field),
          await live.patch(`/v1/qrcodes/${other.id}`, field),
        ];
        expect(responses.map(({ body }) => body.error?.code)).toEqual(responses.map(() => 'destination_blocked'));
      }
    }
    await unblock(service.database.sql, '203.0.113.9', now());
    for (const code of existing) await answersEverywhere(code, 302);
  });
});

test('a key that the operator revokes stops working', async () => {
  const account = await service.account();
  const { body } = await account.live.get('/v1/account/keys');
  const key = body.data.find(({ mode }: { mode: string }) => mode === 'test');
  await revoke(service.database.sql, account.id, key.id, { actor: 'operator', now: now() });
  expect((await account.test.get('/v1/qrcodes')).status).toBe(401);
});
