import { describe, expect, test } from 'vitest';
import { withoutPostgres } from '../../../bench/chaos/faults.ts';
import { outcomesOf, startScanning } from '../../../bench/chaos/scanner.ts';
import { expectExact, untilSeen, useWorld } from './fault-support.ts';

const world = useWorld([{ SPOOL_MAX_BYTES: '60000' }]);

describe('a spool that fills while Postgres is down', () => {
  test('answers 503 instead of an unrecorded redirect, and redirects again when Postgres is back', async () => {
    const ports = world.services.map(({ port }) => port);
    const scanner = startScanning({ ports, codes: await world.codes(2) });
    await untilSeen(scanner, 302, 100);
    await withoutPostgres(world, () => untilSeen(scanner, 503, 50));
    await untilSeen(scanner, 302, 200);
    await scanner.stop();
    expect([...outcomesOf(scanner.attempts).keys()].sort()).toEqual([302, 503]);
    await expectExact(world, scanner.attempts);
  });
});
