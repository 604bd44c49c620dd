import { describe, expect, test } from 'vitest';
import { counters } from '../../projections/counters.ts';
import { headOfLog, readRange } from '../../src/log/read.ts';
import { ensureStream } from '../../src/stream/jetstream.ts';
import { type Projection, runProjection } from '../../src/stream/runner.ts';
import { eventually } from '../support/eventually.ts';
import { useTimeouts } from '../support/timeouts.ts';
import { countersProjection, countsOf, publish, scan, terminateLeader, useStream } from './stream-support.ts';

// A leader whose session has ended notices it after 0.8 s.
useTimeouts({ leaderHeartbeatMs: 2_000 });
const stream = useStream();
const lock = 99;

describe('a projection fed from the stream', () => {
  test('counts each scan once when messages are repeated, overlapping, out of order or missing', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    await ensureStream(stream.manager, common);
    await scan(sql, 20);
    const ranges = [];
    for (let after = 0; after < 40; after = ranges.at(-1)?.to ?? 40) ranges.push(await readRange(sql, after, 5));
    const [a, b, c, d, e, , , h] = ranges as [(typeof ranges)[0], ...typeof ranges];
    const overlapping = await readRange(sql, a.to - 2, 9);
    for (const range of [a, a, overlapping, c, b, a, d, h, e, h]) if (range) await publish(stream, name, range);

    const running = runProjection({ ...common, projection: countersProjection(sql), lock });
    await eventually(async () => expect(await counters.checkpoint(sql)).toBe(await headOfLog(sql)));
    expect(await countsOf(sql)).toEqual([40, 40]);
    await running.stop();
  });

  test('reads from the log what a stream has dropped at its beginning', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    await ensureStream(stream.manager, common);
    const { config } = await stream.manager.streams.info(name);
    await stream.manager.streams.update(name, { ...config, max_msgs: 2 });
    await scan(sql, 20);
    for (let after = 0; after < 40; after += 4) await publish(stream, name, await readRange(sql, after, 4));
    expect((await stream.manager.streams.info(name)).state.messages).toBe(2);

    const running = runProjection({ ...common, projection: countersProjection(sql), lock });
    await eventually(async () => expect(await countsOf(sql)).toEqual([40, 40]));
    await running.stop();
  });

  test('reads from the log while there is no stream, and from the stream once it exists', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    await scan(sql, 5);
    const running = runProjection({ ...common, projection: countersProjection(sql), lock });
    await eventually(async () => expect(await countsOf(sql)).toEqual([10, 10]));
    await ensureStream(stream.manager, common);
    const head = await headOfLog(sql);
    await scan(sql, 5);
    await publish(stream, name, await readRange(sql, head, 100));
    await eventually(async () => expect(await countsOf(sql)).toEqual([20, 20]));
    await running.stop();
  });

  test('applies nothing after a gap when it is stopped while it reads the gap from the log', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    await ensureStream(stream.manager, common);
    await scan(sql, 20);
    const start = await readRange(sql, 0, 4);
    await publish(stream, name, await readRange(sql, 12, 100));
    let stopped: Promise<void> | undefined;
    const projection: Projection = {
      ...countersProjection(sql),
      maxEntries: 4,
      async apply(range) {
        stopped ??= running.stop();
        await counters.apply(sql, range);
      },
    };
    const running = runProjection({ ...common, projection, lock });
    await eventually(() => expect(stopped, 'the gap is being read').toBeDefined());
    await stopped;
    expect(await counters.checkpoint(sql), 'the checkpoint is at the end of what was applied').toBe(start.to);

    const successor = runProjection({ ...common, projection: countersProjection(sql), lock });
    await eventually(async () => expect(await counters.checkpoint(sql)).toBe(await headOfLog(sql)));
    expect(await countsOf(sql)).toEqual([40, 40]);
    await successor.stop();
  });

  test('counts each scan once with two runners when the session of the leader is terminated', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    await ensureStream(stream.manager, common);
    const runners = [1, 2].map(() => runProjection({ ...common, projection: countersProjection(sql), lock }));
    let published = 0;
    for (let round = 0; round < 4; round++) {
      await scan(sql, 10);
      const range = await readRange(sql, published, 1_000);
      published = range.to;
      await publish(stream, name, range);
      await eventually(async () => expect(await terminateLeader(sql, 'counters'), 'one runner is the leader').toBe(1));
    }
    await eventually(async () => expect(await countsOf(sql)).toEqual([80, 80]));
    await Promise.all(runners.map((runner) => runner.stop()));
  });
});

describe('an event that cannot be applied', () => {
  test('is not skipped: the projection stops before it, reports errors, and continues once it succeeds', async () => {
    const { sql, common } = await stream.fresh();
    await ensureStream(stream.manager, common);
    await scan(sql, 10);
    const { entries } = await readRange(sql, 0, 100);
    const failingPosition = entries[11]?.position ?? 0;
    let fixed = false;
    const applied: number[] = [];
    let checkpoint = 0;
    const projection: Projection = {
      name: 'fragile',
      checkpoint: async () => checkpoint,
      async apply(range) {
        if (!fixed && range.entries.some(({ position }) => position === failingPosition))
          throw new Error('cannot be applied');
        expect(range.after, 'without a gap').toBe(checkpoint);
        applied.push(...range.entries.map(({ position }) => position));
        checkpoint = range.to;
      },
      maxEntries: 3,
      pauseMs: 0,
    };
    const running = runProjection({ ...common, projection, lock });
    const failures = async () =>
      (await common.metrics.projectionFailures.get()).values.find(({ labels }) => labels.projection === 'fragile')
        ?.value ?? 0;
    await eventually(async () => expect(await failures()).toBeGreaterThanOrEqual(3));
    expect(
      applied.every((position) => position < failingPosition),
      'nothing at or after it is applied',
    ).toBe(true);
    expect(checkpoint).toBeLessThan(failingPosition);

    fixed = true;
    await eventually(async () => expect(checkpoint).toBe(await headOfLog(sql)));
    expect(applied, 'all, once, in order').toEqual(entries.map(({ position }) => position));
    await running.stop();
  });

  test('because it cannot be read stops the counters, and later scans are counted once it is gone', async () => {
    const { sql, common } = await stream.fresh();
    await ensureStream(stream.manager, common);
    await scan(sql, 2);
    await sql`
      INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
      VALUES (nextval('log_position'), 'evt_1', 'qr_9', 1, 'code_exploded', 1, '{}', 'operator', now())`;
    await scan(sql, 2);
    const running = runProjection({ ...common, projection: countersProjection(sql), lock });
    const failures = async () => (await common.metrics.projectionFailures.get()).values[0]?.value ?? 0;
    await eventually(async () => expect(await failures()).toBeGreaterThanOrEqual(2));
    expect(await counters.checkpoint(sql)).toBe(0);

    await sql.begin(async (tx) => {
      await tx`ALTER TABLE events DISABLE TRIGGER USER`;
      await tx`DELETE FROM events WHERE id = 'evt_1'`;
    });
    await eventually(async () => expect(await countsOf(sql)).toEqual([8, 8]));
    await running.stop();
  });
});
