import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { appendScans, batchOf } from '../../../src/log/append-scans.ts';
import { locks } from '../../../src/log/locks.ts';
import { exportAccount } from '../../../src/maintenance/portable/export.ts';
import { created } from '../../support/api.ts';
import { command } from '../../support/command.ts';
import { createDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { runScanlog } from '../../support/scanlog.ts';
import { scanned } from '../../support/scans.ts';
import { testBox } from '../../support/secret-box.ts';
import { testSecretKey, useService } from '../../support/service.ts';

const service = useService({ projections: false });
const folder = mkdtempSync(join(tmpdir(), 'scanlog-killed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const scans = 500;

test('an import of an account that is killed leaves it hidden, and the next one completes it', async () => {
  const { id: account, live } = await service.account();
  const { id: code } = await created(live);
  const { sql } = service.database;
  await appendScans(
    sql,
    batchOf(
      'w',
      1,
      Array.from({ length: scans }, () => scanned({ code, account })),
    ),
  );
  const file = join(folder, 'whole.account');
  const { key, entries } = await exportAccount(file, { sql, box: testBox, account, now: new Date() });
  const target = await createDatabase();
  const args = ['account', 'import', file, '--key', key, '--json', '--data', folder];
  const environment = { DATABASE_URL: target.url, SECRET_KEY: testSecretKey };
  try {
    // It waits for the lock with its first chunk.
    const killed = await target.sql.begin(async (gate) => {
      await gate`SELECT pg_advisory_xact_lock(${locks.append})`;
      const running = runScanlog(args, environment);
      await eventually(async () => {
        const waiting = await target.sql`
          SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${locks.append} AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
        expect(waiting, running.output()).toHaveLength(1);
      });
      running.signal('SIGKILL');
      return running;
    });
    await killed.exitCode();
    expect(await target.sql`SELECT id FROM accounts UNION ALL SELECT id FROM api_keys`).toEqual([]);
    expect(await target.sql`SELECT account FROM account_imports WHERE done_at IS NULL`).toEqual([{ account }]);
    // Postgres finds out a little later that the process is gone.
    await eventually(async () => {
      const { code: exit, output } = await command(args, environment);
      expect([exit, output]).toEqual([0, expect.stringContaining(`"entries":${entries}`)]);
    });
    const [counts] = await target.sql`
      SELECT (SELECT count(*) FROM scans WHERE account = ${account}) AS scans, (SELECT count(DISTINCT id) FROM scans) AS ids`;
    expect(counts).toEqual({ scans, ids: scans });
  } finally {
    await target.drop();
  }
});

test('an import of links that is killed leaves whole codes, and the next one brings the rest', async () => {
  const { id: account } = await service.account('enterprise');
  const { sql } = service.database;
  const rows = Array.from({ length: 600 }, (_, i) => `killed-${i},https://example.com/${i}`);
  const file = join(folder, 'links.csv');
  writeFileSync(file, ['slug,url', ...rows].join('\n'));
  const args = ['import', 'csv', file, '--account', account, '--json', '--data', folder];
  const environment = { DATABASE_URL: service.database.url, SECRET_KEY: testSecretKey };
  const running = runScanlog(args, environment);
  const importedNow = async () => (await sql`SELECT code FROM imports WHERE account = ${account}`).length;
  await eventually(async () => expect(await importedNow(), running.output()).toBeGreaterThan(0));
  running.signal('SIGKILL');
  await running.exitCode();
  const { output } = await command(args, environment);
  const totals = JSON.parse(output.trim().split('\n').at(-1) ?? '');
  expect(totals).toMatchObject({ imported: 600 - totals.unchanged, refused: 0 });
  expect(totals.unchanged % 100, 'whole batches').toBe(0);
  const [counts] = await sql`
    SELECT count(*) AS codes, count(DISTINCT i.source_id) AS links, count(v.code) AS keys FROM codes c
    LEFT JOIN imports i ON i.code = c.id LEFT JOIN visitor_keys v ON v.code = c.id WHERE c.account = ${account}`;
  expect(counts).toEqual({ codes: 600, links: 600, keys: 600 });
});

test('an export that is killed leaves no file but one that ends in .part, and the next one is complete', async () => {
  const { id: account, live } = await service.account();
  await created(live);
  const environment = { DATABASE_URL: service.database.url, SECRET_KEY: testSecretKey };
  const file = join(folder, 'cut.account');
  const args = ['account', 'export', account, file, '--json', '--data', folder];
  const left = () => readdirSync(folder).filter((name) => name.startsWith('cut.account'));
  // It waits for the table.
  await service.database.sql.begin(async (gate) => {
    await gate`LOCK TABLE visitor_keys IN ACCESS EXCLUSIVE MODE`;
    const running = runScanlog(args, environment);
    await eventually(() => expect(left(), running.output()).toEqual([expect.stringMatching(/\.part$/)]));
    running.signal('SIGKILL');
    await running.exitCode();
  });
  expect(left()).toEqual([expect.stringMatching(/\.part$/)]);
  const { code, output } = await command(args, environment);
  expect([code, output]).toEqual([0, expect.stringContaining('"key"')]);
  expect(left()).toContain('cut.account');
});
