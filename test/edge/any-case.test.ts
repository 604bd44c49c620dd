import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { CodeEvent } from '../../events/code-events.ts';
import type { Recorded } from '../../events/recorded.ts';
import { foldShortCode, isGiven } from '../../events/short-code.ts';
import { applyState, stateTables } from '../../projections/state.ts';
import { remove } from '../../src/codes/change.ts';
import { toLocation } from '../../src/edge/location.ts';
import { RouteLookup } from '../../src/edge/route-lookup.ts';
import { Routes } from '../../src/edge/routes.ts';
import { readSnapshots } from '../../src/edge/snapshot.ts';
import { createSnapshotTask } from '../../src/edge/snapshot-task.ts';
import { Refusal } from '../../src/lib/errors.ts';
import { newId, newShortCode } from '../../src/lib/ids.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { readStream } from '../../src/log/read.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { useDatabase } from '../support/database.ts';
import { testBox } from '../support/secret-box.ts';
import { dumpTable } from '../support/tables.ts';
import { by, codesIn, loadRoute } from './routes-support.ts';

const database = useDatabase();
const { given, patch, routesOn, slow } = codesIn(database);
const parent = mkdtempSync(join(tmpdir(), 'any-case-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const eventsOf = async (id: string) => (await readStream(database.sql, id)) as Recorded<CodeEvent>[];

/** A code as a version without `short_code_given` stored it. */
async function existing(shortCode: string): Promise<string> {
  const id = newId('qr', Date.now());
  const data = {
    account: 'acct_1',
    mode: 'live',
    name: 'Old',
    destination_url: 'https://example.com/old',
    short_code: shortCode,
    status: 'active',
    style: {},
  };
  await database.sql`
    INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
    VALUES (nextval('log_position'), ${newId('evt', Date.now())}, ${id}, 1, 'code_created', 2,
      ${database.sql.json(data)}, 'operator', now())`;
  await database.sql.begin(async (tx) => applyState(tx, await eventsOf(id)));
  return id;
}

const routeIn = async (routes: Routes, shortCode: string) => {
  const found = routes.get(shortCode) ?? (await routes.load(shortCode));
  return found === 'unknown' ? undefined : found.code;
};

describe('a given short code', () => {
  test('agrees with a model under random creates, deletes and scans, on two edges, after a replay', async () => {
    const names = fc.constantFrom('cafe', 'cafe-1', 'Terrace', 'x9Yz');
    const step = fc.record({
      do: fc.constantFrom('create', 'create', 'delete', 'scan', 'scan', 'scan'),
      name: fc.mixedCase(names),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
        const suffix = `-${run++}`;
        const edges = [routesOn(), routesOn()];
        const model = new Map<string, { id: string; owner: { account: string; mode: 'live' } }>();
        for (const { do: action, name } of steps) {
          const shortCode = name + suffix;
          const holder = model.get(foldShortCode(shortCode));
          if (action === 'create') {
            const created = await given({ short_code: shortCode }).catch((error: unknown) => error);
            expect(created instanceof Refusal, 'is taken if and only if it exists in any case').toBe(
              holder !== undefined,
            );
            if (created instanceof Refusal) continue;
            const { id, owner } = created as Awaited<ReturnType<typeof given>>;
            model.set(foldShortCode(shortCode), { id, owner });
            for (const edge of edges) edge.apply(await eventsOf(id));
          } else if (action === 'delete' && holder !== undefined) {
            const { events } = await remove(database.sql, holder.owner, holder.id, by).catch(() => ({ events: [] }));
            for (const edge of edges) edge.apply(events);
          } else for (const edge of edges) expect(await routeIn(edge, shortCode), shortCode).toBe(holder?.id);
        }
      }),
      { numRuns: 8 },
    );
    const dump = async () => Promise.all(Object.keys(stateTables).map((table) => dumpTable(database.sql, table)));
    const before = await dump();
    expect(await replayState(database.sql)).toMatchObject({ corrected: 0 });
    expect(await dump()).toEqual(before);
  });

  test('is found exactly first: a generated code in another case keeps its own route', async () => {
    const generated = await existing('aBcDe23');
    const { id } = await given({ short_code: 'abcde23' });
    const routes = routesOn();
    expect(await routeIn(routes, 'aBcDe23')).toBe(generated);
    expect(await routeIn(routes, 'abcde23')).toBe(id);
    expect(await routeIn(routes, 'ABCDE23')).toBe(id);
    expect(await routeIn(routesOn(), 'ABCDE23'), 'also without the others in memory').toBe(id);
  });

  test('costs one query when it is requested exactly, and none when it was requested in that case before', async () => {
    const { sql, queries } = slow();
    const routes = routesOn(sql);
    const { id } = await given({ short_code: 'one-query' });
    await routes.load('one-query');
    expect(queries()).toBe(1);
    expect(await routeIn(routes, 'One-Query')).toBe(id);
    const before = queries();
    expect(await routeIn(routes, 'One-Query')).toBe(id);
    expect(queries()).toBe(before);
  });

  test('that is created during a lookup in another case is not cached as unknown', async () => {
    const { sql, holdBack, release } = slow();
    const routes = routesOn(sql);
    const { response: early } = await holdBack(() => routes.load('DURING-LOOKUP'));
    const { id } = await given({ short_code: 'during-lookup' });
    routes.apply(await eventsOf(id));
    release();
    await early;
    expect(await routeIn(routes, 'DURING-LOOKUP')).toBe(id);
  });

  test('follows changes when it is requested in another case, and is found after a reload', async () => {
    const code = await given({ short_code: 'follows-changes' });
    const routes = routesOn();
    await loadRoute(routes, 'Follows-Changes');
    routes.apply(await patch(code, { destination_url: 'https://example.com/2' }));
    expect(routes.get('Follows-Changes')).toMatchObject({ location: 'https://example.com/2' });
    const snapshot = { routes: [...routes.all()], aliases: [...routes.aliases()] };
    const restarted = new Routes({ sql: database.sql, box: testBox, toLocation, metrics: createMetrics(), snapshot });
    expect(restarted.earlier('Follows-Changes'), 'while Postgres does not answer').toMatchObject({ code: code.id });
    await routes.reload();
    expect(routes.get('Follows-Changes')).toMatchObject({ code: code.id });
  });
});

describe('codes of earlier versions', () => {
  test('that differ only in case stay two codes; any other case leads to the first', async () => {
    const first = await existing('Old-Menu');
    const second = await existing('old-menu');
    const routes = routesOn();
    expect(await routeIn(routes, 'Old-Menu')).toBe(first);
    expect(await routeIn(routes, 'old-menu')).toBe(second);
    expect(await routeIn(routes, 'OLD-MENU')).toBe(first);
    await expect(given({ short_code: 'OLD-menu' })).rejects.toThrow('is taken by');
    expect(await replayState(database.sql)).toMatchObject({ corrected: 0 });
  });

  test('count as given by one rule in Postgres and in memory', async () => {
    const codes = [
      ...['menu', 'Terrace', 'TERRACE', 'terrace', 'tErrace', 'aBcDe23', 'summer2', 'm-n', 'abcdefgh', 'l0Oabcd'],
      ...Array.from({ length: 200 }, newShortCode),
    ].flatMap((short_code) => [true, false, null].map((short_code_given) => ({ short_code, short_code_given })));
    const rows = await database.sql<{ folded: string | null }[]>`
      SELECT folded_given_code(c ->> 'short_code', (c ->> 'short_code_given')::boolean) AS folded
      FROM jsonb_array_elements(${database.sql.json(codes)}) WITH ORDINALITY AS e (c, number) ORDER BY number`;
    expect(rows.map(({ folded }) => folded)).toEqual(
      codes.map((code) => (isGiven(code) ? foldShortCode(code.short_code) : null)),
    );
    const unrecorded = (short_code: string) => isGiven({ short_code, short_code_given: null });
    expect(['menu', 'Terrace', 'TERRACE', 'm-n', 'abcdefgh', 'l0Oabcd'].every(unrecorded)).toBe(true);
    expect(['tErrace', 'aBcDe23', 'summer2'].some(unrecorded)).toBe(false);
  });
});

describe('without Postgres, from the snapshot of an earlier run', () => {
  test('a code is found in the cases in which it was requested before', async () => {
    const folder = join(parent, 'edge-0');
    mkdirSync(folder);
    const { id } = await given({ short_code: 'printed-before' });
    const running = routesOn();
    await loadRoute(running, 'Printed-Before');
    await createSnapshotTask(folder, testBox, running)();

    const sql = new Proxy(database.sql, { apply: () => Promise.reject(new Error('unavailable')) }) as Sql;
    const snapshot = await readSnapshots(parent, testBox);
    const restarted = new Routes({ sql, box: testBox, toLocation, metrics: createMetrics(), snapshot });
    const lookup = new RouteLookup(restarted, { loaded: () => Promise.resolve() } as never);
    expect(await lookup.load('Printed-Before')).toMatchObject({ code: id });
    expect(await lookup.load('printed-before')).toMatchObject({ code: id });
    await expect(lookup.load('PRINTED-BEFORE'), 'another code may have it').rejects.toThrow('unavailable');
  });
});
