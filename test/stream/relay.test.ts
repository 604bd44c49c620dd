import { describe, expect, inject, test } from 'vitest';
import type { LogRange } from '../../events/entry.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { append } from '../../src/log/append.ts';
import { headOfLog, readRange } from '../../src/log/read.ts';
import { connectStream } from '../../src/stream/connect.ts';
import { startRelay } from '../../src/stream/relay.ts';
import { opened } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { captureLog } from '../support/log-lines.ts';
import { useTimeouts } from '../support/timeouts.ts';
import { startOneWayProxy } from './one-way-proxy.ts';
import { countsOf, held, runCountersProjection, scan, terminateLeader, useStream } from './stream-support.ts';

// A leader whose session has ended notices it after 0.8 s.
useTimeouts({ leaderHeartbeatMs: 2_000 });
const stream = useStream();

/** Appends scans until the relay publishes: on an empty stream it starts at the end of the log. */
const untilRelaying = (sql: Sql, name: string) =>
  eventually(async () => {
    await scan(sql, 1);
    expect(await held(stream, name), 'messages in the stream').not.toHaveLength(0);
  });

/** Expects all entries from the first message to the end of the log, without gaps or duplicates. */
async function expectComplete(sql: Sql, name: string): Promise<LogRange[]> {
  return eventually(async () => {
    const ranges = await held(stream, name);
    const head = await headOfLog(sql);
    const from = ranges[0]?.after ?? 0;
    let reached = from;
    for (const { after, to } of ranges) {
      expect(after, 'each message begins where the one before ends').toBe(reached);
      reached = to;
    }
    expect(reached, 'up to the end of the log').toBe(head);
    const log = await readRange(sql, from, 100_000);
    expect(ranges.flatMap(({ entries }) => entries)).toEqual(log.entries);
    return ranges;
  });
}

/** Counts the queries that read scans from the log. */
function countingReads(sql: Sql): { reader: Sql; reads(): number } {
  let reads = 0;
  const reader = new Proxy(sql, {
    apply(target, _, given: Parameters<Sql>) {
      if (String(given[0]).includes('is_unique, revision')) reads++;
      return target(...given);
    },
  });
  return { reader, reads: () => reads };
}

describe('the relay', () => {
  test('publishes the log in order, scans and changes in separate messages', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    const relay = startRelay(common);
    await untilRelaying(sql, name);
    for (let i = 0; i < 5; i++) {
      await scan(sql, 3);
      await sql.begin((tx) => append(tx, [opened()], { actor: 'operator', now: new Date() }));
    }
    const ranges = await expectComplete(sql, name);
    for (const { entries } of ranges) expect(new Set(entries.map(({ type }) => type)).size).toBe(1);
    await relay.stop();
  });

  test('is taken over by another process when its session is terminated under load, without gaps or duplicates', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    const relays = [startRelay(common), startRelay(common)];
    await untilRelaying(sql, name);
    let stopped = false;
    const load = (async () => {
      while (!stopped) await scan(sql, 5);
    })();
    for (let round = 0; round < 3; round++) {
      await eventually(async () => expect(await terminateLeader(sql, 'relay'), 'one relay is the leader').toBe(1));
      const before = (await stream.manager.streams.info(name)).state.last_seq;
      await eventually(async () =>
        expect((await stream.manager.streams.info(name)).state.last_seq, 'it publishes again').toBeGreaterThan(before),
      );
    }
    stopped = true;
    await load;
    await expectComplete(sql, name);
    await Promise.all(relays.map((relay) => relay.stop()));
  });

  test.each([
    ['deleted', (name: string) => stream.manager.streams.delete(name)],
    ['emptied', (name: string) => stream.manager.streams.purge(name)],
  ])('continues when its stream is %s, and the counters miss nothing', async (_, lose) => {
    const { sql, common, stream: name } = await stream.fresh();
    const relay = startRelay(common);
    const { reader, reads } = countingReads(sql);
    const running = runCountersProjection({ ...common, sql: reader });
    await scan(sql, 20);
    await eventually(async () => expect(await countsOf(sql)).toEqual([40, 40]));
    await lose(name);
    await scan(sql, 20);
    await eventually(async () => expect(await countsOf(sql)).toEqual([80, 80]));
    await scan(sql, 20);
    await eventually(async () => expect(await countsOf(sql)).toEqual([120, 120]));
    await eventually(async () => {
      const before = { reads: reads(), counts: await countsOf(sql) };
      await scan(sql, 1);
      await eventually(async () => expect(await countsOf(sql)).not.toEqual(before.counts));
      expect(reads(), 'scans come from the stream again, not from the log').toBe(before.reads);
    });
    await eventually(async () => {
      const messages = await held(stream, name);
      // A new stream begins at the head of the log. A read of the log from before the last scan may have found it.
      if (messages.length === 0) await scan(sql, 1);
      expect(messages.at(-1)?.to).toBe(await headOfLog(sql));
    });
    await Promise.all([relay.stop(), running.stop()]);
  });

  test('publishes again what a stream has lost at its end', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    const first = startRelay(common);
    await untilRelaying(sql, name);
    for (let i = 0; i < 6; i++) {
      await scan(sql, 2);
      await eventually(async () => expect((await held(stream, name)).at(-1)?.to).toBe(await headOfLog(sql)));
    }
    await first.stop();
    const { state } = await stream.manager.streams.info(name);
    for (const seq of [state.last_seq, state.last_seq - 1]) await stream.manager.streams.deleteMessage(name, seq);

    const second = startRelay(common);
    const running = runCountersProjection(common);
    await scan(sql, 2);
    await expectComplete(sql, name);
    const [{ total }] = await sql<[{ total: number }]>`SELECT count(*) AS total FROM scans`;
    await eventually(async () => expect(await countsOf(sql)).toEqual([total, total]));
    await Promise.all([second.stop(), running.stop()]);
  });

  test('does not publish again what the stream has stored when acknowledgements are lost', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    const proxy = await startOneWayProxy(inject('stack').natsUrl);
    const nats = await connectStream(proxy.url, 'test', new AbortController().signal);
    const { log, lines } = captureLog();
    const relay = startRelay({ ...common, nats, log });
    await untilRelaying(sql, name);
    const end = async () => (await held(stream, name)).at(-1)?.to ?? 0;
    await eventually(async () => expect(await end()).toBe(await headOfLog(sql)));
    const before = await end();
    proxy.dropResponses();
    await scan(sql, 5);
    await eventually(() => expect(lines().map(({ error }) => error)).toContain('TIMEOUT'));
    expect(await end(), 'the stream has stored messages whose acknowledgement was lost').toBeGreaterThan(before);
    proxy.restore();
    await scan(sql, 5);
    await expectComplete(sql, name);
    await relay.stop();
    await nats.close();
    await proxy.close();
  });
});
