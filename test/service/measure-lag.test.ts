import { expect, test } from 'vitest';
import { counters } from '../../projections/counters.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { measureLag } from '../../src/service/measure-lag.ts';
import { useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

const database = useDatabase();

test('a projection that no process runs is measured', async () => {
  const { sql } = database;
  await sql`INSERT INTO checkpoints VALUES (${counters.name}, 7) ON CONFLICT (projection) DO UPDATE SET position = 7`;
  await sql`INSERT INTO secrets (name, value) VALUES ('log_floor', convert_to('107', 'UTF8'))`;
  const metrics = createMetrics();
  const measuring = measureLag({ sql, log: createLogger('error', false), metrics });
  const lines = await eventually(async () => {
    const text = await metrics.registry.metrics();
    expect(text).toContain('projection="counters"} 100');
    return text;
  });
  await measuring.stop();
  expect(lines).toContain('scanlog_projection_lag_positions{projection="analytics"} 107');
  expect(lines).toContain('scanlog_projection_position{projection="counters"} 7');
});
