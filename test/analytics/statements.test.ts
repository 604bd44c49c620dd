import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { type ClickHouseProxy, startClickHouseProxy } from '../../bench/chaos/clickhouse-proxy.ts';
import { lineFields, lineOf } from '../../events/scan-line.ts';
import { connectWarehouse, type Warehouse } from '../../src/analytics/connect.ts';
import { readChunk } from '../../src/analytics/export.ts';
import { windowsOf } from '../../src/analytics/export-windows.ts';
import { readFigures } from '../../src/analytics/figures.ts';
import { scanTables } from '../../src/analytics/scan-tables.ts';
import type { Selection } from '../../src/analytics/selection.ts';
import { uniqueName } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { scanned } from '../support/scans.ts';

let proxy: ClickHouseProxy;
let warehouse: Warehouse;
let sent: { statement: string; fields: URLSearchParams }[] = [];

beforeAll(async () => {
  const { clickhouseUrl } = inject('stack');
  proxy = await startClickHouseProxy(clickhouseUrl, {
    onStatement: (_, statement, fields) => void sent.push({ statement, fields }),
  });
  const clickhouseDatabase = uniqueName();
  warehouse = connectWarehouse({ clickhouseUrl: proxy.url, clickhouseDatabase, clickhouseCluster: undefined });
});
beforeEach(() => {
  sent = [];
});
afterAll(async () => {
  await warehouse.client.command({ query: `DROP DATABASE IF EXISTS ${warehouse.database}` });
  await warehouse.client.close();
  await proxy.stop();
});

const sentLike = (pattern: RegExp) => sent.filter(({ statement }) => pattern.test(statement.trim()));
/** The value of a setting in each statement that matches the pattern. */
const settingOf = (name: string, pattern: RegExp) => sentLike(pattern).map(({ fields }) => fields.get(name));
const codes = ['qr_a', 'qr_b'].map((code): [string, string, string] => ['acct', 'live', code]);
const reading = () => ({ warehouse, version: 1, signal: new AbortController().signal });
const selection = (selected: Selection['codes']): Selection => ({
  account: 'acct',
  mode: 'live',
  codes: selected,
  bots: 'include',
  start: new Date(Date.now() - 86_400_000),
  end: new Date(Date.now() + 86_400_000),
});

/** The first read of its kind can exceed the read timeout, because the engine in WebAssembly compiles it. */
const readWithRetries = <T>(read: () => Promise<T>) => eventually(read);

const insert = (version: number) => {
  const scans = codes.map(([account, , code], i) => ({
    ...scanned({ account, code }),
    type: 'code_scanned' as const,
    position: i + 1,
    is_unique: true,
  }));
  const lines = scans.map((scan) => `${lineOf(scan)}\n`).join('');
  return scanTables(warehouse).insert(version, { fields: lineFields, lines }, uniqueName());
};

test('creating a table creates its database only when that is missing', async () => {
  const database = uniqueName();
  const tables = scanTables({ ...warehouse, database });
  await tables.create(1);
  expect(sentLike(/^CREATE DATABASE/)).toHaveLength(1);
  await tables.create(2);
  expect(sentLike(/^CREATE DATABASE/)).toHaveLength(1);
  expect(sentLike(/^CREATE TABLE/)).toHaveLength(2);
  await tables.drop(2);
  await tables.drop(1);
  const ddl = /^(CREATE|DROP)/;
  expect(new Set(settingOf('distributed_ddl_output_mode', ddl))).toEqual(new Set(['null_status_on_timeout']));
  expect(Math.max(...settingOf('distributed_ddl_task_timeout', ddl).map(Number))).toBeLessThan(60);
  expect(settingOf('max_table_size_to_drop', /^DROP/)).toEqual(['0', '0']);
  await warehouse.client.command({ query: `DROP DATABASE ${database}` });
});

test('reads are consistent, and complete before their status is sent; exports check their length instead', async () => {
  const tables = scanTables(warehouse);
  await tables.create(3);
  await insert(3);
  await tables.count(3);
  const chunk = { format: 'csv', withCode: false, withLeads: false, upTo: 10, after: undefined, limit: 10 } as const;
  await readWithRetries(() => readFigures({ ...reading(), version: 3 }, selection({ only: 'qr_a' })));
  await readWithRetries(() => readChunk({ ...reading(), version: 3 }, selection({ only: 'qr_a' }), chunk));
  expect(new Set(settingOf('select_sequential_consistency', /./)), 'with every statement').toEqual(new Set(['1']));
  expect(new Set(settingOf('wait_end_of_query', /RowBinary/))).toEqual(new Set(['0']));
  const others = sent.filter(({ statement }) => !statement.includes('RowBinary'));
  expect(new Set(others.map(({ fields }) => fields.get('wait_end_of_query')))).toEqual(new Set(['1']));
  expect(settingOf('insert_quorum', /^INSERT/), 'no quorum with a single server').toEqual([null]);
});

test('rows of codes are removed in the background, and others stay', async () => {
  const tables = scanTables(warehouse);
  await tables.create(4);
  await insert(4);
  await tables.remove(4, { codes: codes.slice(0, 1) });
  expect(settingOf('mutations_sync', /^ALTER TABLE \S+ DELETE/)).toEqual(['0']);
  await eventually(async () => expect(await tables.countOf(4, { codes })).toBe(1));
});

test('a read can exclude thousands of codes, because each parameter stays within the limit of ClickHouse', async () => {
  const tables = scanTables(warehouse);
  await tables.create(5);
  await insert(5);
  const others = Array.from({ length: 5_000 }, (_, i) => `qr_${String(i).padStart(22, '0')}`);
  const selected = selection({ without: [...others, 'qr_a'] });
  const { codes: left } = await readWithRetries(() => readFigures({ ...reading(), version: 5 }, selected));
  expect(left).toEqual([{ code: 'qr_b', scans: 1 }]);
  expect(sentLike(/without_2:/), 'in three parameters').not.toEqual([]);
});

test('an export is read in windows of a few scans each, however many scans follow', async () => {
  await scanTables(warehouse).create(6);
  const day = (text: string) => Date.parse(`${text}T00:00:00Z`);
  // A scan each day of two months, one a minute on a day, and 50 within a second.
  const times = [
    ...Array.from({ length: 59 }, (_, i) => day('2026-01-01') + i * 86_400_000),
    ...Array.from({ length: 120 }, (_, i) => day('2026-03-10') + i * 60_000),
    ...Array.from({ length: 50 }, (_, i) => day('2026-03-20') + i),
  ];
  const scans = times.map((time, i) => ({
    ...scanned({ account: 'acct', code: `qr_${i % 7}`, occurred_at: new Date(time) }),
    type: 'code_scanned' as const,
    position: i + 1,
    is_unique: true,
  }));
  const lines = scans.map((scan) => `${lineOf(scan)}\n`).join('');
  await scanTables(warehouse).insert(6, { fields: lineFields, lines }, uniqueName());
  const period = { start: new Date(0), end: new Date('2100-01-01') };
  const all = { ...selection({ without: [] }), ...period };
  const windows = await readWithRetries(() =>
    Array.fromAsync(windowsOf((read) => read({ ...reading(), version: 6 }, all), 20)),
  );
  const inWindow = windows.map(({ from, until }) => times.filter((time) => time >= from && time < until));
  expect(inWindow.flat(), 'each scan once, oldest first').toEqual(times);
  expect(inWindow.at(-1), 'a second is not divided').toHaveLength(50);
  expect(Math.max(...inWindow.slice(0, -1).map(({ length }) => length))).toBeLessThanOrEqual(20);
  expect(windows.length, 'nor more windows than needed').toBeLessThan(20);
});

test('a read whose signal has aborted already ends at once, and is not sent', async () => {
  const late = { ...reading(), signal: AbortSignal.abort(new Error('too late')) };
  await expect(readFigures(late, selection({ only: 'qr_a' }))).rejects.toThrow('too late');
  expect(sent).toEqual([]);
});
