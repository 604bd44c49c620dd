import { describe, expect, test } from 'vitest';
import {
  withoutNats,
  withoutPostgres,
  withoutStreamStorage,
  withPostgresFrozen,
  withServiceRestartedWithoutPostgres,
} from '../../../bench/chaos/faults.ts';
import { outcomesOf, startScanning } from '../../../bench/chaos/scanner.ts';
import { readSnapshots } from '../../../src/edge/snapshot.ts';
import { apiClient, created } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { expectExact, knownCodes, statusOn, type TwoServices, untilSeen } from './fault-support.ts';

/** Postgres or NATS is unavailable. */
export function serversSuite(world: TwoServices): void {
  const ports = () => world.services.map(({ port }) => port);

  describe('Postgres killed with -9 under load', () => {
    test('known codes redirect, uncached codes get 503, and every 302 is one scan', async () => {
      const codes = await knownCodes(world, 3, ports());
      const [uncached] = await world.codes(1);
      const scanner = startScanning({ ports: ports(), codes });
      await untilSeen(scanner, 302, 50);
      await withoutPostgres(world, async () => {
        await untilSeen(scanner, 302, 75);
        if (uncached !== undefined)
          expect(await statusOn(world.services[0], uncached), 'not in memory, and Postgres is down').toBe(503);
      });
      await untilSeen(scanner, 302, 50);
      await scanner.stop();

      expect([...outcomesOf(scanner.attempts).keys()], 'every scan was redirected').toEqual([302]);
      const { redirected, logged } = await expectExact(world, scanner.attempts);
      expect(logged).toBe(redirected);
    });

    test('a code with a limit answers 503 instead of exceeding it, and continues', async () => {
      const api = apiClient(`http://localhost:${ports()[0]}`, world.key);
      const max_scans = 300;
      const { id, short_code } = await created(api, { max_scans });
      // Slow enough that the limit is not reached before Postgres is killed.
      const scanner = startScanning({
        ports: ports(),
        codes: [{ id, shortCode: short_code }],
        connections: 4,
        pauseMs: 20,
      });
      await untilSeen(scanner, 302, 20);
      await withoutPostgres(world, async () => {
        await untilSeen(scanner, 503, 4);
        const from = scanner.attempts.length;
        await untilSeen(scanner, 503, 4);
        expect([...outcomesOf(scanner.attempts.slice(from)).keys()], 'nothing but 503 meanwhile').not.toContain(302);
      });
      await untilSeen(scanner, 404, 5);
      await scanner.stop();
      expect(await world.sql`SELECT FROM scans WHERE code = ${id}`).toHaveLength(max_scans);
      expect((await api.get(`/v1/qrcodes/${id}`)).body.availability).toBe('limit_reached');
      expect(outcomesOf(scanner.attempts).get(302)).toBeLessThanOrEqual(max_scans);
    });

    test('twice in a row: no scan is lost or stored twice', async () => {
      const codes = await world.codes(2);
      const scanner = startScanning({ ports: ports(), codes });
      await untilSeen(scanner, 302, 25);
      for (let round = 0; round < 2; round++) {
        await withoutPostgres(world, () => untilSeen(scanner, 302, 25));
        await untilSeen(scanner, 302, 25);
      }
      await scanner.stop();
      const { redirected, logged } = await expectExact(world, scanner.attempts);
      expect(logged).toBe(redirected);
    });

    test('frozen with SIGSTOP instead: scans go to the spool, and none is stored twice after it resumes', async () => {
      const codes = await world.codes(2);
      const scanner = startScanning({ ports: ports(), codes });
      await untilSeen(scanner, 302, 25);
      await withPostgresFrozen(world, () => untilSeen(scanner, 302, 50));
      await untilSeen(scanner, 302, 25);
      await scanner.stop();
      const { redirected, logged } = await expectExact(world, scanner.attempts);
      expect(logged).toBe(redirected);
    });
  });

  describe('a service restarted while Postgres is down', () => {
    test('redirects the codes of its snapshot and keeps the scans it had spooled', async () => {
      const service = world.services[1];
      const codes = await world.codes(2);
      const [uncached] = await world.codes(1);
      const scanner = startScanning({ ports: [service.port], codes, connections: 4 });
      await untilSeen(scanner, 302, 25);
      await eventually(async () => {
        const written = new Set(
          [...(await readSnapshots(world.edgeFolder, world.box)).routes].map(({ short_code }) => short_code),
        );
        for (const { shortCode } of codes) expect(written, 'routes are written every few seconds').toContain(shortCode);
      });
      await withServiceRestartedWithoutPostgres(world, service, async () => {
        await untilSeen(scanner, 302, 50);
        if (uncached !== undefined)
          expect(await statusOn(service, uncached), 'neither in memory nor on disk').toBe(503);
      });
      await untilSeen(scanner, 302, 25);
      await scanner.stop();
      await expectExact(world, scanner.attempts);
    });
  });

  describe('NATS under load', () => {
    test.each([
      ['killed with -9', withoutNats],
      ['killed with -9, its storage deleted', withoutStreamStorage],
    ])('%s: every scan redirects and is counted once', async (_, fault) => {
      const scanner = startScanning({ ports: ports(), codes: await knownCodes(world, 3, ports()) });
      await untilSeen(scanner, 302, 50);
      await fault(world, () => untilSeen(scanner, 302, 50));
      await untilSeen(scanner, 302, 50);
      await scanner.stop();

      expect([...outcomesOf(scanner.attempts).keys()], 'every scan was redirected').toEqual([302]);
      const { redirected, logged } = await expectExact(world, scanner.attempts);
      expect(logged).toBe(redirected);
    });
  });
}
