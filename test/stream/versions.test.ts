import { describe, expect, test } from 'vitest';
import type { Change } from '../../events/entry.ts';
import { encodeChange, encodeChanges, rangeOf } from '../../events/wire/stream-message.ts';
import { append } from '../../src/log/append.ts';
import { headOfLog, readEvents, readRange } from '../../src/log/read.ts';
import { followChanges } from '../../src/stream/changes.ts';
import { ensureStream } from '../../src/stream/jetstream.ts';
import { subjects } from '../../src/stream/messages.ts';
import { startRelay } from '../../src/stream/relay.ts';
import { opened } from '../support/events.ts';
import { eventually, reaches } from '../support/eventually.ts';
import { captureLog } from '../support/log-lines.ts';
import { countsOf, held, publish, runCountersProjection, scan, useStream } from './stream-support.ts';

const stream = useStream();

const newerMessage = (after: number, to: number) => `{"version":99,"after":${after},"to":${to}}\n?`;
const newer =
  'A message of the stream (version 99, this process reads up to 2) was written by a newer version of Scanlog: upgrade this process first';

describe('a message of a newer version', () => {
  test('is not skipped by a projection: it reads the log instead, logs why, and continues with the stream after it', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    await ensureStream(stream.manager, common);
    await scan(sql, 5);
    const head = await headOfLog(sql);
    await stream.nats.jetstream().publish(subjects(name).scans, newerMessage(0, head));
    const { log, lines } = captureLog();
    const running = runCountersProjection({ ...common, log });
    await eventually(async () => expect(await countsOf(sql)).toEqual([10, 10]));
    await reaches(1, () => lines().filter(({ level, error }) => level === 'warn' && error === newer).length);

    await scan(sql, 5);
    await publish(stream, name, await readRange(sql, head, 1_000));
    await eventually(async () => expect(await countsOf(sql)).toEqual([20, 20]));
    await running.stop();
  });

  test('at the end of the stream does not stop the relay: it publishes after it', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    await ensureStream(stream.manager, common);
    await scan(sql, 5);
    const end = (await headOfLog(sql)) - 4;
    await stream.nats.jetstream().publish(subjects(name).scans, newerMessage(0, end));
    const relay = startRelay(common);
    const messageAt = async (seq: number) => rangeOf((await stream.manager.streams.getMessage(name, { seq })).data);
    await eventually(async () => {
      expect(await messageAt(2)).toEqual({ version: 2, after: end, to: await headOfLog(sql) });
    });
    await relay.stop();
  });

  test('does not end a subscription: later changes arrive, and it is reported once', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    await sql.begin((tx) => append(tx, [opened()], { actor: 'operator', now: new Date() }));
    const [change] = (await readEvents(sql, 0, 1)) as [Change];
    const { log, lines } = captureLog();
    const received: Change[] = [];
    const stop = followChanges(common.nats, name, (changes) => received.push(...changes), log);
    const { changes } = subjects(name);
    for (let i = 0; i < 3; i++) common.nats.publish(changes, newerMessage(i, i + 1));
    common.nats.publish(changes, encodeChanges({ after: 3, to: 4 }, [encodeChange(change)]));
    await eventually(() => expect(received).toEqual([change]));
    expect(lines().map(({ level, error }) => [level, error])).toEqual([['warn', newer]]);
    stop();
  });
});

test('relay and projection stop before an event of a newer version, and log what to do', async () => {
  const { sql, common, stream: name } = await stream.fresh();
  await scan(sql, 2);
  const { log, lines } = captureLog();
  const relay = startRelay({ ...common, log });
  const running = runCountersProjection({ ...common, log });
  await eventually(async () => expect(await countsOf(sql)).toEqual([4, 4]));
  await sql`
    INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
    VALUES (nextval('log_position'), 'evt_1', 'qr_9', 1, 'code_paused', 2, '{"until":"noon"}', 'operator', now())`;
  await scan(sql, 2);
  const refused =
    'An event of type code_paused (version 2, this process reads up to 1) was written by a newer version of Scanlog: upgrade this process first';
  await eventually(() => {
    const reports = lines().filter(({ error }) => error === refused);
    expect(reports.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining(['relay failed, retrying', 'projection failed, retrying']),
    );
  });
  expect(await countsOf(sql), 'nothing after it is counted').toEqual([4, 4]);
  const ends = (await held(stream, name)).map(({ to }) => to);
  expect(Math.max(0, ...ends), 'nothing after it is relayed').toBeLessThan(await headOfLog(sql));
  await Promise.all([relay.stop(), running.stop()]);
});
