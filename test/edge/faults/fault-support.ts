import { afterAll, beforeAll, expect } from 'vitest';
import { accountForScans, type ScanAccounting } from '../../../bench/chaos/accounting.ts';
import { openConnection } from '../../../bench/chaos/connection.ts';
import type { Attempt, ScannedCode, Scanner } from '../../../bench/chaos/scanner.ts';
import type { ServiceProcess } from '../../../bench/chaos/service-process.ts';
import { startWorld, type World } from '../../../bench/chaos/world.ts';
import { eventually } from '../../support/eventually.ts';
import { timeoutScale } from '../../support/limits.ts';

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

/** New codes that the services at `ports` have in memory. */
export async function knownCodes(world: World, count: number, ports: number[]): Promise<ScannedCode[]> {
  const codes = await world.codes(count);
  for (const port of ports)
    for (const { shortCode } of codes)
      await eventually(async () => {
        // HEAD loads the route, and is not a scan. On a connection of its own, which any process of the port may get.
        const { status } = await fetch(`http://127.0.0.1:${port}/${shortCode}`, {
          ...{ method: 'HEAD', redirect: 'manual', headers: { connection: 'close' } },
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
export async function expectExact(world: World, attempts: Attempt[]): Promise<ScanAccounting> {
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
