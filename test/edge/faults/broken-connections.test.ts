import { describe, expect, test } from 'vitest';
import {
  type ServerName,
  withHalfClosed,
  withResets,
  withStalledConnections,
} from '../../../bench/chaos/broken-connections.ts';
import type { Which } from '../../../bench/chaos/proxy.ts';
import { outcomesOf, type ScannedCode, startScanning } from '../../../bench/chaos/scanner.ts';
import type { ServiceProcess } from '../../../bench/chaos/service-process.ts';
import type { World } from '../../../bench/chaos/world.ts';
import { apiClient } from '../../support/api.ts';
import { expectExact, knownCodes, statusOn, untilSeen, useWorld, withoutBackground } from './fault-support.ts';

const world = useWorld([{}, withoutBackground]);
const ports = () => world.services.map(({ port }) => port);

type Fault = (world: World, servers: ServerName[], which: Which, duringFault: () => Promise<unknown>) => Promise<void>;

/** Collects the statuses of API requests with a valid key and of first scans of existing codes, until stopped. */
function startRequests(codes: ScannedCode[]): { api: Set<number>; redirects: Set<number>; stop(): Promise<void> } {
  const [api, redirects] = [new Set<number>(), new Set<number>()];
  let isOver = false;
  const requests = (async () => {
    for (let i = 0; !isOver; i++) {
      const service = world.services[i % world.services.length] as ServiceProcess;
      const code = codes[i % codes.length] as ScannedCode;
      const { get } = apiClient(`http://localhost:${service.port}`, world.key);
      api.add((await get(`/v1/qrcodes/${code.id}`)).status);
      if (i < codes.length) redirects.add(await statusOn(service, code));
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

const faults: [string, Fault][] = [
  ['reset', withResets],
  ['half-closed', withHalfClosed],
  ['stalled', withStalledConnections],
];

describe.each(faults)('connections to Postgres %s under load', (_, fault) => {
  test.each<Which>(['one', 'all'])(
    '%s at a time: no scan is lost or duplicated, no valid request gets 401 or 404',
    async (which) => {
      const unscanned = await world.codes(200);
      const scanner = startScanning({ ports: ports(), codes: await knownCodes(world, 3, ports()) });
      await untilSeen(scanner, 302, 100);
      const requests = startRequests(unscanned);
      await fault(world, ['postgres'], which, () => untilSeen(scanner, 302, 500));
      await requests.stop();
      await untilSeen(scanner, 302, 100);
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
    await untilSeen(scanner, 302, 100);
    await fault(world, ['nats'], 'all', () => untilSeen(scanner, 302, 500));
    await untilSeen(scanner, 302, 100);
    await scanner.stop();
    expect([...outcomesOf(scanner.attempts).keys()]).toEqual([302]);
    await expectExact(world, scanner.attempts);
  });
});
