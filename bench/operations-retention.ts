import { systemClock } from '../src/lib/clock.ts';
import { createLogger } from '../src/lib/logger.ts';
import { lowerPriority } from '../src/lib/lower-priority.ts';
import { createMetrics } from '../src/lib/metrics.ts';
import { connect } from '../src/log/connect.ts';
import { latestRun } from '../src/maintenance/retention.ts';
import { runRetention } from '../src/maintenance/run-retention.ts';

/**
 * One run of the retention in a separate process, at once instead of some time after the start of a service:
 * `bun bench/operations-retention.ts <months>`.
 */
// As in a process of the service without redirects.
void lowerPriority();
const databaseUrl = process.env['DATABASE_URL'] ?? '';
const sql = connect(databaseUrl, { name: 'bench', max: 2 });
const retention = runRetention({
  sql,
  databaseUrl,
  months: Number(process.argv[2]),
  clock: systemClock,
  log: createLogger('error', false),
  metrics: createMetrics(),
  times: { firstMs: 0, everyMs: 3_600_000, waitMs: 1_000 },
});
for (let run = await latestRun(sql); run === undefined || run.done_at === null; run = await latestRun(sql))
  await Bun.sleep(100);
await retention.stop();
await sql.end({ timeout: 1 });
process.exit(0);
