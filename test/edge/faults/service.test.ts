import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { withoutPostgres, withoutService, withServiceStanding } from '../../../src/chaos/faults.ts';
import { outcomesOf, startScanning } from '../../../src/chaos/scanner.ts';
import type { ServiceProcess } from '../../../src/chaos/service-process.ts';
import { inspectSpool } from '../../../src/edge/spool.ts';
import { eventually } from '../../support/eventually.ts';
import { expectExact, untilSeen, useWorld } from './fault-support.ts';

const world = useWorld([{}, {}]);
const both = () => world.services as [ServiceProcess, ServiceProcess];

/** Batches that wait in all folders of edges. */
async function spooled(): Promise<number[]> {
  const folders = [0, 1, 2, 3].map((number) => `${world.edgeFolder}/edge-${number}`).filter(existsSync);
  return Promise.all(folders.map(async (folder) => (await inspectSpool(folder)).records));
}

describe('a service killed with -9 under load', () => {
  test('the other one goes on; every 302 is exactly one scan, and no request is two', async () => {
    const codes = await world.codes(3);
    const [first, second] = both();
    const scanners = [first, second].map(({ port }) => startScanning({ ports: [port], codes, connections: 8 }));
    const [dying, living] = scanners as [(typeof scanners)[0], (typeof scanners)[0]];
    await untilSeen(dying, 302, 100);
    await withoutService(first, () => untilSeen(living, 302, 200));
    await untilSeen(dying, 302, 100);
    await Promise.all(scanners.map((scanner) => scanner.stop()));

    expect([...outcomesOf(living.attempts).keys()], 'those of the other instance').toEqual([302]);
    await expectExact(world, [...dying.attempts, ...living.attempts]);
  });

  test('standing still for a while, it goes on where it stood', async () => {
    const [first, second] = both();
    const codes = await world.codes(2);
    const stuck = startScanning({ ports: [first.port], codes, connections: 4 });
    const living = startScanning({ ports: [second.port], codes, connections: 4 });
    await untilSeen(stuck, 302, 50);
    await withServiceStanding(first, () => untilSeen(living, 302, 200));
    await untilSeen(stuck, 302, 50);
    await Promise.all([stuck.stop(), living.stop()]);
    await expectExact(world, [...stuck.attempts, ...living.attempts]);
  });

  test('what it had spooled is sent by another', async () => {
    const [first] = both();
    const helper = await world.service();
    await helper.start();
    const codes = await world.codes(2);
    const scanner = startScanning({ ports: [helper.port], codes, connections: 8 });
    await untilSeen(scanner, 302, 50);
    await withoutPostgres(world, async () => {
      await untilSeen(scanner, 302, 100);
      await helper.kill();
    });
    await scanner.stop();
    expect(first.port, 'only the others run now').not.toBe(helper.port);
    await expectExact(world, scanner.attempts);
    await eventually(async () => expect((await spooled()).every((records) => records === 0)).toBe(true), 20_000);
  });
});

async function expectGoodEnd(service: ServiceProcess): Promise<void> {
  const code = await service.stop();
  expect(code, `it ends by itself:\n${readFileSync(service.logFile, 'utf8').slice(-2_000)}`).toBe(0);
}

describe('a service that is asked to stop under load', () => {
  test('finishes what is under way: nobody is told to come again', async () => {
    const helper = await world.service();
    await helper.start();
    const scanner = startScanning({ ports: [helper.port], codes: await world.codes(2), connections: 16, pauseMs: 1 });
    await untilSeen(scanner, 302, 200);
    await expectGoodEnd(helper);
    await scanner.stop();
    expect([...outcomesOf(scanner.attempts).keys()].sort()).toEqual([302, 'no answer']);
    await expectExact(world, scanner.attempts);
  });

  test('ends by itself while it is still starting, too', async () => {
    const helper = await world.service();
    await helper.start(false);
    await expectGoodEnd(helper);
    await helper.start();
    await expectGoodEnd(helper);
  });
});
