import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Route } from '../../projections/routes.ts';
import { readSnapshots, writeSnapshot } from '../../src/edge/snapshot.ts';
import { createSnapshotTask } from '../../src/edge/snapshot-task.ts';
import { createSecretBox } from '../../src/lib/secret-box.ts';
import { created } from '../support/api.ts';
import { useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { testBox } from '../support/secret-box.ts';
import { useService } from '../support/service.ts';
import { codesIn } from './routes-support.ts';

const folders: string[] = [];
function newFolder(...names: string[]): string {
  const parent = mkdtempSync(join(tmpdir(), 'snapshot-'));
  folders.push(parent);
  for (const name of names) mkdirSync(join(parent, name));
  return parent;
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const route = (fields: Partial<Route> = {}): Route => ({
  code: 'qr_1',
  account: 'acct_1',
  mode: 'live',
  short_code: 'menu',
  destination_url: 'https://münchen.de/"a"',
  revision: 1,
  status: 'active',
  disabled: false,
  version: 1,
  sealed_key: testBox.sealVisitorKey(Buffer.alloc(32, 7), 'qr_1'),
  ...fields,
});

describe('a snapshot of routes', () => {
  test('is read as it was written, and is private to the user', async () => {
    const parent = newFolder('edge-0');
    const routes = Array.from({ length: 1_234 }, (_, i) => route({ code: `qr_${i}`, short_code: `menu-${i}` }));
    await writeSnapshot(join(parent, 'edge-0'), testBox, { routes, aliases: [['MENU-1', 'menu-1']] });
    expect([...(await readSnapshots(parent, testBox)).routes]).toEqual(routes);
    expect(statSync(join(parent, 'edge-0', 'routes.jsonl')).mode & 0o777).toBe(0o600);
  });

  test('is merged with others: each route in its newest version', async () => {
    const parent = newFolder('edge-0', 'edge-1');
    await writeSnapshot(join(parent, 'edge-0'), testBox, {
      routes: [route({ version: 3, status: 'paused' }), route({ short_code: 'b' })],
      aliases: [],
    });
    await writeSnapshot(join(parent, 'edge-1'), testBox, {
      routes: [route({ version: 2 }), route({ short_code: 'b', version: 5 })],
      aliases: [],
    });
    expect(
      [...(await readSnapshots(parent, testBox)).routes].map(({ short_code, version }) => [short_code, version]),
    ).toEqual([
      ['menu', 3],
      ['b', 5],
    ]);
  });

  test('may be damaged or missing: valid lines are read', async () => {
    const parent = newFolder('edge-0', 'edge-1');
    await writeSnapshot(join(parent, 'edge-0'), testBox, { routes: [route()], aliases: [] });
    const file = join(parent, 'edge-0', 'routes.jsonl');
    writeFileSync(file, `${readFileSync(file, 'utf8')}{"code":"qr_2","short\n\0\0\0\n[]\nnull\n`);
    expect([...(await readSnapshots(parent, testBox)).routes].map(({ code }) => code)).toEqual(['qr_1']);
    expect([...(await readSnapshots(join(parent, 'none'), testBox)).routes]).toEqual([]);
  });
});

describe('the snapshot of an edge', () => {
  const database = useDatabase();
  const { given, routesOn } = codesIn(database);

  test('is written when one route replaces another, and not without changes', async () => {
    const parent = newFolder('edge-0');
    const routes = routesOn(database.sql, { maxRoutes: 1 });
    const write = createSnapshotTask(join(parent, 'edge-0'), testBox, routes);
    const written = async () => [...(await readSnapshots(parent, testBox)).routes].map(({ short_code }) => short_code);
    const file = () => statSync(join(parent, 'edge-0', 'routes.jsonl')).ino;
    const [first, second] = [await given(), await given()];

    await routes.load(first.short_code);
    await write();
    expect(await written()).toEqual([first.short_code]);
    const before = file();
    await write();
    expect(file(), 'the same file').toBe(before);

    await routes.load(second.short_code);
    await write();
    expect(await written()).toEqual([second.short_code]);
  });
});

describe('a snapshot that cannot be read', () => {
  test('because of a newer version or damage is ignored and reported; others are read', async () => {
    const parent = newFolder('edge-0', 'edge-1', 'edge-2');
    await writeSnapshot(join(parent, 'edge-0'), testBox, { routes: [route()], aliases: [] });
    const newer = join(parent, 'edge-1', 'routes.jsonl');
    writeFileSync(newer, `{"snapshot":99}\n${JSON.stringify({ ...route({ version: 9 }), visitor_key: '07' })}\n`);
    const damaged = join(parent, 'edge-2', 'routes.jsonl');
    writeFileSync(damaged, '\0\0\0\n');
    const ignored: { file: string; error: string }[] = [];
    const routes = [...(await readSnapshots(parent, testBox, (one) => ignored.push(one))).routes];
    expect(routes.map(({ version }) => version)).toEqual([1]);
    expect(ignored.map(({ file }) => file).sort()).toEqual([newer, damaged].sort());
    expect(ignored.find(({ file }) => file === newer)?.error).toMatch(
      /^A snapshot of routes \(version 99, this process reads up to \d+\) was written by a newer version of Scanlog/,
    );
  });
});

describe('the visitor keys in a snapshot', () => {
  test('are encrypted; plain ones of an older version are encrypted when read', async () => {
    const parent = newFolder('edge-0', 'edge-1');
    const plain = '07'.repeat(32);
    const { sealed_key: _, ...older } = route({ code: 'qr_2', short_code: 'older' });
    writeFileSync(join(parent, 'edge-1', 'routes.jsonl'), `${JSON.stringify({ ...older, visitor_key: plain })}\n`);
    await writeSnapshot(join(parent, 'edge-0'), testBox, { routes: [route()], aliases: [] });
    expect(readFileSync(join(parent, 'edge-0', 'routes.jsonl'), 'utf8')).not.toContain(plain);
    for (const { code, sealed_key } of (await readSnapshots(parent, testBox)).routes)
      expect(testBox.openVisitorKey(sealed_key, code).toString('hex')).toBe(plain);
  });

  test('with another SECRET_KEY: the snapshot is ignored and reported', async () => {
    const parent = newFolder('edge-0');
    await writeSnapshot(join(parent, 'edge-0'), createSecretBox('x'.repeat(32)), { routes: [route()], aliases: [] });
    const ignored: string[] = [];
    expect([...(await readSnapshots(parent, testBox, ({ error }) => ignored.push(error))).routes]).toEqual([]);
    expect(ignored).toEqual(['its visitor keys are encrypted with another SECRET_KEY']);
  });
});

describe('snapshots in the folder of a running edge', () => {
  const edgeFolder = newFolder('edge-5');
  const orphan = join(edgeFolder, 'edge-5', 'routes.jsonl');
  writeFileSync(orphan, `${JSON.stringify({ ...route(), visitor_key: '07'.repeat(32) })}\n`);
  const service = useService({ config: { edgeFolder }, edgeIntervals: { pollMs: 2_000, snapshotMs: 50, otherMs: 50 } });

  test('of an edge that no longer runs are removed, because their keys could outlive the codes', async () => {
    await eventually(() => expect(existsSync(orphan)).toBe(false));
  });

  test('do not keep the visitor key of a deleted code', async () => {
    const { live } = await service.account();
    const { id, short_code } = await created(live);
    const [{ key }] = await service.database.sql<
      [{ key: Buffer }]
    >`SELECT sealed AS key FROM visitor_keys WHERE code = ${id}`;
    const written = () => readFileSync(join(edgeFolder, 'edge-0', 'routes.jsonl'), 'utf8');
    await service.client(0).get(`/${short_code}`);
    await eventually(() => expect(written()).toContain(key.toString('hex')));
    await live.delete(`/v1/qrcodes/${id}`);
    await eventually(() => expect(written()).not.toContain(key.toString('hex')));
    expect(written(), 'the route is kept as deleted').toContain('"deleted"');
  });
});
