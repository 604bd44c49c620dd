import { expect, test } from 'vitest';
import { withFailover } from '../../../src/chaos/faults.ts';
import { outcomesOf, startScanning } from '../../../src/chaos/scanner.ts';
import { expectAllAgree } from '../../support/verified.ts';
import { expectExact, untilSeen, useWorld } from './fault-support.ts';

const world = useWorld([{}, {}], { withWarehouse: true });
const ports = () => world.services.map(({ port }) => port);

test('the primary killed with -9 under load, its synchronous replica promoted behind the same address, twice: every scan redirects and is stored once', async () => {
  const scanner = startScanning({ ports: ports(), codes: await world.codes(3) });
  for (let round = 0; round < 2; round++) {
    await untilSeen(scanner, 302, 200);
    await withFailover(world, () => untilSeen(scanner, 302, 200));
    await untilSeen(scanner, 302, 200);
  }
  await scanner.stop();
  expect([...outcomesOf(scanner.attempts).keys()], 'every scan was redirected').toEqual([302]);
  const { redirected, logged } = await expectExact(world, scanner.attempts);
  expect(logged).toBe(redirected);
  if (world.clickhouse !== undefined) await expectAllAgree(world.sql, world.clickhouse.warehouse);
}, 90_000);
