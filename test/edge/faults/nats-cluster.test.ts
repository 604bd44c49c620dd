import { describe, expect, test } from 'vitest';
import { withoutNatsLeader } from '../../../bench/chaos/faults.ts';
import type { NatsCluster } from '../../../bench/chaos/nats-cluster.ts';
import { outcomesOf, startScanning } from '../../../bench/chaos/scanner.ts';
import type { Sql } from '../../../src/lib/sql.ts';
import { headOfLog } from '../../../src/log/read.ts';
import { endOf, ensureStream } from '../../../src/stream/jetstream.ts';
import { startRelay } from '../../../src/stream/relay.ts';
import { countsOf, held, runCountersProjection, scan, useStream } from '../../stream/stream-support.ts';
import { eventually } from '../../support/eventually.ts';
import { captureLog } from '../../support/log-lines.ts';
import { expectExact, knownCodes, untilSeen, useWorld, withoutBackground } from './fault-support.ts';

const world = useWorld([{}, withoutBackground], { withNatsCluster: true });
const cluster = (): NatsCluster => {
  if (world.natsCluster === undefined) throw new Error('this world has no cluster');
  return world.natsCluster;
};
const stream = useStream(() => cluster().urls.join(','));

/** Waits until the stream has reached the current end of the log. During an election JetStream does not answer. */
async function expectRelayed(sql: Sql, name: string): Promise<void> {
  const head = await headOfLog(sql);
  await eventually(async () => {
    expect((await endOf(stream.manager, name)).position).toBeGreaterThanOrEqual(head);
  });
}

test('stream leader of a three-node NATS cluster killed with -9 under load, then a follower: every scan redirects and is counted once', async () => {
  const ports = world.services.map(({ port }) => port);
  const scanner = startScanning({ ports, codes: await knownCodes(world, 3, ports) });
  await untilSeen(scanner, 302, 50);
  await withoutNatsLeader(world, async () => {
    await untilSeen(scanner, 302, 75);
    await expectRelayed(world.sql, 'scanlog');
  });
  const leader = await cluster().leaderOf('scanlog');
  const other = cluster().servers.find((server) => server !== leader);
  await other?.kill();
  await untilSeen(scanner, 302, 75).finally(() => other?.restart());
  await expectRelayed(world.sql, 'scanlog');
  await scanner.stop();

  expect([...outcomesOf(scanner.attempts).keys()], 'every scan was redirected').toEqual([302]);
  const { redirected, logged } = await expectExact(world, scanner.attempts);
  expect(logged).toBe(redirected);
  await expectRelayed(world.sql, 'scanlog');
});

describe('a relay on the cluster', () => {
  /** Appends scans until the returned function is called, each batch when the one before is counted. */
  function startLoad(sql: Sql): () => Promise<void> {
    let stopped = false;
    const running = (async () => {
      while (!stopped) {
        await scan(sql, 5);
        await expectCounted(sql);
      }
    })();
    return async () => {
      stopped = true;
      await running;
    };
  }

  async function expectCounted(sql: Sql): Promise<void> {
    await eventually(async () => {
      const [{ total }] = await sql<[{ total: number }]>`SELECT count(*) AS total FROM scans`;
      expect(await countsOf(sql)).toEqual([total, total]);
    });
  }

  test('nothing is missing after a stream in use changes from 1 to 3 replicas and its leader is killed', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    const first = startRelay(common);
    const running = runCountersProjection(common);
    const stopLoad = startLoad(sql);
    await eventually(async () => expect(await held(stream, name)).not.toHaveLength(0));
    expect((await stream.manager.streams.info(name)).config.num_replicas).toBe(1);
    await first.stop();

    const { log, lines } = captureLog();
    const second = startRelay({ ...common, replicas: 3, log });
    await eventually(async () => {
      const { config, cluster: state } = await stream.manager.streams.info(name);
      expect(config.num_replicas).toBe(3);
      expect(state?.replicas?.map(({ current }) => current)).toEqual([true, true]);
    });
    expect(lines()).toContainEqual(
      expect.objectContaining({ msg: 'stream limits updated', num_replicas: { from: 1, to: 3 } }),
    );

    const leader = await cluster().leaderOf(name);
    await leader.kill();
    await expectRelayed(sql, name);
    await leader.restart();
    await stopLoad();
    await expectRelayed(sql, name);
    await expectCounted(sql);
    // Retried, because a restarted server answers from its old copy for a second.
    await eventually(async () => {
      const ranges = await held(stream, name);
      let reached = ranges[0]?.after ?? 0;
      for (const { after, to } of ranges) {
        expect(after, 'no message begins after the end of the one before').toBeLessThanOrEqual(reached);
        reached = Math.max(reached, to);
      }
      expect(reached).toBe(await headOfLog(sql));
    });

    await eventually(async () => {
      const refusal = captureLog();
      await ensureStream(stream.manager, { ...common, replicas: 5, log: refusal.log });
      expect(refusal.lines()).toMatchObject([{ level: 'warn', msg: 'stream limits could not be updated' }]);
    });
    const replicas = async () => (await stream.manager.streams.info(name)).config.num_replicas;
    await eventually(async () => expect(await replicas()).toBe(3));
    await Promise.all([second.stop(), running.stop()]);
  });

  test('with one replica and its server killed, the counters read the log, and the relay continues after the restart', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    const relay = startRelay(common);
    const running = runCountersProjection(common);
    await eventually(async () => {
      await scan(sql, 1);
      expect(await held(stream, name)).not.toHaveLength(0);
    });
    const holder = await cluster().leaderOf(name);
    await holder.kill();
    await scan(sql, 5);
    await expectCounted(sql);
    await expect(stream.manager.streams.info(name), 'the stream is unavailable').rejects.toThrow();
    await holder.restart();
    await expectRelayed(sql, name);
    await scan(sql, 5);
    await expectCounted(sql);
    await expectRelayed(sql, name);
    await Promise.all([relay.stop(), running.stop()]);
  });
});
