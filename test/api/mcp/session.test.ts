import { describe, expect, test } from 'vitest';
import { created, type Json } from '../../support/api.ts';
import { mcpClient } from '../../support/mcp.ts';
import { useService } from '../../support/service.ts';

const service = useService({ projections: false });
const url = () => service.urls[0] as string;

/** A new account, and its live key. */
async function newAccount() {
  const { live, keys } = await service.account();
  const { data } = (await live.get('/v1/account/keys')).body;
  return { live, key: keys.live, id: data.find(({ mode }: Json) => mode === 'live').id as string };
}

const legacy = { mode: 'legacy' } as const;
const current = { mode: { pin: '2026-07-28' } } as const;

describe.each([
  ['the revision of 2026-07-28', current],
  ['the revisions of 2025', legacy],
])('a session by %s', (_, era) => {
  test('finds, creates, changes and undoes, and the history names the client', async () => {
    const { live, key, id: keyId } = await newAccount();
    const kept = await created(live, { name: 'Menu' });
    const mcp = await mcpClient(url(), key, { name: 'Claude Code (beta)', ...era });

    const { data } = await mcp.call('find_codes', { q: 'menu' });
    expect(data).toMatchObject([{ id: kept.id, name: 'Menu' }]);
    const { created: made, undo } = await mcp.call('create_code', {
      qrcodes: [{ name: 'Poster', destination_url: 'https://example.com/poster' }],
    });
    expect(made).toMatchObject([{ name: 'Poster', status: 'active' }]);
    expect(undo.from).toBe(undo.to);
    const changed = await mcp.call('update_code', {
      qr_id: kept.id,
      changes: { destination_url: 'https://example.com/new' },
    });
    expect(changed).toMatchObject({ destination_url: 'https://example.com/new', undo: { from: changed.updated_at } });

    const history = (await live.get(`/v1/qrcodes/${kept.id}/history`)).body.data;
    expect(history[0]).toMatchObject({ event: 'destination_changed', key_id: keyId, client: 'claude-code-beta' });
    expect(history[1], 'made by the key itself').not.toHaveProperty('client');
    const feed = (await live.get('/v1/events?types=code.updated')).body.data;
    expect(feed).toMatchObject([{ actor: `${keyId}/claude-code-beta` }]);

    const dry = await mcp.call('undo', { dry_run: true });
    const undone = await mcp.call('undo');
    expect(undone).toEqual(dry);
    expect(undone.changes).toMatchObject([
      { qr_id: made[0].id, field: 'status', to: 'paused' },
      { qr_id: kept.id, field: 'destination_url', to: kept.destination_url },
    ]);
    expect((await live.get(`/v1/qrcodes/${kept.id}`)).body.destination_url).toBe(kept.destination_url);
    expect(await mcp.call('undo'), 'nothing is left').toEqual({ changes: [], skipped: [] });
  });
});

test('undo leaves alone what the key and its other clients changed; undoing the key includes its clients', async () => {
  const { live, key, id: keyId } = await newAccount();
  const [byKey, byFirst, bySecond] = await Promise.all([created(live), created(live), created(live)]);
  const first = await mcpClient(url(), key, { name: 'First' });
  const second = await mcpClient(url(), key, { name: 'Second', ...legacy });
  const moved = { destination_url: 'https://example.com/moved' };
  const from = new Date().toISOString();
  await live.patch(`/v1/qrcodes/${byKey.id}`, moved);
  await first.call('update_code', { qr_id: byFirst.id, changes: moved });
  await second.call('update_code', { qr_id: bySecond.id, changes: moved });

  const changesOf = ({ changes }: Json) => changes.map(({ qr_id }: Json) => qr_id).toSorted();
  expect(changesOf(await first.call('undo', { dry_run: true }))).toEqual([byFirst.id]);
  const revert = async (actor: string) =>
    (await live.post('/v1/account/revert', { actor, from, dry_run: true })).body as Json;
  expect(changesOf(await revert(`${keyId}/second`))).toEqual([bySecond.id]);
  expect(changesOf(await revert(keyId))).toEqual([byKey.id, byFirst.id, bySecond.id].toSorted());

  await first.call('undo');
  const audit = async (actor: string) => (await live.get(`/v1/account/audit?actor=${actor}`)).body.data as Json[];
  expect(await audit(keyId), 'what a client did counts as done by its key').toMatchObject([
    { type: 'account.reverted', actor: `${keyId}/first`, data: { actor: `${keyId}/first`, changed: 1 } },
  ]);
  expect(await audit(`${keyId}/second`)).toEqual([]);
  expect((await second.call('audit', { type: 'account.reverted' })).data).toMatchObject([{ actor: `${keyId}/first` }]);
});

test('one call of many is undone by the arguments of its response, and the others stay', async () => {
  const { live, key } = await newAccount();
  const [one, two] = [await created(live, { tags: ['x'] }), await created(live, { tags: ['x'] })];
  const mcp = await mcpClient(url(), key);
  await mcp.call('update_code', { qr_id: one.id, changes: { name: 'Renamed' } });
  const bulk = { tag: 'x', replace: { find: '/menu', with: '/summer' } };
  const planned = await mcp.call('update_code', { bulk });
  expect(planned).toMatchObject({ dry_run: true, changed: 2, undo: null });
  expect((await live.get(`/v1/qrcodes/${two.id}`)).body.destination_url, 'a dry run by default').toContain('/menu');
  const { changed, undo } = await mcp.call('update_code', { bulk: { ...bulk, dry_run: false } });
  expect(changed).toBe(2);

  const { changes } = await mcp.call('undo', undo);
  expect(changes.map(({ field }: Json) => field)).toEqual(['destination_url', 'destination_url']);
  const read = (await live.get(`/v1/qrcodes/${one.id}`)).body;
  expect([read.name, read.destination_url]).toEqual(['Renamed', one.destination_url]);
  const same = await mcp.call('update_code', { qr_id: one.id, changes: { name: 'Renamed' } });
  expect(same.undo, 'nothing was changed').toBeNull();
});

test('draws a code as an image, checks that it scans, and prints labels', async () => {
  const { live, key } = await newAccount();
  const code = await created(live);
  const mcp = await mcpClient(url(), key);
  const { content, structuredContent } = await mcp.send('image', { qr_id: code.id, size: 256 });
  const download = await fetch(`${url()}/v1/qrcodes/${code.id}/download?size=256`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(content[1]).toEqual({
    type: 'image',
    mimeType: 'image/png',
    data: Buffer.from(await download.arrayBuffer()).toString('base64'),
  });
  expect(structuredContent).toMatchObject({ qr_id: code.id, image_url: code.image_url });
  expect(await mcp.call('preflight', { qr_id: code.id })).toMatchObject({ readable: true });
  expect(await mcp.call('preflight', { style: {} })).toMatchObject({ readable: true });
  const sheet = await mcp.send('sheet', { qr_ids: [code.id], layout: 'a4-3x8' });
  const { blob, mimeType } = sheet.content[1].resource;
  expect(mimeType).toBe('application/pdf');
  expect(Buffer.from(blob, 'base64').toString('latin1', 0, 5)).toBe('%PDF-');
});

test('says what is wrong with a call, so that a model can correct it', async () => {
  const { live, key } = await newAccount();
  const code = await created(live);
  const mcp = await mcpClient(url(), key);
  expect(await mcp.refused('update_code', { qr_id: code.id, changes: { destination_url: 'ftp://x' } })).toMatchObject({
    code: 'invalid_request',
    details: [{ field: 'destination_url' }],
  });
  expect(await mcp.refused('update_code', { qr_id: code.id })).toMatchObject({
    message: 'Either changes or bulk is required, and not both.',
  });
  expect(await mcp.refused('find_codes', { tags: ['x'] })).toMatchObject({
    message: 'tags is not an accepted field: did you mean tag?',
  });
  expect(await mcp.refused('resolve', { qr_id: 'qr_none' })).toMatchObject({ code: 'not_found' });
  const qrcodes = [{ name: 'Poster', destination_url: 'https://example.com' }];
  expect(await mcp.refused('create_code', { qrcodes, idempotency_key: 'заказ 1' })).toMatchObject({
    code: 'invalid_request',
    details: [{ field: 'idempotency_key' }],
  });
  expect(await mcp.call('resolve', { qr_id: code.id, country: 'DE' })).toMatchObject({
    destination_url: code.destination_url,
  });
});
