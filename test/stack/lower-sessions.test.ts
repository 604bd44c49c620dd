import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

const database = useDatabase();

test('connections of the embedded Postgres have a lower priority than redirects', async () => {
  await database.sql.begin(async (tx) => {
    const [{ pid }] = await tx<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`;
    const file = `/proc/${pid}/autogroup`;
    await eventually(() => {
      expect(getPriority(pid)).toBeGreaterThanOrEqual(10);
      if (existsSync(file)) expect(readFileSync(file, 'utf8')).toContain('nice 10');
    });
  });
});
