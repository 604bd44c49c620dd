import { expect, test } from 'vitest';
import { outcomesOf } from '../../../bench/chaos/scanner.ts';
import { eventually } from '../../support/eventually.ts';
import { untilSeen, useProxiedService } from './fault-support.ts';

const service = useProxiedService({
  timeouts: { postgresConnectMs: 4_000, postgresResponseMs: 4_000, leaderHeartbeatMs: 2_000 },
});

const leaders = () => service.database.sql`
  SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND granted AND datname = current_database()
    AND application_name IN ('scanlog-relay', 'scanlog-counters')`;

test('connections to Postgres stall forever: scans go to the spool and reach the log over new connections', async () => {
  const scanner = await service.scanCodes(3);
  await untilSeen(scanner, 302, 50);
  await eventually(async () => expect(await leaders(), 'sessions that hold a leader lock').toHaveLength(2));
  service.proxy.stallConnections('all');
  await untilSeen(scanner, 302, 100);
  await scanner.stop();
  expect([...outcomesOf(scanner.attempts).keys()]).toEqual([302]);
  // The stall does not end, so every wait in the service needs a timeout.
  await service.expectExact(scanner.attempts);
  service.proxy.reset('all');
  await service.proxy.restore();
});
