import { beforeEach, describe, expect, test } from 'vitest';
import { limitsOf } from '../../events/plans.ts';
import { block, unblock } from '../../src/codes/blocked-hosts.ts';
import { created, newCode } from '../support/api.ts';
import { atOnce, blamedFields } from '../support/http.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ projections: false });
let account: TestAccount;
beforeEach(async () => {
  account = await service.account();
});

const everything = {
  name: 'Terrace',
  destination_url: 'https://example.com/terrace?a=1',
  short_code: 'terrace',
  style: { dotsType: 'dots', dotsColor: '#7A1F4B' },
  rules: [
    { name: 'Lunch', when: { hours: { from: '11:00', to: '14:00' } }, destination_url: 'https://example.com/lunch' },
    {
      split: [
        { weight: 1, destination_url: 'https://example.com/a' },
        { weight: 3, destination_url: 'https://example.com/b' },
      ],
    },
  ],
  starts_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2126-01-01T00:00:00.000Z',
  max_scans: 2,
  fallback_url: 'https://example.com/closed',
  forward_query: true,
  utm: { source: 'flyer' },
  tags: ['summer'],
  note: 'Printed on the menu cards\nof the terrace',
};

const create = async (fields: Record<string, unknown> = {}) => await created(account.live, fields);
const duplicate = ({ id }: { id: string }, body: unknown = {}, headers: Record<string, string> = {}) =>
  account.live.post(`/v1/qrcodes/${id}/duplicate`, body, headers);

/** Without what every code has of its own. */
function contentOf({
  id,
  short_code,
  short_url,
  image_url,
  created_at,
  updated_at,
  ...content
}: Record<string, unknown>) {
  const text = JSON.stringify(content, (key, value) => (key === 'id' ? undefined : value));
  return JSON.parse(text);
}
const idsIn = (value: unknown) => JSON.stringify(value).match(/"id":"\w+"/g) ?? [];

describe('a copy', () => {
  test('has every field of the original, a new short code, new rule ids, and no scans', async () => {
    const original = await create(everything);
    await service.client(0).get('/terrace');
    const { status, body: copy } = await duplicate(original);
    expect(status).toBe(201);
    expect(contentOf(copy)).toEqual(contentOf(original));
    expect(copy).toMatchObject({ total_scans: 0, remaining_scans: 2 });
    expect(copy.short_code).toMatch(/^[1-9A-HJ-NP-Za-km-z]{7}$/);
    expect(new Set([...idsIn(original), ...idsIn(copy)]).size).toBe(2 * idsIn(original).length);
    const { body: read } = await account.live.get(`/v1/qrcodes/${copy.id}`);
    expect(read).toEqual({ ...copy, version: 1 });
  });

  test('has the given fields instead, style and rules as a whole, and null removes', async () => {
    const original = await create({ ...everything, short_code: undefined });
    const given = {
      name: 'Dark',
      destination_url: 'https://example.com/dark',
      short_code: 'dark-terrace',
      status: 'draft',
      style: { dotsColor: '#EEEEEE' },
      rules: [{ when: { countries: ['DE'] }, destination_url: 'https://example.com/de' }],
    };
    const { body: changed } = await duplicate(original, given);
    expect(changed).toMatchObject({ ...given, max_scans: 2, active: false });
    expect(changed.style).toEqual(given.style);
    expect(changed.rules).toHaveLength(1);
    expect(changed.warnings[0].field).toBe('style.dotsColor');

    const optional = Object.keys(everything).filter((field) => !['name', 'destination_url'].includes(field));
    const none = Object.fromEntries([...optional, 'status', 'allow_unreadable'].map((field) => [field, null]));
    const { body: plain } = await duplicate(original, { overrides: none });
    const { name, destination_url } = everything;
    expect(contentOf(plain)).toEqual(contentOf(await create({ name, destination_url })));
    const variant = await duplicate(original, { type: 'url', destination: 'https://example.com/other' });
    expect(variant.body).toMatchObject({ destination: 'https://example.com/other', scans: 0 });
  });

  test('of a paused code or a draft is active', async () => {
    const draft = await create({ status: 'draft' });
    const paused = await create();
    await account.live.patch(`/v1/qrcodes/${paused.id}`, { active: false });
    for (const original of [draft, paused]) {
      const { body } = await duplicate(original);
      expect(body).toMatchObject({ status: 'active', active: true });
      expect((await service.client(0).get(`/${body.short_code}`)).status).toBe(302);
    }
  });

  test('keeps UTC in rules that name no time zone when the account has another by now', async () => {
    const original = await create({ ...everything, short_code: undefined });
    await account.live.patch('/v1/account', { timezone: 'Asia/Kolkata' });
    const { body } = await duplicate(original);
    expect(body.rules[0].when).toEqual({ ...original.rules[0].when, timezone: 'UTC' });
    const given = await duplicate(original, { rules: everything.rules });
    expect(given.body.rules[0].when.timezone).toBe('Asia/Kolkata');
  });
});

describe('refused', () => {
  test('invalid and unknown fields, all in one response, with the nearest name', async () => {
    const original = await create({ ...everything, short_code: undefined });
    const refused = await duplicate(original, { name: null, expires_at: '2025-01-01T00:00:00Z', styl: {} });
    expect(refused.status).toBe(400);
    expect(blamedFields(refused).sort()).toEqual(['expires_at', 'name', 'styl']);
    expect(refused.text).toContain('styl is not an accepted field: did you mean style?');
    expect(blamedFields(await duplicate(original, { id: 'qr_1' }))).toEqual(['id']);
    expect(blamedFields(await duplicate(original, []))).toEqual(['body']);
    expect(blamedFields(await duplicate(original, { name: 'A', overrides: [] }))).toEqual(['name', 'overrides']);
  });

  test('a deleted code, a taken short code, a blocked host, and more codes than the plan has', async () => {
    account = await service.account('pro');
    const original = await create({ short_code: 'only-once', destination_url: 'https://blocked.example' });
    const taken = await duplicate(original, { short_code: 'ONLY-once' });
    expect([taken.status, taken.body.error.code, blamedFields(taken)]).toEqual([
      409,
      'short_code_taken',
      ['short_code'],
    ]);

    await block(service.database.sql, 'blocked.example', new Date());
    const blocked = await duplicate(original);
    await unblock(service.database.sql, 'blocked.example', new Date());
    expect([blocked.status, blocked.body.error.code]).toEqual([400, 'destination_blocked']);
    expect(blocked.body.error.details).toEqual([{ field: 'destination_url', message: expect.any(String) }]);

    const others = Array.from({ length: limitsOf.pro.codes - 1 }, () => newCode());
    expect((await account.live.post('/v1/qrcodes/bulk', { qrcodes: others })).status).toBe(201);
    const full = await duplicate(original);
    expect([full.status, full.body.error.code]).toEqual([403, 'quota_exceeded']);

    await account.live.delete(`/v1/qrcodes/${original.id}`);
    expect((await duplicate(original)).status).toBe(404);
  });
});

test('an Idempotency-Key makes one copy of one code, also if the original is changed and deleted meanwhile', async () => {
  const [original, other] = [await create(), await create()];
  const key = { 'idempotency-key': 'copy-1' };
  const responses = await atOnce(3, () => duplicate(original, { name: 'Copy' }, key));
  await account.live.patch(`/v1/qrcodes/${original.id}`, { destination_url: 'https://example.com/new' });
  responses.push(await duplicate(original, { name: 'Copy' }, key));
  await account.live.delete(`/v1/qrcodes/${original.id}`);
  responses.push(await duplicate(original, { name: 'Copy' }, key));
  expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(responses.map(({ headers }) => headers.get('idempotent-replayed')).filter(Boolean)).toHaveLength(4);
  for (const conflict of [await duplicate(other, { name: 'Copy' }, key), await duplicate(original, {}, key)])
    expect([conflict.status, conflict.body.error.code]).toEqual([409, 'idempotency_conflict']);
  expect((await account.live.get('/v1/qrcodes')).body.pagination.total).toBe(2);
});
