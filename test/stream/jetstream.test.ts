import { nanos } from 'nats';
import { describe, expect, test } from 'vitest';
import { Inbox } from '../../src/stream/inbox.ts';
import { ensureStream } from '../../src/stream/jetstream.ts';
import { eventually } from '../support/eventually.ts';
import { captureLog } from '../support/log-lines.ts';
import { useStream } from './stream-support.ts';

const stream = useStream();

describe('an existing stream', () => {
  test('gets the limits of this version once, which is logged, and keeps its other settings', async () => {
    const { common, stream: name } = await stream.fresh();
    await ensureStream(stream.manager, common);
    const { config: ours } = await stream.manager.streams.info(name);
    await stream.manager.streams.update(name, {
      ...ours,
      max_age: nanos(60_000),
      max_bytes: 1_000_000,
      duplicate_window: nanos(1_000),
      max_msgs: 1_234,
    });
    const { log, lines } = captureLog();
    await ensureStream(stream.manager, { ...common, log });
    const { config } = await stream.manager.streams.info(name);
    expect(config).toEqual({ ...ours, max_msgs: 1_234 });
    expect(lines()).toMatchObject([
      {
        level: 'info',
        msg: 'stream limits updated',
        max_age: { from: nanos(60_000), to: ours.max_age },
        max_bytes: { from: 1_000_000, to: ours.max_bytes },
        duplicate_window: { from: nanos(1_000), to: ours.duplicate_window },
      },
    ]);
    expect(lines()[0]).not.toHaveProperty('num_replicas');

    await ensureStream(stream.manager, { ...common, log });
    expect(lines(), 'the second call changes nothing').toHaveLength(1);
  });

  test('is used with its current limits, and a warning, when the server refuses the update', async () => {
    const { common, stream: name } = await stream.fresh();
    await ensureStream(stream.manager, common);
    const { log, lines } = captureLog();
    // A single server cannot store three replicas.
    await ensureStream(stream.manager, { ...common, replicas: 3, log });
    expect(lines()).toMatchObject([
      { level: 'warn', msg: 'stream limits could not be updated', num_replicas: { from: 1, to: 3 } },
    ]);
    expect((await stream.manager.streams.info(name)).config.num_replicas).toBe(1);
  });
});

test('a closed inbox leaves no listener on its abort signal', async () => {
  const { common } = await stream.fresh();
  const { signal } = new AbortController();
  const listening = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listening.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listening.delete(args[1]);
    remove(...args);
  };
  for (let run = 0; run < 20; run++) {
    const inbox = new Inbox({ ...common, after: 0, signal });
    expect(listening.size, 'listeners of an open inbox').toBe(1);
    inbox.close();
  }
  expect(listening.size).toBe(0);
});

test('an inbox that is closed while it subscribes stops the subscription', async () => {
  const { common, stream: name } = await stream.fresh();
  await ensureStream(stream.manager, common);
  const inbox = new Inbox({ ...common, after: 0, signal: new AbortController().signal });
  inbox.close();
  const openPulls = async () => {
    const consumers = await stream.manager.consumers.list(name).next();
    return consumers.map(({ num_waiting }) => num_waiting);
  };
  // A pull that is not stopped ends after 30 s, and the next one begins.
  await eventually(async () => expect(await openPulls()).toEqual([0]));
});
