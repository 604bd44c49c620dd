import { describe, expect, test } from 'vitest';
import { withoutNats, withoutStreamStorage } from '../../../bench/chaos/faults.ts';
import { outcomesOf, startScanning } from '../../../bench/chaos/scanner.ts';
import { expectExact, knownCodes, untilSeen, useWorld } from './fault-support.ts';

const world = useWorld([{}, {}]);
const ports = () => world.services.map(({ port }) => port);

describe('NATS under load', () => {
  test.each([
    ['killed with -9', withoutNats],
    ['killed with -9, its storage deleted', withoutStreamStorage],
  ])('%s: every scan redirects and is counted once', async (_, fault) => {
    const scanner = startScanning({ ports: ports(), codes: await knownCodes(world, 3, ports()) });
    await untilSeen(scanner, 302, 200);
    await fault(world, () => untilSeen(scanner, 302, 200));
    await untilSeen(scanner, 302, 200);
    await scanner.stop();

    expect([...outcomesOf(scanner.attempts).keys()], 'every scan was redirected').toEqual([302]);
    const { redirected, logged } = await expectExact(world, scanner.attempts);
    expect(logged).toBe(redirected);
  });
});
