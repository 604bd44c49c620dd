import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NatsCluster, startNatsCluster } from '../../bench/chaos/nats-cluster.ts';
import { createLogger } from '../../src/lib/logger.ts';
import type { Sql } from '../../src/log/connect.ts';
import { headOfLog } from '../../src/log/read.ts';
import { openDataDirectory } from '../../src/stack/data-directory.ts';
import { endOf, ensureStream } from '../../src/stream/jetstream.ts';
import { startRelay } from '../../src/stream/relay.ts';
import { eventually } from '../support/eventually.ts';
import { captureLog } from '../support/log-lines.ts';
import { countsOf, held, runCountersProjection, scan, useStream } from './stream-support.ts';

let cluster: NatsCluster;
const folder = mkdtempSync(join(tmpdir(), 'nats-cluster-'));
beforeAll(async () => {
  const log = createLogger('silent', false);
  cluster = await startNatsCluster({ data: openDataDirectory(folder), password: 'a-password', log });
});
afterAll(async () => {
  await cluster?.all.stop();
  rmSync(folder, { recursive: true, force: true });
});
const stream = useStream(() => cluster.urls.join(','));

/** Appends scans until the returned function is called, with pauses in which replicas can catch up on a busy machine. */
function startLoad(sql: Sql): () => Promise<void> {
  let stopped = false;
  const running = (async () => {
    for (; !stopped; await sleep(20)) await scan(sql, 5);
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

const expectRelayed = async (sql: Sql, name: string) => {
  const head = await headOfLog(sql);
  const position = async () => (await endOf(stream.manager, name)).position;
  await eventually(async () => expect(await position()).toBeGreaterThanOrEqual(head));
};

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
    const { config, cluster } = await stream.manager.streams.info(name);
    expect(config.num_replicas).toBe(3);
    expect(cluster?.replicas?.map(({ current }) => current)).toEqual([true, true]);
  });
  expect(lines()).toContainEqual(
    expect.objectContaining({ msg: 'stream limits updated', num_replicas: { from: 1, to: 3 } }),
  );

  const leader = await cluster.leaderOf(name);
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

  const refusal = captureLog();
  await ensureStream(stream.manager, { ...common, replicas: 5, log: refusal.log });
  expect(refusal.lines()).toMatchObject([{ level: 'warn', msg: 'stream limits could not be updated' }]);
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
  const holder = await cluster.leaderOf(name);
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
