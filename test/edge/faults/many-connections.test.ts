import { test } from 'vitest';
import { withoutPostgres, withPostgresFrozen } from '../../../bench/chaos/faults.ts';
import { startScanning } from '../../../bench/chaos/scanner.ts';
import { expectExact, untilSeen, useWorld } from './fault-support.ts';

const world = useWorld([{}]);

test('300 connections of one edge: no scan is lost or duplicated while Postgres is down or frozen', async () => {
  const codes = await world.codes(3);
  const scanner = startScanning({
    ports: world.services.map(({ port }) => port),
    codes,
    connections: 300,
    pauseMs: 0,
  });
  await untilSeen(scanner, 302, 2_000);
  await withoutPostgres(world, () => untilSeen(scanner, 302, 1_000));
  await untilSeen(scanner, 302, 1_000);
  await withPostgresFrozen(world, () => untilSeen(scanner, 302, 1_000));
  await untilSeen(scanner, 302, 1_000);
  await scanner.stop();

  await expectExact(world, scanner.attempts);
});
