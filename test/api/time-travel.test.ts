import { describe, expect, test } from 'vitest';
import { block, unblock } from '../../src/codes/blocked-hosts.ts';
import { readStream } from '../../src/log/read.ts';
import { type Api, created, type Json } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { atOnce, blamedFields, countStatuses } from '../support/http.ts';
import { useService } from '../support/service.ts';
import { retrying } from '../support/warehouse.ts';

let now = new Date('2026-03-01T09:30:00.000Z');
/** Moves the clock one minute on; returns the time before. */
const tick = (): string => {
  const before = now.toISOString();
  now = new Date(now.getTime() + 60_000);
  return before;
};
const service = useService({ clock: () => now });

const url = (path: string) => `https://example.com/${path}`;
const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Safari/537.36';
const scan = async ({ short_code }: Json, visitor: number) => {
  const headers = { 'user-agent': chrome, 'x-forwarded-for': `10.1.1.${visitor}` };
  return (await service.client(0).get(`/${short_code}`, headers)).headers.get('location');
};
const message = ({ status, body }: { status: number; body: Json }) => [status, body.error?.code, body.error?.message];

async function given(fields: Record<string, unknown> = {}) {
  const { id, ...clients } = await service.account('enterprise');
  // Until the analytics of a new service are ready, counts of earlier times are answered with 503.
  const [live, test] = [retrying(clients.live), retrying(clients.test)];
  const code = await created(live, fields);
  return { id, live, test, code, path: `/v1/qrcodes/${code.id}` };
}

describe('as_of', () => {
  test('the single read, the list and resolve answer what they answered then, scans included', async () => {
    const { live, code, path } = await given({ max_scans: 5, tags: ['menu'] });
    const remembered: { at: string; read: Json; list: Json; led: Json }[] = [];
    const remember = async (scans: number) => {
      const read = await eventually(async () => {
        const { body } = await live.get(path);
        expect(body.total_scans).toBe(scans);
        return body;
      });
      const { body: list } = await live.get('/v1/qrcodes');
      const { body: led } = await live.post(`${path}/resolve`, { at: now.toISOString() });
      remembered.push({ at: tick(), read, list, led });
    };
    await remember(0);
    for (const visitor of [1, 2, 2]) expect(await scan(code, visitor)).toBe(url('menu'));
    await remember(3);
    tick();
    await live.patch(path, {
      name: 'Lunch',
      rules: [{ when: { devices: ['desktop'] }, destination_url: url('lunch') }],
    });
    await remember(3);
    tick();
    await live.patch(path, { active: false, starts_at: '2027-01-01T00:00:00Z', tags: null });
    await remember(3);
    await live.patch(path, { name: 'Later', max_scans: null, starts_at: null, active: true, rules: null });
    expect(await scan(code, 3)).toBe(url('menu'));
    tick();

    for (const { at, read, list, led } of remembered) {
      await eventually(async () => expect((await live.get(`${path}?as_of=${at}`)).body).toEqual(read));
      const { headers } = await live.get(`${path}?as_of=${at}`);
      expect(headers.get('etag')).toBe(`"${read.version}"`);
      expect((await live.get(`/v1/qrcodes?as_of=${at}`)).body).toEqual(list);
      expect((await live.post(`${path}/resolve`, { as_of: at })).body).toEqual(led);
    }
    expect(remembered.map(({ led }) => led.destination_url)).toEqual([url('menu'), url('menu'), url('lunch'), null]);
    expect(remembered.map(({ read }) => read.remaining_scans)).toEqual([5, 2, 2, 2]);
    const names = async (query: string) =>
      (await live.get(`/v1/qrcodes?as_of=${remembered[3]?.at}&${query}`)).body.data.map(({ name }: Json) => name);
    expect(await names('status=paused&availability=scheduled&q=lunch')).toEqual(['Lunch']);
    expect(await names('q=later')).toEqual([]);
    expect(await names('tag=menu')).toEqual([]);
  });

  test('not before the creation, not in the future, not after a deletion, and not what is no time', async () => {
    const before = tick();
    const { live, test, code, path } = await given();
    const created = now.toISOString();
    expect(message(await live.get(`${path}?as_of=${before}`))).toEqual([
      ...[404, 'not_found', `This QR code did not exist at ${before}: it was created at ${created}.`],
    ]);
    expect((await live.post(`${path}/resolve`, { as_of: before })).status).toBe(404);
    expect((await live.get(`/v1/qrcodes?as_of=${before}`)).body.pagination.total).toBe(0);
    tick();
    const offset = `${new Date(Date.parse(created) + 7_200_000).toISOString().slice(0, -1)}+02:00`;
    for (const same of [offset, encodeURIComponent(offset)])
      await eventually(async () => expect((await live.get(`${path}?as_of=${same}`)).body.id, same).toBe(code.id));
    const future = new Date(now.getTime() + 1).toISOString();
    for (const wrong of [future, 'yesterday', '2026-02-30T00:00:00Z', '2026-03-01', '']) {
      for (const read of [path, '/v1/qrcodes']) {
        const response = await live.get(`${read}?as_of=${wrong}`);
        expect([response.status, blamedFields(response)], wrong).toEqual([400, ['as_of']]);
      }
      expect((await live.post(`${path}/resolve`, { as_of: wrong })).status, wrong).toBe(400);
    }
    expect(blamedFields(await live.get(`/v1/qrcodes?as_of=${created}&sort=-total_scans`))).toEqual(['sort']);
    expect((await test.get(`${path}?as_of=${created}`)).status).toBe(404);
    await live.delete(path);
    expect((await live.get(`${path}?as_of=${created}`)).status).toBe(404);
    expect((await live.get(`/v1/qrcodes?as_of=${created}`)).body.data).toEqual([]);
  });

  test('scans that the retention has deleted make the count unknown before its cutoff, and known after it', async () => {
    const { live, code, path } = await given();
    for (const visitor of [1, 2]) await scan(code, visitor);
    await eventually(async () => expect((await live.get(path)).body.total_scans).toBe(2));
    const early = tick();
    const cutoff = tick();
    const { sql } = service.database;
    // As after a run that deleted one scan of before the cutoff.
    await sql`INSERT INTO dropped_scans (code, total_scans, unique_scans) VALUES (${code.id}, 1, 1)`;
    await sql`
      INSERT INTO scan_retention (run, before, up_to, done_to, scans, cut_short, started_at, done_at)
      VALUES (1, ${cutoff}, 0, 0, 1, false, now(), now())`;
    expect((await live.get(`${path}?as_of=${early}`)).body).toMatchObject({ total_scans: null, unique_scans: null });
    expect((await live.get(`/v1/qrcodes?as_of=${early}`)).body.data[0].total_scans).toBeNull();
    await scan(code, 3);
    await eventually(async () => expect((await live.get(path)).body.total_scans).toBe(3));
    await eventually(async () =>
      expect((await live.get(`${path}?as_of=${cutoff}`)).body).toMatchObject({ total_scans: 2, unique_scans: 2 }),
    );
    await sql`DELETE FROM dropped_scans`;
    await sql`DELETE FROM scan_retention`;
  });

  test.each([
    { url: 'https://blocked.example/x', host: 'blocked.example', recorded: 'blocked.example' },
    // As an earlier version has recorded it.
    { url: 'http://[::ffff:203.0.113.5]/', host: '203.0.113.5', recorded: '[::ffff:cb00:7105]' },
  ])('$recorded, blocked then, disables a code as of then', async ({ url, host, recorded }) => {
    const { live, path } = await given({ destination_url: url });
    const free = tick();
    await block(service.database.sql, recorded, now);
    const blocked = tick();
    await unblock(service.database.sql, host, now);
    const disabled = async (at: string) => (await live.get(`${path}?as_of=${at}`)).body.disabled?.at;
    expect([await disabled(free), await disabled(blocked), await disabled(tick())]).toEqual([
      ...[undefined, blocked, undefined],
    ]);
  });
});

describe('If-Match', () => {
  const writes: [string, (api: Api, path: string, headers: Record<string, string>) => Promise<Json>][] = [
    ['PATCH', (api, path, headers) => api.send(path, { method: 'PATCH', body: '{"name":"Mine"}', headers })],
    [
      'restore',
      (api, path, headers) => api.send(`${path}/restore`, { method: 'POST', body: '{"version":1}', headers }),
    ],
    ['DELETE', (api, path, headers) => api.send(path, { method: 'DELETE', headers })],
  ];

  test.each(writes)('%s is done only for the version it names', async (_, write) => {
    const { live, path } = await given();
    const { headers, body } = await live.patch(path, { name: 'New' });
    expect([headers.get('etag'), body.version]).toEqual(['"2"', undefined]);
    const send = (tag: string) => write(live, path, { 'content-type': 'application/json', 'if-match': tag });
    for (const tag of ['"1"', '"1", "3"', 'W/"2"', '"2,3"', '""']) {
      const response = await send(tag);
      expect([response.status, response.body.error.code, response.headers.get('etag')], tag).toEqual([
        ...[412, 'version_mismatch', '"2"'],
      ]);
    }
    for (const malformed of ['2', '"2', '2"', '"1" "2"', ',', 'w/"2"', '*, "2"'])
      expect([malformed, (await send(malformed)).status]).toEqual([malformed, 400]);
    expect((await live.get(path)).body).toMatchObject({ name: 'New', version: 2 });
    expect((await send('"1",, W/"7" , "2"')).status).toBe(200);
  });

  test('* and no header match any version; a code that is gone is 404 whatever the tag', async () => {
    const { live, path } = await given();
    const headers = { 'content-type': 'application/json', 'if-match': '*' };
    expect((await live.send(path, { method: 'PATCH', body: '{"name":"A"}', headers })).headers.get('etag')).toBe('"2"');
    const { headers: read } = await live.get(path, { 'if-none-match': '"2"' });
    expect(read.get('etag')).toBe('"2"');
    expect((await live.send(path, { method: 'DELETE', headers })).status).toBe(200);
    expect((await live.send(path, { method: 'DELETE', headers: { 'if-match': '"9"' } })).status).toBe(404);
  });

  test('of many changes of one version at once, one is made', async () => {
    const { live, path } = await given();
    const responses = await atOnce(8, (i) =>
      live.send(path, {
        method: 'PATCH',
        body: JSON.stringify({ name: `Name ${i}` }),
        headers: { 'content-type': 'application/json', 'if-match': '"1"' },
      }),
    );
    expect(countStatuses(responses)).toEqual({ 200: 1, 412: 7 });
  });
});

describe('restore', () => {
  test('brings everything back but the status, is in the history, and leads scans there at once', async () => {
    const rules = [{ when: { devices: ['desktop'] }, destination_url: url('desk') }];
    const { live, code, path } = await given({ rules, tags: ['a'], expires_at: '2030-01-01T00:00:00Z' });
    const { body: first } = await live.get(path);
    tick();
    await live.patch(path, { name: 'New', destination_url: url('new'), rules: null, tags: ['b'], active: false });
    const { body: changed } = await live.get(path);
    tick();
    const { status, body, headers } = await live.post(`${path}/restore`, { version: 1 });
    expect(status).toBe(200);
    const { version, updated_at, ...content } = body;
    expect({ ...content, status: 'active', active: true }).toEqual({
      ...first,
      version: undefined,
      updated_at: undefined,
    });
    expect([body.status, headers.get('etag'), body.rules]).toEqual(['paused', `"${version}"`, code.rules]);
    const { body: history } = await live.get(`${path}/history`);
    const ofRestore = history.data.slice(0, version - changed.version);
    expect(ofRestore.at(-1)).toMatchObject({ event: 'code_restored', field: 'version', from: null, to: 1 });
    expect(ofRestore.map(({ event }: Json) => event).toReversed()).toEqual([
      ...['code_restored', 'code_renamed', 'destination_changed', 'rules_changed', 'tags_changed'],
    ]);
    await live.patch(path, { active: true });
    expect(await scan(code, 4)).toBe(url('desk'));

    const again = await live.post(`${path}/restore`, { version: 1 });
    expect(again.body.version, 'nothing to change').toBe(version + 1);
    expect(await readStream(service.database.sql, code.id)).toHaveLength(version + 1);
  });

  test('an unknown version and a code that is gone are 404, nonsense is 400', async () => {
    const { live, test, path } = await given();
    expect(message(await live.post(`${path}/restore`, { version: 2 }))).toEqual([
      ...[404, 'not_found', 'This QR code has no version 2: its newest is 1.'],
    ]);
    for (const version of [0, -1, 1.5, '1', null, 2 ** 40])
      expect((await live.post(`${path}/restore`, { version })).status, String(version)).toBe(400);
    expect((await live.post(`${path}/restore`, {})).status).toBe(400);
    expect((await test.post(`${path}/restore`, { version: 1 })).status).toBe(404);
    await live.delete(path);
    expect((await live.post(`${path}/restore`, { version: 1 })).status).toBe(404);
  });

  test('a URL on a host that was blocked since is refused, unless the code still has it', async () => {
    const { live, path } = await given({ destination_url: 'https://evil.example/x', fallback_url: url('closed') });
    await live.patch(path, { destination_url: url('good'), fallback_url: 'https://evil.example/y' });
    await block(service.database.sql, 'evil.example', now);
    const response = await live.post(`${path}/restore`, { version: 1 });
    expect([response.status, response.body.error.code]).toEqual([400, 'destination_blocked']);
    expect(blamedFields(response)).toEqual(['destination_url']);
    expect((await live.post(`${path}/restore`, { version: 2 })).body.fallback_url).toBe(url('closed'));
    await unblock(service.database.sql, 'evil.example', now);
  });
});

describe('revert', () => {
  test('undoes what a revoked key did, in one step that a dry run shows before', async () => {
    const { live, code, path, id } = await given({ max_scans: 5 });
    const other = await created(live, { name: 'Other' });
    const gone = await created(live, { name: 'Gone' });
    const key = (await live.post('/v1/account/keys', { name: 'Leaked', mode: 'live' })).body;
    const leaked = service.client(0, key.key);
    const from = tick();
    await leaked.patch(path, { destination_url: url('evil'), max_scans: null });
    await leaked.patch(`/v1/qrcodes/${other.id}`, { name: 'Hacked', destination_url: url('evil'), active: false });
    const phishing = await created(leaked, { name: 'Phishing' });
    await leaked.delete(`/v1/qrcodes/${gone.id}`);
    expect(await scan(code, 1)).toBe(url('evil'));
    await live.delete(`/v1/account/keys/${key.id}`);
    tick();
    await live.patch(`/v1/qrcodes/${other.id}`, { name: 'Mine' });
    tick();

    const request = { actor: key.id, from };
    const versions = async () =>
      Promise.all([code, other, phishing].map(async ({ id }) => (await live.get(`/v1/qrcodes/${id}`)).body.version));
    const before = await versions();
    const dry = await live.post('/v1/account/revert', { ...request, dry_run: true });
    expect(dry.status).toBe(200);
    const change = (qr_id: string, name: string, field: string, from: unknown, to: unknown) => ({
      qr_id,
      name,
      field,
      from,
      to,
    });
    expect(dry.body.changes).toHaveLength(5);
    expect(dry.body.changes).toEqual(
      expect.arrayContaining([
        change(phishing.id, 'Phishing', 'status', 'active', 'paused'),
        change(other.id, 'Mine', 'destination_url', url('evil'), url('menu')),
        change(other.id, 'Mine', 'status', 'paused', 'active'),
        change(code.id, 'Menu', 'destination_url', url('evil'), url('menu')),
        change(code.id, 'Menu', 'max_scans', null, 5),
      ]),
    );
    const secretFree = (await live.get('/v1/account/keys')).body.data.find(({ mode }: Json) => mode === 'live').id;
    expect(dry.body.skipped).toEqual([
      { qr_id: gone.id, reason: 'It was deleted in this period, and a deleted code cannot be brought back.' },
      { qr_id: other.id, reason: `name was changed later by ${secretFree}: that value is kept.` },
    ]);
    expect(await versions()).toEqual(before);

    const done = await live.post('/v1/account/revert', request);
    expect(done.body).toEqual(dry.body);
    expect(await scan(code, 1)).toBe(url('menu'));
    await eventually(async () =>
      expect((await live.get(path)).body).toMatchObject({ max_scans: 5, remaining_scans: 3, total_scans: 2 }),
    );
    expect((await live.get(`/v1/qrcodes/${phishing.id}`)).body.status).toBe('paused');
    const [last] = (await readStream(service.database.sql, id)).slice(-1);
    expect(last).toMatchObject({
      type: 'account_reverted',
      actor: secretFree,
      data: { mode: 'live', actor: key.id, from, changed: 3, skipped: 2 },
    });
    const again = await live.post('/v1/account/revert', request);
    expect([again.body.changes, again.body.skipped]).toEqual([[], dry.body.skipped]);
  });

  test('is refused for a period or key that makes no sense, and another account or mode has no such key', async () => {
    const { live, test } = await given();
    const { live: stranger } = await given();
    const { data: keys } = (await live.get('/v1/account/keys')).body;
    const [liveKey, testKey] = ['live', 'test'].map((mode) => keys.find((key: Json) => key.mode === mode).id);
    const from = now.toISOString();
    const post = (api: Api, body: object) => api.post('/v1/account/revert', { actor: liveKey, from, ...body });
    const later = new Date(now.getTime() + 1).toISOString();
    for (const body of [
      { actor: 'operator' },
      { from: 'today' },
      { from: later },
      { to: '2020-01-01T00:00:00Z' },
      { x: 1 },
    ])
      expect((await post(live, body)).status, JSON.stringify(body)).toBe(400);
    expect((await post(stranger, {})).status).toBe(404);
    expect((await post(test, {})).status, 'a test key does not learn of live keys').toBe(404);
    expect(message(await post(live, { actor: testKey }))[2]).toContain('send the request with a test key');
    expect((await post(test, { actor: testKey })).body).toEqual({ changes: [], skipped: [] });
  });

  test('error: 409 while another revert of the account is running', async () => {
    const { live, code, path } = await given();
    const key = (await live.post('/v1/account/keys', { name: 'Script', mode: 'live' })).body;
    const from = tick();
    await service.client(0, key.key).patch(path, { destination_url: url('evil') });
    tick();
    const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // The revert that comes first waits for the row of the code.
    const holding = service.database.sql.begin(async (tx) => {
      await tx`SELECT FROM codes WHERE id = ${code.id} FOR UPDATE`;
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    const responses = [1, 2].map(() => live.post('/v1/account/revert', { actor: key.id, from }));
    const refused = await Promise.race(responses);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([409, '5']);
    expect(refused.body.error.message).toContain('Another revert of the account is running');
    release.resolve();
    await holding;
    expect((await Promise.all(responses)).map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('two reverts and other changes at once leave every code with one undo', async () => {
    const { live, code, path } = await given();
    const key = (await live.post('/v1/account/keys', { name: 'Script', mode: 'live' })).body;
    const from = tick();
    await service.client(0, key.key).patch(path, { destination_url: url('evil') });
    tick();
    const responses = await Promise.all([
      ...[1, 2, 3].map(() => live.post('/v1/account/revert', { actor: key.id, from })),
      live.patch(path, { tags: ['mine'] }),
    ]);
    for (const { status } of responses) expect([200, 409]).toContain(status);
    await eventually(async () => {
      expect((await live.post('/v1/account/revert', { actor: key.id, from })).status).toBe(200);
      expect((await live.get(path)).body.destination_url).toBe(url('menu'));
    });
    const changes = await readStream(service.database.sql, code.id);
    expect(changes.filter(({ type }) => type === 'destination_changed')).toHaveLength(2);
  });
});
