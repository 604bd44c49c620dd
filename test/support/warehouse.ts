import { beforeAll } from 'vitest';
import type { RecordedScan } from '../../events/scan.ts';
import { lineFields, lineOf } from '../../events/scan-line.ts';
import { createTable } from '../../src/analytics/tables.ts';
import { insertScans } from '../../src/analytics/write.ts';
import type { Api } from './api.ts';
import { uniqueName } from './database.ts';
import { eventually } from './eventually.ts';
import { type TestService, useService } from './service.ts';

export type StoredScan = Omit<RecordedScan, 'type'>;

export interface FilledWarehouse {
  service: TestService;
  /** Inserts scans into the table in use, and sets its position to the position of the last scan. */
  store(scans: StoredScan[]): Promise<void>;
  /** Creates a table, which is read after `putInUse`. */
  makeTable(version: number): Promise<void>;
  putInUse(version: number): Promise<void>;
}

/** Runs only the API, on a ClickHouse database that only the test fills. */
export function useFilledWarehouse(options: Parameters<typeof useService>[0] = {}): FilledWarehouse {
  const service = useService({ ...options, verified: false, config: { roles: ['api'], ...options.config } });
  const { warehouse, database } = service;
  let inUse = 1;

  const makeTable = async (version: number) => {
    await createTable(warehouse, version);
    await database.sql`
      INSERT INTO warehouse_tables (version, definition, position, removed_to, rows) VALUES (${version}, 1, 0, 0, 0)`;
  };
  const putInUse = async (version: number) => {
    inUse = version;
    await database.sql`UPDATE warehouse_tables SET in_use = false WHERE in_use`;
    await database.sql`UPDATE warehouse_tables SET in_use = true WHERE version = ${version}`;
  };
  beforeAll(async () => {
    await makeTable(1);
    await putInUse(1);
  });
  return {
    service,
    makeTable,
    putInUse,
    async store(scans) {
      const last = Math.max(...scans.map(({ position }) => position));
      const lines = scans.map((scan) => `${lineOf({ ...scan, type: 'code_scanned' })}\n`);
      await insertScans(warehouse, inUse, { fields: lineFields, lines: lines.join('') }, uniqueName());
      await database.sql`
        UPDATE warehouse_tables SET position = greatest(position, ${last}), rows = rows + ${scans.length} WHERE in_use`;
    },
  };
}

/** A client that retries reads that are answered with 503, because analytics reads may time out on a busy machine. */
export const retrying = (api: Api): Api => ({
  ...api,
  get: <T>(path: string) =>
    eventually(async () => {
      const response = await api.get<T>(path);
      if (response.status === 503) throw new Error(`${path} answered 503`);
      return response;
    }),
});
