import { describe, expect, test } from 'vitest';
import { withHalfClosed, withResets, withStalledConnections } from '../../../bench/chaos/broken-connections.ts';
import { withClickHouseFrozen, withoutService, withoutWarehouseStorage } from '../../../bench/chaos/faults.ts';
import { outcomesOf, startScanning } from '../../../bench/chaos/scanner.ts';
import type { World } from '../../../bench/chaos/world.ts';
import { replayAnalytics } from '../../../src/maintenance/replay-analytics.ts';
import { eventually } from '../../support/eventually.ts';
import { expectAllAgree } from '../../support/verified.ts';
import { background, expectExact, knownCodes, untilSeen, useWorld, withoutBackground } from './fault-support.ts';

const world = useWorld([withoutBackground, background, background], { withWarehouse: true });

const warehouseOf = ({ clickhouse }: World) => {
  if (clickhouse === undefined) throw new Error('this world has no warehouse');
  return clickhouse.warehouse;
};

const replayTwice = async ({ sql }: World) =>
  Promise.allSettled([1, 2].map(() => replayAnalytics({ sql, warehouse: warehouseOf(world) })));

const startScans = async () => {
  const ports = world.services.slice(0, 1).map(({ port }) => port);
  return startScanning({ ports, codes: await knownCodes(world, 3, ports) });
};

describe('ClickHouse under load', () => {
  test('storage deleted, then frozen, then two replays at once: every scan redirects and is in the warehouse once', async () => {
    const scanner = await startScans();
    const scanSome = () => untilSeen(scanner, 302, 50);
    await scanSome();
    await withoutWarehouseStorage(world, scanSome);
    await scanSome();
    await withClickHouseFrozen(world, scanSome);
    await expectAllAgree(world.sql, warehouseOf(world));
    // Both are rejected while a service still rebuilds what the frozen server made it doubt.
    await eventually(async () => {
      const statuses = (await replayTwice(world)).map(({ status }) => status).sort();
      expect(statuses, 'one replays, the other is rejected').toEqual(['fulfilled', 'rejected']);
    });
    await scanner.stop();
    expect([...outcomesOf(scanner.attempts).keys()], 'every scan was redirected').toEqual([302]);
    await expectExact(world, scanner.attempts);
    await expectAllAgree(world.sql, warehouseOf(world));
  });

  test('connections reset, half-closed and stalled: every scan redirects and is in the warehouse once', async () => {
    const scanner = await startScans();
    const scanSome = () => untilSeen(scanner, 302, 50);
    for (const fault of [withResets, withHalfClosed, withStalledConnections])
      for (const which of ['one', 'all'] as const) await fault(world, ['clickhouse'], which, scanSome);
    await scanner.stop();
    expect([...outcomesOf(scanner.attempts).keys()], 'every scan was redirected').toEqual([302]);
    await expectExact(world, scanner.attempts);
    await expectAllAgree(world.sql, warehouseOf(world));
  });

  test('processes that insert killed with -9, one after the other: every scan is in the warehouse once', async () => {
    const scanner = await startScans();
    const scanSome = () => untilSeen(scanner, 302, 50);
    await scanSome();
    for (const service of world.services.slice(1)) await withoutService(service, scanSome);
    await scanner.stop();
    await expectExact(world, scanner.attempts);
    await expectAllAgree(world.sql, warehouseOf(world));
  });
});
