import { afterAll, beforeAll, inject } from 'vitest';
import type { RecordedScan } from '../../events/scan.ts';
import { connectWarehouse, type Warehouse } from '../../src/warehouse/connect.ts';
import { createTable } from '../../src/warehouse/tables.ts';
import { insertRows } from '../../src/warehouse/write.ts';
import { uniqueName } from './database.ts';
import { type TestService, useService } from './service.ts';

export type StoredScan = Omit<RecordedScan, 'type'>;

export interface TestWarehouse {
  service: TestService;
  warehouse: Warehouse;
  /** Puts scans into the table in use, as if all of the log up to the last of them were in it. */
  store(scans: StoredScan[]): Promise<void>;
  /** Makes a table; it is read once it is put in use. */
  makeTable(version: number): Promise<void>;
  putInUse(version: number): Promise<void>;
}

/** The API alone, on a warehouse of the file's own that is filled by the test and by nobody else. */
export function useWarehouse(options: Parameters<typeof useService>[0] = {}): TestWarehouse {
  const clickhouseDatabase = uniqueName();
  const service = useService({ ...options, config: { roles: ['api'], clickhouseDatabase, ...options.config } });
  const filled = { service } as TestWarehouse;
  let inUse = 1;

  filled.store = async (scans) => {
    const last = Math.max(...scans.map(({ position }) => position));
    await insertRows(filled.warehouse, inUse, { columns, lines: scans.map(lineOf).join('') }, uniqueName());
    await service.database.sql`
      UPDATE warehouse_tables SET position = greatest(position, ${last}), rows = rows + ${scans.length} WHERE in_use`;
  };
  filled.makeTable = async (version) => {
    await createTable(filled.warehouse, version);
    await service.database.sql`
      INSERT INTO warehouse_tables (version, definition, position, removed_to, rows) VALUES (${version}, 1, 0, 0, 0)`;
  };
  filled.putInUse = async (version) => {
    inUse = version;
    await service.database.sql`UPDATE warehouse_tables SET in_use = false WHERE in_use`;
    await service.database.sql`UPDATE warehouse_tables SET in_use = true WHERE version = ${version}`;
  };
  beforeAll(async () => {
    const { clickhouseUrl } = inject('stack');
    filled.warehouse = connectWarehouse({ clickhouseUrl, clickhouseDatabase, clickhouseCluster: undefined });
    await filled.makeTable(1);
    await filled.putInUse(1);
  });
  afterAll(async () => {
    await filled.warehouse.client.command({ query: `DROP DATABASE IF EXISTS ${clickhouseDatabase}` });
    await filled.warehouse.client.close();
  });
  return filled;
}

const columns = [
  ...['account', 'mode', 'code', 'time', 'position', 'id', 'country', 'region', 'city', 'device', 'browser'],
  ...['is_bot', 'visitor', 'is_unique', 'revision'],
];

const escapes: Record<string, string> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };

function lineOf({ occurred_at, visitor, ...scan }: StoredScan): string {
  const row: Record<string, unknown> = {
    ...scan,
    time: occurred_at.toISOString().replace('T', ' ').replace('Z', ''),
    visitor: visitor.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  };
  const fields = columns.map((column) => String(row[column]).replace(/[\t\n\r\\]/g, (c) => escapes[c] ?? c));
  return `${fields.join('\t')}\n`;
}
