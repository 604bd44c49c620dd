import { type ConsumerMessages, DeliverPolicy, type JsMsg, type NatsConnection } from 'nats';
import type { LogRange } from '../../events/entry.ts';
import { decodeMessage } from '../../events/wire/stream-message.ts';
import { messageOf } from '../lib/errors.ts';
import { every } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { sequenceAfter } from './jetstream.ts';

/** Entries that may wait here; the stream keeps the rest. */
const roomFor = 20_000;
const retryMs = 500;

export interface Inbox {
  /** What has arrived, in order: at once when enough has, after a linger otherwise; nothing after an idle while. */
  take(patience: { most: number; lingerMs: number; idleMs: number }): Promise<LogRange[]>;
  /** Receives from after `after` again: a stream that was recreated can leave its consumer waiting for ever. */
  restart(after: number): void;
  close(): void;
}

/**
 * Receives a stream from after position `after`, and reconnects by itself; a message that is missed meanwhile shows as a
 * gap. At a message that this process cannot read it stops, so that its reader finds nothing more and reads the log;
 * `restart` then goes on after it.
 */
export function openInbox({
  nats,
  stream,
  after,
  signal,
  log,
}: {
  nats: NatsConnection;
  stream: string;
  after: number;
  /** Ends all waiting. */
  signal: AbortSignal;
  log: Logger;
}): Inbox {
  let waiting: LogRange[] = [];
  let size = 0;
  let position = after;
  let closed = false;
  let messages: ConsumerMessages | undefined;
  let arrived = () => {};
  let emptied = () => {};
  let unreadable: string | undefined;

  function read(message: JsMsg): LogRange {
    try {
      return decodeMessage(message.data);
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== unreadable)
        log.warn({ error: reason, sequence: message.seq }, 'the stream cannot be read, reading from the log');
      unreadable = reason;
      throw error;
    }
  }

  async function receive(): Promise<void> {
    const manager = await nats.jetstreamManager({ timeout: 2_000 });
    const start = await sequenceAfter(manager, stream, position);
    // Ordered: the client recreates it whenever a message is missing, so that none is skipped.
    const consumer = await nats
      .jetstream()
      .consumers.get(stream, { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: start });
    messages = await consumer.consume({ max_messages: 100 });
    for await (const message of messages) {
      const range = read(message);
      waiting.push(range);
      size += range.entries.length;
      position = range.to;
      arrived();
      if (size >= roomFor)
        await new Promise<void>((resolve) => {
          emptied = resolve;
        });
      if (closed) return;
    }
  }

  const receiving = every(retryMs, receive, {
    onError(error) {
      if (!closed) log.debug({ error: messageOf(error) }, 'no stream to receive');
    },
  });

  const onAbort = () => arrived();
  signal.addEventListener('abort', onAbort, { once: true });
  const arrival = (timeoutMs: number) => {
    const arrives = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    if (signal.aborted) arrived();
    return withTimeout(arrives, timeoutMs, () => {});
  };

  return {
    async take({ most, lingerMs, idleMs }) {
      if (waiting.length === 0) await arrival(idleMs);
      const deadline = performance.now() + lingerMs;
      while (waiting.length > 0 && size < most && performance.now() < deadline && !signal.aborted)
        await arrival(Math.max(0, deadline - performance.now()));
      let count = 0;
      let taken = 0;
      while (taken < waiting.length && (count === 0 || count + (waiting[taken]?.entries.length ?? 0) <= most))
        count += waiting[taken++]?.entries.length ?? 0;
      const ranges = waiting.slice(0, taken);
      waiting = waiting.slice(taken);
      size -= count;
      if (size < roomFor) emptied();
      return ranges;
    },
    restart(after) {
      position = after;
      messages?.stop();
    },
    close() {
      closed = true;
      // The signal outlives this inbox: a projection that fails opens another one on it.
      signal.removeEventListener('abort', onAbort);
      emptied();
      messages?.stop();
      void receiving.stop();
    },
  };
}
