import { beforeAll, describe, expect, test } from 'vitest';
import { block, unblock } from '../../src/codes/blocked-hosts.ts';
import { type BulkUpdate, updateMany } from '../../src/codes/bulk-update.ts';
import { created, type Json, newCode } from '../support/api.ts';
import { atOnce, countStatuses } from '../support/http.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ projections: false });
const path = '/v1/qrcodes/bulk-update';

let account: TestAccount;
beforeAll(async () => {
  account = await service.account('enterprise');
});

async function createMany(count: number, fields: (i: number) => Record<string, unknown> = () => ({})) {
  const qrcodes = Array.from({ length: count }, (_, i) => newCode({ name: `Table ${i}`, ...fields(i) }));
  const { body } = await account.live.post('/v1/qrcodes/bulk', { qrcodes });
  return body.data.map(({ id }: Json) => id) as string[];
}

const read = async (id: string) => (await account.live.get(`/v1/qrcodes/${id}`)).body;
const historyOf = async (id: string) => (await account.live.get(`/v1/qrcodes/${id}/history`)).body.data;

describe('happy', () => {
  test('sets values, adds and removes tags, and one revert undoes all of it', async () => {
    const ids = await createMany(3, (i) => ({ tags: ['tables', `t${i}`] }));
    const update = {
      qr_ids: ids,
      set: { destination_url: 'https://example.org/new', active: false, expires_at: '2030-01-01T00:00:00Z' },
      tags: { add: ['Summer', 'tables'], remove: ['t1'] },
    };
    const preview = (await account.live.post(path, { ...update, dry_run: true })).body;
    expect(preview.undo).toBeNull();
    expect(await read(ids[0] ?? ''), 'a dry run changes nothing').toMatchObject({ version: 1, active: true });

    const { status, body } = await account.live.post(path, update);
    expect(status).toBe(200);
    expect(body).toMatchObject({ changed: 3, data: preview.data, skipped: [] });
    expect(body.data[1]).toMatchObject({ qr_id: ids[1], name: 'Table 1' });
    expect(body.data[1].changes.map(({ field }: Json) => field)).toEqual([
      'destination_url',
      'status',
      'schedule',
      'tags',
    ]);
    expect(await read(ids[1] ?? '')).toMatchObject({
      destination_url: 'https://example.org/new',
      active: false,
      expires_at: '2030-01-01T00:00:00.000Z',
      tags: ['tables', 'Summer'],
    });

    const undone = await account.live.post('/v1/account/revert', body.undo);
    expect(undone.body.skipped).toEqual([]);
    for (const [i, id] of ids.entries()) {
      const code = await read(id);
      expect(code).toMatchObject({ active: true, tags: ['tables', `t${i}`] });
      expect(code).not.toHaveProperty('expires_at');
    }
  });

  test('replaces a text in the destination, the fallback and the rules, literally', async () => {
    const [id = '', other = ''] = await createMany(2, (i) =>
      i === 1
        ? { tags: ['moved'], destination_url: 'https://else.example/' }
        : {
            tags: ['moved'],
            destination_url: 'https://old.example/a?to=old.example',
            fallback_url: 'https://old.example/closed',
            rules: [
              { when: { countries: ['DE'] }, destination_url: 'https://old.example/de' },
              { when: { countries: ['FR'] }, destination_url: 'https://fr.example/' },
            ],
          },
    );
    const before = await read(id);
    const { body } = await account.live.post(path, {
      tag: 'MOVED',
      replace: { find: 'old.example', with: "new.example/$&$'" },
    });
    expect(body.skipped).toEqual([{ qr_id: other, reason: 'It already has these values, or nothing to replace.' }]);
    const after = await read(id);
    expect(after).toMatchObject({
      destination_url: "https://new.example/$&$'/a?to=new.example/$&$'",
      fallback_url: "https://new.example/$&$'/closed",
      rules: [{ destination_url: "https://new.example/$&$'/de" }, { destination_url: 'https://fr.example/' }],
    });
    expect(after.rules[0].id, 'leads elsewhere').not.toBe(before.rules[0].id);
    expect(after.rules[1].id).toBe(before.rules[1].id);
  });

  test('finds codes by q, and skips those that have the values, or are drafts', async () => {
    const [paused = '', active = '', draft = ''] = await createMany(3, (i) => ({
      name: `Umbrella ${i}`,
      ...(i === 2 ? { status: 'draft' } : {}),
    }));
    await account.live.patch(`/v1/qrcodes/${paused}`, { active: false });
    const { body } = await account.live.post(path, { q: 'umbrella', set: { active: false } });
    expect(body.data.map(({ qr_id }: Json) => qr_id)).toEqual([active]);
    expect(body.skipped).toEqual([
      { qr_id: draft, reason: 'It is a draft, which cannot be paused.' },
      { qr_id: paused, reason: 'It already has these values, or nothing to replace.' },
    ]);
    expect((await account.live.post(path, { q: 'nothing-has-this', set: { active: true } })).body).toEqual({
      changed: 0,
      data: [],
      skipped: [],
      undo: null,
    });
  });

  test('changes 1,000 codes; no transaction has more than 100 events', async () => {
    await createMany(1_000, () => ({ tags: ['thousand'] }));
    const { body } = await account.live.post(path, {
      tag: 'thousand',
      set: { destination_url: 'https://example.org/all', active: false, expires_at: '2030-01-01T00:00:00Z' },
    });
    expect(body.changed).toBe(1_000);
    const sizes = await service.database.sql<{ events: number }[]>`
      SELECT count(*) AS events FROM events WHERE occurred_at = ${body.undo.from} AND actor = ${body.undo.actor}
      GROUP BY xmin`;
    expect(sizes.reduce((sum, { events }) => sum + events, 0)).toBe(3_000);
    expect(Math.max(...sizes.map(({ events }) => events))).toBeLessThanOrEqual(100);
    await createMany(1, () => ({ tags: ['thousand'] }));
    const refused = await account.live.post(path, { tag: 'thousand', set: { active: true } });
    expect(refused.status).toBe(400);
    expect(refused.body.error.details).toMatchObject([{ field: 'tag' }]);
  });
});

describe('error', () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    ['nothing to select by', { set: { active: true } }, ['qr_ids']],
    ['two selections', { tag: 'a', q: 'b', set: { active: true } }, ['qr_ids']],
    ['nothing to change', { tag: 'a' }, ['body']],
    ['an empty set', { tag: 'a', set: {} }, ['body']],
    ['a field that is not for many', { tag: 'a', set: { name: 'Same' } }, ['set.name']],
    [
      'invalid values',
      { tag: 'a', set: { destination_url: 'ftp://x', starts_at: 'soon' } },
      ['set.destination_url', 'set.starts_at'],
    ],
    ['two ways to change tags', { tag: 'a', set: { tags: ['x'] }, tags: { add: ['y'] } }, ['tags']],
    ['a tag with a control character', { tag: 'a', tags: { add: ['ok', 'a\u0001'] } }, ['tags.add[1]']],
    [
      'a destination that is set and replaced',
      { tag: 'a', set: { destination_url: 'https://a.example' }, replace: { find: 'a', with: 'b' } },
      ['replace'],
    ],
  ])('refuses %s', async (_, body, fields) => {
    const response = await account.live.post(path, body);
    expect(response.status).toBe(400);
    expect(response.body.error.details.map(({ field }: Json) => field)).toEqual(fields);
  });

  test('changes nothing if one code cannot have its new values, and names the code', async () => {
    const [good = '', bad = ''] = await createMany(2, (i) => ({
      ...(i === 1 ? { starts_at: '2029-01-01T00:00:00Z', tags: Array.from({ length: 20 }, (_, n) => `t${n}`) } : {}),
    }));
    for (const [field, update] of [
      ['expires_at', { set: { expires_at: '2028-01-01T00:00:00Z' } }],
      ['tags', { tags: { add: ['one more'] } }],
      ['destination_url', { replace: { find: 'https:', with: 'ftp:' } }],
    ] as const) {
      const { status, body } = await account.live.post(path, { qr_ids: [good, bad], ...update });
      expect(status).toBe(400);
      const errors: Json[] = body.error.details;
      expect(errors.find((error) => error.message.startsWith(bad))).toMatchObject({ field });
    }
    expect(await historyOf(good)).toHaveLength(1);
  });

  test('refuses a destination on a blocked host, set or by a replacement', async () => {
    const { sql } = service.database;
    const ids = await createMany(1, () => ({ destination_url: 'https://fine.example/' }));
    await block(sql, 'blocked.example', new Date());
    for (const update of [
      { set: { destination_url: 'https://blocked.example/' } },
      { replace: { find: 'fine', with: 'www.blocked' } },
    ]) {
      const { body } = await account.live.post(path, { qr_ids: ids, ...update });
      expect(body.error.code).toBe('destination_blocked');
    }
    await unblock(sql, 'blocked.example', new Date());
    expect(await historyOf(ids[0] ?? '')).toHaveLength(1);
  });

  test('an unknown id, another mode or account: 404 with its index', async () => {
    const [id = ''] = await createMany(1);
    const test = await created(account.test);
    const { status, body } = await account.live.post(path, { qr_ids: [id, test.id], set: { active: false } });
    expect(status).toBe(404);
    expect(body.error.details).toMatchObject([{ index: 1, field: 'qr_ids' }]);
  });

  test('a second update of the account meanwhile: 409', async () => {
    await createMany(100, () => ({ tags: ['twice'] }));
    const responses = await atOnce(4, () => account.live.post(path, { tag: 'twice', set: { active: false } }));
    const { 200: done = 0, 409: refused = 0 } = countStatuses(responses);
    expect(done).toBeGreaterThan(0);
    expect(done + refused).toBe(4);
  });

  const moveAll = (ids: string[], actor: string, signal: AbortSignal, onRecorded: BulkUpdate['onRecorded']) => {
    const now = () => new Date();
    const change = { set: { destination_url: 'https://after.example/' } };
    const update = { change, isDryRun: false, signal, ownUrls: [], onRecorded, now };
    return updateMany(service.database.sql, { account: account.id, mode: 'live' }, ids, update, { actor, now: now() });
  };
  const moved = (ids: string[]) => service.database.sql`
    SELECT FROM codes WHERE id = ANY(${ids}) AND destination_url <> 'https://before.example/'`;

  test('a step that fails: the steps before it are undone', async () => {
    const ids = await createMany(120, () => ({ destination_url: 'https://before.example/' }));
    const { sql } = service.database;
    const { key } = await sql<[{ key: string }]>`
      SELECT id AS key FROM api_keys WHERE account = ${account.id} AND mode = 'live'`.then(([row]) => row);
    const recorded: string[][] = [];
    const closing = new AbortController();
    const update = moveAll(ids, key, closing.signal, async (events) => {
      recorded.push(events.map(({ stream }) => stream));
      // A request that is closed now is too late.
      closing.abort();
      // The next step finds a host that is blocked since the check of all codes.
      if (recorded.length === 1) await block(sql, 'after.example', new Date());
    });
    await expect(update).rejects.toMatchObject({ code: 'destination_blocked' });
    await unblock(sql, 'after.example', new Date());
    expect(recorded.length, 'one step, and its revert').toBe(2);
    expect(await moved(ids)).toHaveLength(0);
  });

  test('a request that is closed before the first change changes nothing', async () => {
    const ids = await createMany(2, () => ({ destination_url: 'https://before.example/' }));
    const update = moveAll(ids, 'key_1', AbortSignal.abort(), async () => {});
    await expect(update).rejects.toThrow('The request was closed.');
    expect(await moved(ids)).toHaveLength(0);
  });
});
