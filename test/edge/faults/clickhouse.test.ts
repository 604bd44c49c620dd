import { describe, expect, test } from 'vitest';
import { withHalfClosed, withResets, withStalledConnections } from '../../../src/chaos/broken-connections.ts';
import { withClickHouseStanding, withoutService, withoutWarehouseStorage } from '../../../src/chaos/faults.ts';
import { outcomesOf, startScanning } from '../../../src/chaos/scanner.ts';
import type { World } from '../../../src/chaos/world.ts';
import { replayAnalytics } from '../../../src/stream/replay-analytics.ts';
import { expectAllAgree } from '../../support/verified.ts';
import { expectExact, untilSeen, useWorld } from './fault-support.ts';

const world = useWorld([{}, {}], { withWarehouse: true });

const warehouseOf = ({ clickhouse }: World) => {
  if (clickhouse === undefined) throw new Error('this world has no warehouse');
  return clickhouse.warehouse;
};

const replayTwice = async ({ sql }: World) =>
  Promise.allSettled([1, 2].map(() => replayAnalytics({ sql, warehouse: warehouseOf(world) })));

const startScans = async () =>
  startScanning({ ports: world.services.map(({ port }) => port), codes: await world.codes(3) });

describe('ClickHouse under load', () => {
  test('lost, standing still, and replayed twice at once: every scan redirects, and is in the warehouse once', async () => {
    const scanner = await startScans();
    const meanwhile = () => untilSeen(scanner, 302, 200);
    await meanwhile();
    await withoutWarehouseStorage(world, meanwhile);
    await meanwhile();
    await withClickHouseStanding(world, meanwhile);
    await expectAllAgree(world.sql, warehouseOf(world));
    const [first, second] = await replayTwice(world);
    expect([first?.status, second?.status].sort(), 'one replays, one is told to wait').toEqual([
      'fulfilled',
      'rejected',
    ]);
    await scanner.stop();
    expect([...outcomesOf(scanner.attempts).keys()], 'every scan was redirected').toEqual([302]);
    await expectExact(world, scanner.attempts);
    await expectAllAgree(world.sql, warehouseOf(world));
  }, 90_000);

  test('its connections reset, half-closed and stalled: every scan redirects, and is in the warehouse once', async () => {
    const scanner = await startScans();
    const meanwhile = () => untilSeen(scanner, 302, 200);
    for (const fault of [withResets, withHalfClosed, withStalledConnections])
      for (const which of ['one', 'all'] as const) await fault(world, ['clickhouse'], which, meanwhile);
    await scanner.stop();
    expect([...outcomesOf(scanner.attempts).keys()], 'every scan was redirected').toEqual([302]);
    await expectExact(world, scanner.attempts);
    await expectAllAgree(world.sql, warehouseOf(world));
  }, 90_000);

  test('with services killed in the middle of their inserts: every scan is in the warehouse once', async () => {
    const scanner = await startScans();
    const meanwhile = () => untilSeen(scanner, 302, 200);
    await meanwhile();
    for (const service of world.services) await withoutService(service, meanwhile);
    await scanner.stop();
    await expectExact(world, scanner.attempts);
    await expectAllAgree(world.sql, warehouseOf(world));
  }, 90_000);
});
