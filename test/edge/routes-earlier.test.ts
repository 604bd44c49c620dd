import { describe, expect, test } from 'vitest';
import { toLocation } from '../../src/edge/location.ts';
import { type KnownRoute, Routes } from '../../src/edge/routes.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { useDatabase } from '../support/database.ts';
import { testBox } from '../support/secret-box.ts';
import { codesIn, known, type Owned } from './routes-support.ts';

const database = useDatabase();
const { given, patch, routesOn, slow } = codesIn(database);
const parts = () => ({ sql: database.sql, box: testBox, toLocation, metrics: createMetrics() });

describe('routes of an earlier run', () => {
  async function snapshotOf(code: Owned): Promise<KnownRoute> {
    return known(routesOn(), code.short_code);
  }

  test('are there for when Postgres cannot be asked, and follow changes', async () => {
    const code = await given();
    const routes = new Routes({ ...parts(), snapshot: [await snapshotOf(code)] });
    expect(routes.get(code.short_code), 'not known for certain').toBeUndefined();
    expect(routes.earlier(code.short_code)).toMatchObject({ code: code.id, location: 'https://example.com/1' });
    routes.apply(await patch(code, { destination_url: 'https://example.com/2' }));
    expect(routes.earlier(code.short_code)).toMatchObject({ location: 'https://example.com/2' });
  });

  test('that have missed a change are not used', async () => {
    const code = await given();
    const routes = new Routes({ ...parts(), snapshot: [await snapshotOf(code)] });
    await patch(code, { destination_url: 'https://example.com/2' });
    routes.apply(await patch(code, { name: 'Another' }));
    expect(routes.earlier(code.short_code)).toBeUndefined();
  });

  test('are read anew as soon as Postgres answers, and then known', async () => {
    const codes = [await given(), await given()];
    const snapshot = await Promise.all(codes.map(snapshotOf));
    await patch(codes[0] as Owned, { destination_url: 'https://example.com/2' });
    const routes = new Routes({ ...parts(), snapshot });
    await routes.refresh();
    expect(codes.map(({ short_code }) => routes.get(short_code))).toMatchObject([
      { location: 'https://example.com/2' },
      { location: 'https://example.com/1' },
    ]);
    expect(codes.map(({ short_code }) => routes.earlier(short_code))).toEqual([undefined, undefined]);
  });

  test('what was being read when the rest was read anew is read again', async () => {
    const { sql, holdBack, release } = slow();
    const routes = routesOn(sql);
    const code = await given();
    const { answer: read } = await holdBack(() => routes.load(code.short_code));
    // Nobody tells of this change: it stands before the place from which the log is followed.
    await patch(code, { destination_url: 'https://example.com/2' });
    await routes.refresh();
    release();
    expect(await read).toMatchObject({ location: 'https://example.com/2' });
  });
});
