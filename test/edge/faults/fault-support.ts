import { afterAll, beforeAll, expect } from 'vitest';
import { type Reckoning, reckon } from '../../../src/chaos/accounting.ts';
import { openConnection } from '../../../src/chaos/connection.ts';
import type { Attempt, ScannedCode, Scanner } from '../../../src/chaos/scanner.ts';
import type { ServiceProcess } from '../../../src/chaos/service-process.ts';
import { startWorld, type World } from '../../../src/chaos/world.ts';
import { eventually } from '../../support/eventually.ts';

/** A stack and services for one file to break, with the services of the file running. */
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
    Object.assign(world, await startWorld(parts));
    for (const own of settings) world.services.push(await world.service(own, flags));
    await Promise.all(world.services.map((service) => service.start()));
  });
  afterAll(() => world.stop?.());
  return world;
}

/** So many scans of this kind from now on. */
export async function untilSeen(
  { attempts }: Scanner,
  outcome: Attempt['outcome'],
  count: number,
  withinMs = 20_000,
): Promise<void> {
  const from = attempts.length;
  await eventually(() => {
    const seen = attempts.slice(from).filter((attempt) => attempt.outcome === outcome).length;
    expect(seen, `scans that end with ${outcome}`).toBeGreaterThanOrEqual(count);
  }, withinMs);
}

export const statusOn = async ({ port }: ServiceProcess, { shortCode }: ScannedCode): Promise<number> => {
  const connection = openConnection(port);
  return connection.ask(`/${shortCode}`, {}).finally(connection.close);
};

/** Waits until nothing is under way any more: every redirect is one scan, and counted. */
export async function expectExact(world: World, attempts: Attempt[]): Promise<Reckoning> {
  return eventually(async () => {
    const reckoning = await reckon(world, attempts);
    expect(reckoning).toMatchObject({ lost: 0, doubled: 0 });
    expect(reckoning.counted, 'every scan of the log is counted in total_scans').toBe(reckoning.logged);
    expect(reckoning.unique, 'each by a visitor of its own').toBe(reckoning.logged);
    expect(reckoning.logged, 'nothing is in the log that nobody has sent').toBe(
      reckoning.redirected + reckoning.unanswered,
    );
    return reckoning;
  }, 25_000);
}
