import { describe, expect, test } from 'vitest';
import { withoutService, withPostgresFrozen } from '../../../bench/chaos/faults.ts';
import { outcomesOf, startScanning } from '../../../bench/chaos/scanner.ts';
import type { ServiceProcess } from '../../../bench/chaos/service-process.ts';
import { eventually } from '../../support/eventually.ts';
import { background, expectExact, knownCodes, untilSeen, useWorld, withoutBackground } from './fault-support.ts';

const durabilities = ['disk', 'log'] as const;
const world = useWorld([
  ...durabilities.map((EDGE_DURABILITY) => ({ EDGE_DURABILITY, ...withoutBackground })),
  background,
]);
const serviceOf = (durability: (typeof durabilities)[number]): ServiceProcess =>
  world.services[durabilities.indexOf(durability)] ?? expect.fail(`no service with ${durability}`);

/** How long the drain of a service needs for what waits. */
async function secondsLeft({ port }: ServiceProcess): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  const { parts } = (await response.json()) as { parts: { edge: { spool: { seconds_left: number } } } };
  return parts.edge.spool.seconds_left;
}

describe.each(durabilities)('durability %s', (durability) => {
  test('Postgres frozen under load that goes on: the spool empties after the thaw, every 302 is one scan', async () => {
    const service = serviceOf(durability);
    const codes = await knownCodes(world, 2, [service.port]);
    const scanner = startScanning({ ports: [service.port], codes, connections: 16, pauseMs: 50 });
    await untilSeen(scanner, 302, 50);
    await withPostgresFrozen(world, () => untilSeen(scanner, 302, 200));
    await untilSeen(scanner, 302, 50);
    await eventually(async () => expect(await secondsLeft(service), 'while scans arrive').toBeLessThan(0.5));
    await scanner.stop();
    expect([...outcomesOf(scanner.attempts).keys()]).toEqual([302]);
    const { redirected, logged } = await expectExact(world, scanner.attempts);
    expect(logged).toBe(redirected);
  });

  test('killed with -9 three times under load: every 302 is one scan', async () => {
    const service = serviceOf(durability);
    const codes = await knownCodes(world, 2, [service.port]);
    const scanner = startScanning({ ports: [service.port], codes, connections: 16, pauseMs: 50 });
    for (let kills = 0; kills < 3; kills++) {
      await untilSeen(scanner, 302, 10 + Math.floor(Math.random() * 50));
      await withoutService(service, async () => {});
    }
    await untilSeen(scanner, 302, 25);
    await scanner.stop();
    await expectExact(world, scanner.attempts);
  });

  test('killed with -9 while Postgres is frozen: the spool that it left is sent once', async () => {
    const service = serviceOf(durability);
    const codes = await knownCodes(world, 2, [service.port]);
    const scanner = startScanning({ ports: [service.port], codes, connections: 16, pauseMs: 50 });
    await untilSeen(scanner, 302, 25);
    await withPostgresFrozen(world, async () => {
      await untilSeen(scanner, 302, 50);
      await service.kill();
    });
    await service.start();
    await untilSeen(scanner, 302, 25);
    await scanner.stop();
    await expectExact(world, scanner.attempts);
  });
});
