import { afterAll, beforeAll, expect } from 'vitest';
import { accountForScans, type ScanAccounting } from '../../../bench/chaos/accounting.ts';
import { openConnection } from '../../../bench/chaos/connection.ts';
import { startProxy, type TcpProxy } from '../../../bench/chaos/proxy.ts';
import {
  type Attempt,
  type ScannedCode,
  type Scanner,
  type ScannerOptions,
  startScanning,
} from '../../../bench/chaos/scanner.ts';
import type { ServiceProcess } from '../../../bench/chaos/service-process.ts';
import { startWorld, type World } from '../../../bench/chaos/world.ts';
import { setTimeouts, type Timeouts } from '../../../src/lib/timeouts.ts';
import { created } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { timeoutScale } from '../../support/limits.ts';
import { captureLog } from '../../support/log-lines.ts';
import { testBox } from '../../support/secret-box.ts';
import { type ServiceOptions, type TestService, useService } from '../../support/service.ts';

/** A stack for one test file to break, with one running service for each entry of `settings`. */
export function useWorld(
  settings: Record<string, string>[],
  {
    flags = [],
    ...parts
  }: {
    flags?: string[];
    withWarehouse?: boolean;
    withWebhook?: boolean;
    withNatsCluster?: boolean;
  } = {},
): World & { services: ServiceProcess[] } {
  const world = { services: [] as ServiceProcess[] } as World & { services: ServiceProcess[] };
  beforeAll(async () => {
    Object.assign(world, await startWorld({ ...parts, timeoutScale }));
    for (const each of settings) world.services.push(await world.service(each, flags));
    await Promise.all(world.services.map((service) => service.start()));
  });
  afterAll(() => world.stop?.());
  return world;
}

/** Settings of a service that is one process, because it leaves relay and projections to another. */
export const withoutBackground = { ROLES: 'api,edge' };

/** Settings of a service that is one process, because it answers no scans and no API requests. */
export const background = { ROLES: 'relay,projections' };

/** A world with a complete service and one that is a single process. */
export type TwoServices = World & { services: [ServiceProcess, ServiceProcess] };

export const useTwoServices = (): TwoServices => useWorld([{}, withoutBackground]) as TwoServices;

interface ProxiedService extends TestService {
  /** Between the service and Postgres. */
  proxy: TcpProxy;
  /** Scans new codes that the service has in memory. */
  scanCodes(count: number, options?: Omit<ScannerOptions, 'ports' | 'codes'>): Promise<Scanner>;
  /** Waits until every redirect is exactly one scan in the log and is counted. */
  expectExact(attempts: Attempt[]): Promise<ScanAccounting>;
}

/** A service in this process that reaches Postgres through a proxy, with these timeouts. */
export function useProxiedService(options: ServiceOptions & { timeouts?: Partial<Timeouts> } = {}): ProxiedService {
  const service = {} as ProxiedService;
  // Hooks after the tests run in reverse order: the service stops before its proxy.
  afterAll(() => service.proxy?.close());
  const running = useService({
    log: captureLog().log,
    ...options,
    async reach(url) {
      // The test's own connections exist by now, and keep their timeouts.
      setTimeouts(timeoutScale, options.timeouts);
      service.proxy = await startProxy(url);
      return service.proxy.url;
    },
  });
  const world = () => ({ sql: running.database.sql, box: testBox });
  return Object.assign(service, running, {
    async scanCodes(count: number, scanning: Omit<ScannerOptions, 'ports' | 'codes'> = {}) {
      const { live } = await running.account();
      const codes: ScannedCode[] = [];
      for (let i = 0; i < count; i++) {
        const { id, short_code } = await created(live);
        codes.push({ id, shortCode: short_code });
        expect((await running.client(0).head(`/${short_code}`)).status).toBe(302);
      }
      return startScanning({ ports: [Number(new URL(running.urls[0] as string).port)], codes, ...scanning });
    },
    expectExact: (attempts: Attempt[]) => expectExact(world(), attempts),
  });
}

/** New codes that the services at `ports` have in memory. */
export async function knownCodes(world: World, count: number, ports: number[]): Promise<ScannedCode[]> {
  const codes = await world.codes(count);
  for (const port of ports)
    for (const { shortCode } of codes)
      await eventually(async () => {
        // HEAD loads the route, and is not a scan. On a connection of its own, which any process of the port may get.
        const { status } = await fetch(`http://127.0.0.1:${port}/${shortCode}`, {
          method: 'HEAD',
          redirect: 'manual',
          headers: { connection: 'close' },
        });
        expect(status).toBe(302);
      });
  return codes;
}

/** Waits until `count` more scans have ended with `outcome`. */
export async function untilSeen({ attempts }: Scanner, outcome: Attempt['outcome'], count: number): Promise<void> {
  const from = attempts.length;
  await eventually(() => {
    const seen = attempts.slice(from).filter((attempt) => attempt.outcome === outcome).length;
    expect(seen, `scans that end with ${outcome}`).toBeGreaterThanOrEqual(count);
  });
}

export const statusOn = async ({ port }: ServiceProcess, { shortCode }: ScannedCode): Promise<number> => {
  const connection = openConnection(port);
  return connection.get(`/${shortCode}`, {}).finally(connection.close);
};

/** Waits until every redirect is exactly one scan in the log and is counted. */
export async function expectExact(world: Pick<World, 'sql' | 'box'>, attempts: Attempt[]): Promise<ScanAccounting> {
  return eventually(async () => {
    const accounting = await accountForScans(world, attempts);
    expect(accounting).toMatchObject({ lost: 0, duplicated: 0 });
    expect(accounting.counted, 'total_scans equals the scans in the log').toBe(accounting.logged);
    expect(accounting.unique, 'unique_scans equals the scans in the log').toBe(accounting.logged);
    expect(accounting.logged, 'the log has only scans that were attempted').toBe(
      accounting.redirected + accounting.unanswered,
    );
    return accounting;
  });
}
