import { describe, expect, test } from 'vitest';
import { toLocation } from '../../src/edge/location.ts';
import { type KnownRoute, Routes } from '../../src/edge/routes.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { useDatabase } from '../support/database.ts';
import { testBox } from '../support/secret-box.ts';
import { codesIn, loadRoute, type Owned } from './routes-support.ts';

const database = useDatabase();
const { given, patch, routesOn, slow } = codesIn(database);
const parts = () => ({ sql: database.sql, box: testBox, toLocation, metrics: createMetrics() });

describe('routes of an earlier run', () => {
  async function snapshotOf(code: Owned): Promise<KnownRoute> {
    return loadRoute(routesOn(), code.short_code);
  }

  test('are available while Postgres is not, and follow changes', async () => {
    const code = await given();
    const routes = new Routes({ ...parts(), snapshot: { routes: [await snapshotOf(code)], aliases: [] } });
    expect(routes.get(code.short_code), 'it may be outdated').toBeUndefined();
    expect(routes.earlier(code.short_code)).toMatchObject({ code: code.id, location: 'https://example.com/1' });
    routes.apply(await patch(code, { destination_url: 'https://example.com/2' }));
    expect(routes.earlier(code.short_code)).toMatchObject({ location: 'https://example.com/2' });
  });

  test('that have missed a change are not used', async () => {
    const code = await given();
    const routes = new Routes({ ...parts(), snapshot: { routes: [await snapshotOf(code)], aliases: [] } });
    await patch(code, { destination_url: 'https://example.com/2' });
    routes.apply(await patch(code, { name: 'Another' }));
    expect(routes.earlier(code.short_code)).toBeUndefined();
  });

  test('are replaced by a refresh from Postgres', async () => {
    const codes = [await given(), await given()];
    const snapshot = await Promise.all(codes.map(snapshotOf));
    await patch(codes[0] as Owned, { destination_url: 'https://example.com/2' });
    const routes = new Routes({ ...parts(), snapshot: { routes: snapshot, aliases: [] } });
    await routes.refresh();
    expect(codes.map(({ short_code }) => routes.get(short_code))).toMatchObject([
      { location: 'https://example.com/2' },
      { location: 'https://example.com/1' },
    ]);
    expect(codes.map(({ short_code }) => routes.earlier(short_code))).toEqual([undefined, undefined]);
  });

  test('a lookup that overlaps a refresh is repeated', async () => {
    const { sql, holdBack, release } = slow();
    const routes = routesOn(sql);
    const code = await given();
    const { response: read } = await holdBack(() => routes.load(code.short_code));
    // This change is not applied as an event, because it precedes the position from which the log is followed.
    await patch(code, { destination_url: 'https://example.com/2' });
    await routes.refresh();
    release();
    expect(await read).toMatchObject({ location: 'https://example.com/2' });
  });
});
