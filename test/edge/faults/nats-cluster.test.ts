import { expect, test } from 'vitest';
import { withoutNatsLeader } from '../../../bench/chaos/faults.ts';
import type { NatsCluster } from '../../../bench/chaos/nats-cluster.ts';
import { outcomesOf, startScanning } from '../../../bench/chaos/scanner.ts';
import { headOfLog } from '../../../src/log/read.ts';
import { connectStream } from '../../../src/stream/connect.ts';
import { endOf } from '../../../src/stream/jetstream.ts';
import { eventually } from '../../support/eventually.ts';
import { expectExact, knownCodes, untilSeen, useWorld } from './fault-support.ts';

const world = useWorld([{}, {}], { withNatsCluster: true });

/** Waits until the stream has reached the current end of the log. */
async function expectRelayed({ urls }: NatsCluster): Promise<void> {
  const head = await headOfLog(world.sql);
  const nats = await connectStream(urls.join(','), 'test', AbortSignal.timeout(30_000));
  await eventually(async () => {
    const manager = await nats.jetstreamManager({ timeout: 2_000 });
    expect((await endOf(manager, 'scanlog')).position).toBeGreaterThanOrEqual(head);
  });
  await nats.close();
}

test('stream leader of a three-node NATS cluster killed with -9 under load, then a follower: every scan redirects and is counted once', async () => {
  const { natsCluster: cluster } = world;
  if (cluster === undefined) throw new Error('this world has no cluster');
  const ports = world.services.map(({ port }) => port);
  const scanner = startScanning({ ports, codes: await knownCodes(world, 3, ports) });
  await untilSeen(scanner, 302, 200);
  await withoutNatsLeader(world, async () => {
    await untilSeen(scanner, 302, 300);
    await expectRelayed(cluster);
  });
  const leader = await cluster.leaderOf('scanlog');
  const other = cluster.servers.find((server) => server !== leader);
  await other?.kill();
  await untilSeen(scanner, 302, 300).finally(() => other?.restart());
  await expectRelayed(cluster);
  await scanner.stop();

  expect([...outcomesOf(scanner.attempts).keys()], 'every scan was redirected').toEqual([302]);
  const { redirected, logged } = await expectExact(world, scanner.attempts);
  expect(logged).toBe(redirected);
  await expectRelayed(cluster);
});
