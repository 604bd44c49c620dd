import { describe, expect, test } from 'vitest';
import { startProxy } from '../../bench/chaos/proxy.ts';
import type { CodeEvent } from '../../events/code-events.ts';
import type { Recorded } from '../../events/recorded.ts';
import { remove } from '../../src/codes/change.ts';
import { newId, newShortCode } from '../../src/lib/ids.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { timeouts } from '../../src/lib/timeouts.ts';
import { connect } from '../../src/log/connect.ts';
import { useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { manualTimers } from '../support/timers.ts';
import { by, codesIn, loadRoute, type Owned } from './routes-support.ts';

const database = useDatabase();
const { given, patch, routesOn, slow } = codesIn(database);

describe('routes', () => {
  test('concurrent misses need one query, and a hit none', async () => {
    const { sql, queries } = slow();
    const routes = routesOn(sql);
    const codes = [await given(), await given(), await given()];
    const found = await Promise.all([...codes, ...codes].map(({ short_code }) => routes.load(short_code)));
    expect(found.map((route) => (route === 'unknown' ? route : route.code))).toEqual(
      [...codes, ...codes].map(({ id }) => id),
    );
    expect(queries(), 'all lookups share one query').toBe(1);
    expect(routes.get(codes[0]?.short_code ?? '')).toMatchObject({ code: codes[0]?.id, status: 'active' });
  });

  test('follow every change of a code', async () => {
    const code = await given({ status: 'draft' });
    const routes = routesOn();
    expect(await loadRoute(routes, code.short_code)).toMatchObject({ status: 'draft', revision: 1 });
    for (const [wanted, expected] of [
      [{ active: true }, { status: 'active' }],
      [{ active: false }, { status: 'paused' }],
      [{ active: true }, { status: 'active' }],
      [{ destination_url: 'https://example.com/2' }, { location: 'https://example.com/2', revision: 2 }],
      [{ name: 'Another' }, { location: 'https://example.com/2', revision: 2 }],
    ] as const) {
      routes.apply(await patch(code, wanted));
      expect(routes.get(code.short_code), JSON.stringify(wanted)).toMatchObject(expected);
    }
    routes.apply((await remove(database.sql, code.owner, code.id, by)).events);
    const gone = await loadRoute(routes, code.short_code);
    expect(gone.status).toBe('deleted');
    expect(gone.sealed_key, 'the visitor key is deleted with the code').toHaveLength(0);
  });

  test('a reload accepts older versions from Postgres', async () => {
    const [code, lost] = [await given(), await given()];
    const routes = routesOn();
    await loadRoute(routes, code.short_code);
    await loadRoute(routes, lost.short_code);
    routes.apply(
      (await patch(code, { destination_url: 'https://example.com/2' })).map((event) => ({ ...event, version: 2 })),
    );
    // The state of a replica that was promoted without the last events.
    await database.sql`UPDATE codes SET destination_url = 'https://example.com/1', version = 1 WHERE id = ${code.id}`;
    await database.sql`DELETE FROM codes WHERE id = ${lost.id}`;
    await routes.refresh();
    expect(routes.get(code.short_code), 'a refresh keeps what is newer').toMatchObject({ version: 2 });
    await routes.reload();
    expect(routes.get(code.short_code)).toMatchObject({ location: 'https://example.com/1', version: 1 });
    expect(await routes.load(lost.short_code)).toBe('unknown');
    expect(routes.earlier(lost.short_code)).toBeUndefined();
  });

  test('two changes in the wrong order are both applied', async () => {
    const code = await given();
    const routes = routesOn();
    await loadRoute(routes, code.short_code);
    const retargeted = await patch(code, { destination_url: 'https://example.com/2' });
    const renamed = await patch(code, { name: 'Another' });
    routes.apply(renamed);
    routes.apply(retargeted);
    expect(await loadRoute(routes, code.short_code)).toMatchObject({ location: 'https://example.com/2', version: 3 });
  });

  test('a missed change is detected by the next one', async () => {
    const code = await given();
    const routes = routesOn();
    await loadRoute(routes, code.short_code);
    await patch(code, { destination_url: 'https://example.com/2' });
    routes.apply(await patch(code, { name: 'Another' }));
    expect(await loadRoute(routes, code.short_code)).toMatchObject({ location: 'https://example.com/2', version: 3 });
  });

  test('repeated and outdated changes are ignored', async () => {
    const code = await given();
    const routes = routesOn();
    const first = await patch(code, { destination_url: 'https://example.com/2' });
    const second = await patch(code, { destination_url: 'https://example.com/3' });
    await loadRoute(routes, code.short_code);
    routes.apply([...second, ...first, ...first]);
    expect(routes.get(code.short_code)).toMatchObject({ location: 'https://example.com/3', revision: 3 });
  });

  test('a route that changes while it is read is not cached in its old state', async () => {
    const { sql, holdBack, release } = slow();
    const routes = routesOn(sql);
    for (const count of [1, 2, 3]) {
      const code = await given();
      const { response: read } = await holdBack(() => routes.load(code.short_code));
      const changes = [
        await patch(code, { destination_url: 'https://example.com/2' }),
        await patch(code, { name: 'Another' }),
        await patch(code, { active: false }),
      ];
      // All changes, or only the last ones because the first were lost.
      routes.apply(changes.slice(-count).flat());
      release();
      await read;
      expect(await loadRoute(routes, code.short_code), `${count} of 3 changes applied`).toMatchObject({
        location: 'https://example.com/2',
        status: 'paused',
      });
    }
  });

  test('a lookup after a change does not return what was read before it', async () => {
    const { sql, holdBack, release } = slow();
    const routes = routesOn(sql);
    const code = await given();
    const { response: early } = await holdBack(() => routes.load(code.short_code));
    await patch(code, { destination_url: 'https://example.com/2' });
    const late = routes.load(code.short_code);
    release();
    expect(await early).toMatchObject({ location: 'https://example.com/1' });
    expect(await late).toMatchObject({ location: 'https://example.com/2' });
  });

  test('an unknown code is cached for 2 s, or until it is created', async () => {
    const timers = manualTimers();
    const routes = routesOn(database.sql, { timers });
    const shortCode = newShortCode();
    expect(await routes.load(shortCode)).toBe('unknown');
    expect(routes.get(shortCode)).toBe('unknown');
    timers.advance(2_000);
    expect(routes.get(shortCode), 'is looked up again').toBeUndefined();
    expect(await routes.load(shortCode)).toBe('unknown');
    const { id } = await given({ short_code: shortCode });
    const [created] = await database.sql<Recorded<CodeEvent>[]>`SELECT * FROM events WHERE stream = ${id}`;
    if (created !== undefined) routes.apply([created]);
    expect(routes.get(shortCode), 'is looked up again').toBeUndefined();
    expect(await routes.load(shortCode)).toMatchObject({ code: id });
  });

  test('a code that is created during its lookup is not cached as unknown', async () => {
    const { sql, holdBack, release } = slow();
    const routes = routesOn(sql);
    const shortCode = newShortCode();
    const { response: early } = await holdBack(() => routes.load(shortCode));
    const { id } = await given({ short_code: shortCode });
    const [created] = await database.sql<Recorded<CodeEvent>[]>`SELECT * FROM events WHERE stream = ${id}`;
    if (created !== undefined) routes.apply([created]);
    release();
    await early;
    expect(routes.get(shortCode)).not.toBe('unknown');
  });

  test('the number of cached unknown codes is bounded', async () => {
    const routes = routesOn();
    const guesses = Array.from({ length: 50_000 }, (_, i) => `guess-${i}-x`);
    await Promise.all(guesses.slice(0, 15_000).map((shortCode) => routes.load(shortCode)));
    await Promise.all(guesses.slice(15_000, 30_000).map((shortCode) => routes.load(shortCode)));
    await Promise.all(guesses.slice(30_000).map((shortCode) => routes.load(shortCode)));
    const cached = guesses.filter((guess) => routes.get(guess) === 'unknown').length;
    expect(cached).toBeGreaterThan(0);
    expect(cached).toBeLessThanOrEqual(20_000);
  });

  test('a full cache keeps routes in use and evicts unused ones', async () => {
    const routes = routesOn(database.sql, { maxRoutes: 8 });
    const hot = [await given(), await given(), await given()];
    for (const { short_code } of hot) await routes.load(short_code);
    for (let i = 0; i < 30; i++) {
      for (const { short_code } of hot) expect(routes.get(short_code), `after ${i} others`).toBeDefined();
      const { short_code } = await given();
      expect(await routes.load(short_code)).toMatchObject({ short_code });
      const kept = [...routes.all()].map((route) => route.short_code);
      expect(kept.length).toBeLessThanOrEqual(8);
      expect(kept, 'the newest is cached').toContain(short_code);
    }
  });

  test('a cache is full by bytes, too: routes with large rules leave room for few', async () => {
    const routes = routesOn(database.sql, { maxRouteBytes: 50_000 });
    const plain = [await given(), await given(), await given()];
    for (const { short_code } of plain) await routes.load(short_code);
    const destination_url = `https://example.com/${'x'.repeat(2_000)}`;
    const variant = (id: string) => ({ id, destination_url, weight: 1 });
    const rules = [{ id: 'r1', when: {}, split: Array.from({ length: 8 }, (_, i) => variant(`v${i}`)) }];
    for (let i = 0; i < 3; i++) {
      const large = await given();
      // About 33 kB, parsed and compiled: one fits.
      await patch(large, { rules });
      await routes.load(large.short_code);
      expect(routes.get(large.short_code), 'the newest is cached').toBeDefined();
      expect([...routes.all()].filter(({ targeting }) => targeting !== undefined)).toHaveLength(1);
    }
    routes.apply(await patch(plain[0] as Owned, { name: 'New' }));
    expect([...routes.all()].length).toBeLessThanOrEqual(4);
  });

  test('eviction ends and keeps the newest route even if all are in use', async () => {
    const routes = routesOn(database.sql, { maxRoutes: 40 });
    const codes: string[] = [];
    for (let i = 0; i < 45; i++) {
      codes.push((await given()).short_code);
      await routes.load(codes.at(-1) ?? '');
      for (const code of codes) routes.get(code);
    }
    expect([...routes.all()]).toHaveLength(40);
    expect(routes.get(codes.at(-1) ?? '')).toBeDefined();
  });

  test('a lookup on a dead connection fails, and the next one uses another connection', async () => {
    const proxy = await startProxy(database.url);
    const sql = connect(proxy.url, { max: 2, responseTimeoutMs: 'none' });
    const timers = manualTimers();
    const routes = routesOn(sql, { timers });
    await loadRoute(routes, (await given()).short_code);
    const code = await given();
    proxy.stallConnections('all');
    const stuck = routes.load((await given()).short_code);
    stuck.catch(() => {});
    await eventually(() => expect(timers.waiting, 'its query runs').toBe(1));
    const next = routes.load(code.short_code);
    timers.advance(timeouts.routeLookupMs);
    await expect(stuck).rejects.toThrow('Postgres did not answer a lookup of routes');
    expect(await next).toMatchObject({ code: code.id });
    await proxy.restore();
    await sql.end({ timeout: 1 });
    await proxy.close();
  });

  test('a failed query rejects all its lookups, and the next lookup retries', async () => {
    let fails = true;
    const sql = new Proxy(database.sql, {
      apply: (target, _, args: Parameters<Sql>) => (fails ? Promise.reject(new Error('unavailable')) : target(...args)),
    });
    const routes = routesOn(sql);
    const code = await given();
    const lookups = await Promise.allSettled(
      [code.short_code, code.short_code, newId('qr', 0)].map((shortCode) => routes.load(shortCode)),
    );
    expect(lookups.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    fails = false;
    expect(await routes.load(code.short_code)).toMatchObject({ code: code.id });
  });
});
