import { describe, expect, test } from 'vitest';
import {
  type ServerName,
  withHalfClosed,
  withResets,
  withStalledConnections,
} from '../../../bench/chaos/broken-connections.ts';
import type { Which } from '../../../bench/chaos/proxy.ts';
import { outcomesOf, type ScannedCode, type Scanner, startScanning } from '../../../bench/chaos/scanner.ts';
import type { ServiceProcess } from '../../../bench/chaos/service-process.ts';
import type { World } from '../../../bench/chaos/world.ts';
import { apiClient } from '../../support/api.ts';
import { expectExact, knownCodes, statusOn, type TwoServices, untilSeen } from './fault-support.ts';

type Fault = (world: World, servers: ServerName[], which: Which, duringFault: () => Promise<unknown>) => Promise<void>;

const faults: [string, Fault][] = [
  ['reset', withResets],
  ['half-closed', withHalfClosed],
  ['stalled', withStalledConnections],
];

/** Few enough that the six faults of Postgres stay below the 300 requests that an account has in a minute. */
const scansPerRequest = 5;

/** Connections to servers that stay up are broken. */
export function brokenConnectionsSuite(world: TwoServices): void {
  const ports = () => world.services.map(({ port }) => port);

  /**
   * Collects the statuses of API requests with a valid key and of first scans of existing codes, until stopped. Each waits for
   * scans of the scanner.
   */
  function startRequests(
    scanner: Scanner,
    codes: ScannedCode[],
  ): { api: Set<number>; redirects: Set<number>; stop(): Promise<void> } {
    const [api, redirects] = [new Set<number>(), new Set<number>()];
    let isOver = false;
    const requests = (async () => {
      for (let i = 0; !isOver; i++) {
        const service = world.services[i % world.services.length] as ServiceProcess;
        const code = codes[i % codes.length] as ScannedCode;
        const { get } = apiClient(`http://localhost:${service.port}`, world.key);
        api.add((await get(`/v1/qrcodes/${code.id}`)).status);
        if (i < codes.length) redirects.add(await statusOn(service, code));
        await untilSeen(scanner, 302, scansPerRequest);
      }
    })();
    return {
      api,
      redirects,
      async stop() {
        isOver = true;
        await requests;
      },
    };
  }

  describe.each(faults)('connections to Postgres %s under load', (_, fault) => {
    test.each<Which>(['one', 'all'])(
      '%s at a time: no scan is lost or duplicated, no valid request gets 401 or 404',
      async (which) => {
        const unscanned = await world.codes(30);
        const scanner = startScanning({ ports: ports(), codes: await knownCodes(world, 3, ports()) });
        await untilSeen(scanner, 302, 25);
        const requests = startRequests(scanner, unscanned);
        await fault(world, ['postgres'], which, () => untilSeen(scanner, 302, 75));
        await requests.stop();
        await untilSeen(scanner, 302, 25);
        await scanner.stop();

        expect([...outcomesOf(scanner.attempts).keys()], 'known codes always redirect').toEqual([302]);
        expect([200, 503], 'API: valid key, existing code').toEqual(expect.arrayContaining([...requests.api]));
        expect([302, 503], 'first scans: never 404').toEqual(expect.arrayContaining([...requests.redirects]));
        await expectExact(world, scanner.attempts);
      },
    );
  });

  describe.each(faults)('connections to NATS %s under load', (_, fault) => {
    test('every scan redirects and is counted once', async () => {
      const scanner = startScanning({ ports: ports(), codes: await knownCodes(world, 3, ports()) });
      await untilSeen(scanner, 302, 25);
      await fault(world, ['nats'], 'all', () => untilSeen(scanner, 302, 75));
      await untilSeen(scanner, 302, 25);
      await scanner.stop();
      expect([...outcomesOf(scanner.attempts).keys()]).toEqual([302]);
      await expectExact(world, scanner.attempts);
    });
  });
}
