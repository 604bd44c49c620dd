import { expect, test } from 'vitest';
import { withPostgresFrozen } from '../../../bench/chaos/faults.ts';
import { outcomesOf, startScanning } from '../../../bench/chaos/scanner.ts';
import { expectExact, knownCodes, untilSeen, useWorld } from './fault-support.ts';

const world = useWorld([{ EDGE_DURABILITY: 'disk' }], { flags: ['--edges', '2'] });

test('two edges with durability disk, Postgres frozen under load that goes on: every 302 is one scan', async () => {
  const ports = world.services.map(({ port }) => port);
  const codes = await knownCodes(world, 2, [...ports, ...ports, ...ports, ...ports]);
  const scanner = startScanning({ ports, codes, connections: 32, pauseMs: 20 });
  await untilSeen(scanner, 302, 200);
  await withPostgresFrozen(world, () => untilSeen(scanner, 302, 1_000));
  await untilSeen(scanner, 302, 500);
  await scanner.stop();
  const refused = [...outcomesOf(scanner.attempts).keys()].filter((outcome) => outcome !== 302);
  expect(refused, 'a code that one of the edges did not have in memory').toEqual(refused.length === 0 ? [] : [503]);
  await expectExact(world, scanner.attempts);
});
