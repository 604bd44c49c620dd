import { type ConsumerMessages, DeliverPolicy, type JsMsg, type NatsConnection } from 'nats';
import type { LogRange } from '../../events/entry.ts';
import { decodeMessage } from '../../events/wire/stream-message.ts';
import { messageOf } from '../lib/errors.ts';
import { every } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { sequenceAfter } from './jetstream.ts';

/** With this many entries waiting, no more are received; the stream keeps them. */
const maxWaitingEntries = 20_000;
const retryMs = 500;

export interface Inbox {
  /**
   * Resolves to the ranges that have arrived, in order: as soon as there are `maxEntries` entries, or `lingerMs` after
   * the first; to none when nothing arrives for `idleMs`. A range with more entries than `maxEntries` comes alone.
   */
  take(limits: { maxEntries: number; lingerMs: number; idleMs: number }): Promise<LogRange[]>;
  /** Receives again, after position `after`: when a stream is recreated, its old consumer can wait forever. */
  restart(after: number): void;
  close(): void;
}

/**
 * Receives the messages of a stream after position `after`, and reconnects by itself; missed messages appear as a gap
 * between ranges. It stops at a message that this process cannot decode: the caller then receives nothing, reads the log
 * instead, and calls `restart` with a position after the message.
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
  /** Ends pending calls of `take`. */
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
  let lastReason: string | undefined;

  function decode(message: JsMsg): LogRange {
    try {
      return decodeMessage(message.data);
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== lastReason)
        log.warn(
          { error: reason, sequence: message.seq },
          'a message of the stream cannot be decoded, reading from the log instead',
        );
      lastReason = reason;
      throw error;
    }
  }

  async function receive(): Promise<void> {
    const manager = await nats.jetstreamManager({ timeout: 2_000 });
    const start = await sequenceAfter(manager, stream, position);
    // An ordered consumer, which the client recreates when a message is missing, so that none is skipped.
    const consumer = await nats
      .jetstream()
      .consumers.get(stream, { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: start });
    messages = await consumer.consume({ max_messages: 100 });
    for await (const message of messages) {
      const range = decode(message);
      waiting.push(range);
      size += range.entries.length;
      position = range.to;
      arrived();
      if (size >= maxWaitingEntries)
        await new Promise<void>((resolve) => {
          emptied = resolve;
        });
      if (closed) return;
    }
  }

  const receiving = every(retryMs, receive, {
    onError(error) {
      if (!closed) log.debug({ error: messageOf(error) }, 'the stream cannot be received, trying again');
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
    async take({ maxEntries, lingerMs, idleMs }) {
      if (waiting.length === 0) await arrival(idleMs);
      const deadline = performance.now() + lingerMs;
      while (waiting.length > 0 && size < maxEntries && performance.now() < deadline && !signal.aborted)
        await arrival(Math.max(0, deadline - performance.now()));
      let count = 0;
      let taken = 0;
      while (taken < waiting.length && (count === 0 || count + (waiting[taken]?.entries.length ?? 0) <= maxEntries))
        count += waiting[taken++]?.entries.length ?? 0;
      const ranges = waiting.slice(0, taken);
      waiting = waiting.slice(taken);
      size -= count;
      if (size < maxWaitingEntries) emptied();
      return ranges;
    },
    restart(after) {
      position = after;
      messages?.stop();
    },
    close() {
      closed = true;
      // The signal outlives this inbox: after a failure the projection opens another one with the same signal.
      signal.removeEventListener('abort', onAbort);
      emptied();
      messages?.stop();
      void receiving.stop();
    },
  };
}
