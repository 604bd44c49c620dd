import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { withoutPostgres, withoutService, withServiceFrozen } from '../../../bench/chaos/faults.ts';
import { outcomesOf, startScanning } from '../../../bench/chaos/scanner.ts';
import type { ServiceProcess } from '../../../bench/chaos/service-process.ts';
import { inspectSpool } from '../../../src/edge/spool/spool.ts';
import { eventually } from '../../support/eventually.ts';
import { expectExact, knownCodes, type TwoServices, untilSeen, withoutBackground } from './fault-support.ts';

async function expectCleanExit(service: ServiceProcess): Promise<void> {
  const code = await service.stop();
  expect(code, `exit code; log:\n${readFileSync(service.logFile, 'utf8').slice(-2_000)}`).toBe(0);
}

/** A service is killed, frozen or stopped. */
export function serviceSuite(world: TwoServices): void {
  /** The number of spooled batches in each edge's folder. */
  async function spooled(): Promise<number[]> {
    const folders = [0, 1, 2, 3].map((number) => `${world.edgeFolder}/edge-${number}`).filter(existsSync);
    return Promise.all(folders.map(async (folder) => (await inspectSpool(folder)).records));
  }

  describe('a service killed with -9 under load', () => {
    test('the other instance keeps serving; every 302 is exactly one scan', async () => {
      const [complete, single] = world.services;
      const codes = await knownCodes(world, 3, [single.port, complete.port]);
      const scanners = [single, complete].map(({ port }) =>
        startScanning({ ports: [port], codes, connections: 4, pauseMs: 20 }),
      );
      const [killed, healthy] = scanners as [(typeof scanners)[0], (typeof scanners)[0]];
      await untilSeen(killed, 302, 25);
      await withoutService(single, () => untilSeen(healthy, 302, 50));
      await untilSeen(killed, 302, 25);
      await Promise.all(scanners.map((scanner) => scanner.stop()));

      expect([...outcomesOf(healthy.attempts).keys()], 'outcomes at the other instance').toEqual([302]);
      await expectExact(world, [...killed.attempts, ...healthy.attempts]);
    });

    test('frozen with SIGSTOP instead: no scan is lost or duplicated after it resumes', async () => {
      const [complete, single] = world.services;
      const codes = await world.codes(2);
      const frozen = startScanning({ ports: [single.port], codes, connections: 4 });
      const healthy = startScanning({ ports: [complete.port], codes, connections: 4 });
      await untilSeen(frozen, 302, 25);
      await withServiceFrozen(single, () => untilSeen(healthy, 302, 50));
      await untilSeen(frozen, 302, 25);
      await Promise.all([frozen.stop(), healthy.stop()]);
      await expectExact(world, [...frozen.attempts, ...healthy.attempts]);
    });

    test('its spool is sent by another instance', async () => {
      const helper = await world.service(withoutBackground);
      await helper.start();
      const codes = await world.codes(2);
      const scanner = startScanning({ ports: [helper.port], codes, connections: 4, pauseMs: 20 });
      await untilSeen(scanner, 302, 25);
      await withoutPostgres(world, async () => {
        await untilSeen(scanner, 302, 50);
        await helper.kill();
      });
      await scanner.stop();
      expect(
        world.services.map(({ port }) => port),
        'a different instance',
      ).not.toContain(helper.port);
      await expectExact(world, scanner.attempts);
      await eventually(async () => expect((await spooled()).every((records) => records === 0)).toBe(true));
    });
  });

  describe('a service that receives SIGTERM', () => {
    test('exits with code 0 while it is still starting, and under load finishes requests in flight without a 503', async () => {
      const helper = await world.service();
      await helper.start(false);
      await expectCleanExit(helper);
      await helper.start();
      const codes = await knownCodes(world, 2, [helper.port]);
      const scanner = startScanning({ ports: [helper.port], codes, connections: 8, pauseMs: 20 });
      await untilSeen(scanner, 302, 50);
      await expectCleanExit(helper);
      await scanner.stop();
      expect([...outcomesOf(scanner.attempts).keys()].sort()).toEqual([302, 'no response']);
      await expectExact(world, scanner.attempts);
    });
  });
}
