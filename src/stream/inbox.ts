import { type ConsumerMessages, DeliverPolicy, type JsMsg, type NatsConnection } from 'nats';
import type { LogRange } from '../../events/entry.ts';
import { decodeMessage } from '../../events/wire/stream-message.ts';
import { messageOf } from '../lib/errors.ts';
import { every, type Loop } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { sequenceAfter } from './jetstream.ts';
import { traceparentIn } from './trace-headers.ts';

/** With this much waiting, no more is received; the stream keeps it. A change of rules can have 130 kB. */
const maxWaitingEntries = 20_000;
const maxWaitingBytes = 16 * 1024 * 1024;
const retryMs = 500;

/** A part of the log from one message. */
export interface ReceivedRange extends LogRange {
  /** The span that published the message. */
  traceparent?: string | undefined;
}

interface InboxOptions {
  nats: NatsConnection;
  stream: string;
  after: number;
  /** Ends pending calls of `take`. */
  signal: AbortSignal;
  log: Logger;
  /** Whether ranges name the span of their message. */
  traced?: boolean;
}

/**
 * Receives the messages of a stream after position `after`, and reconnects by itself; missed messages appear as a gap
 * between ranges. It stops at a message that this process cannot decode: the caller then receives nothing, reads the log
 * instead, and calls `restart` with a position after the message.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #receiving: Loop;
  #waiting: { range: ReceivedRange; bytes: number }[] = [];
  /** The number of entries in `#waiting`, and the size of their messages. */
  #size = 0;
  #bytes = 0;
  #position: number;
  #isClosed = false;
  #messages: ConsumerMessages | undefined;
  #arrived = () => {};
  #emptied = () => {};
  #lastReason: string | undefined;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#position = options.after;
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#receiving = every(retryMs, () => this.#receive(), { onError: this.#onError });
  }

  /**
   * Resolves to the ranges that have arrived, in order: as soon as there are `maxEntries` entries, or at `notBefore`; to
   * none when nothing arrives for `idleMs`. A range with more entries than `maxEntries` comes alone.
   */
  async take({ maxEntries, notBefore, idleMs }: TakeLimits): Promise<ReceivedRange[]> {
    const { signal } = this.#options;
    if (this.#waiting.length === 0) await this.#arrival(idleMs);
    while (
      this.#waiting.length > 0 &&
      this.#size < maxEntries &&
      !this.#isFull &&
      performance.now() < notBefore &&
      !signal.aborted
    )
      await this.#arrival(Math.max(0, notBefore - performance.now()));
    return this.#takeUpTo(maxEntries);
  }

  /** Receives again, after position `after`: when a stream is recreated, its old consumer can wait forever. */
  restart(after: number): void {
    this.#position = after;
    this.#messages?.stop();
  }

  close(): void {
    this.#isClosed = true;
    // The signal outlives this inbox: after a failure the projection opens another one with the same signal.
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#emptied();
    this.#messages?.stop();
    void this.#receiving.stop();
  }

  #takeUpTo(maxEntries: number): ReceivedRange[] {
    let count = 0;
    let taken = 0;
    for (const { range, bytes } of this.#waiting) {
      if (count > 0 && count + range.entries.length > maxEntries) break;
      count += range.entries.length;
      this.#bytes -= bytes;
      taken++;
    }
    const ranges = this.#waiting.slice(0, taken).map(({ range }) => range);
    this.#waiting = this.#waiting.slice(taken);
    this.#size -= count;
    if (!this.#isFull) this.#emptied();
    return ranges;
  }

  get #isFull(): boolean {
    return this.#size >= maxWaitingEntries || this.#bytes >= maxWaitingBytes;
  }

  async #receive(): Promise<void> {
    const { nats, stream } = this.#options;
    const manager = await nats.jetstreamManager({ timeout: 2_000 });
    const start = await sequenceAfter(manager, stream, this.#position);
    // An ordered consumer, which the client recreates when a message is missing, so that none is skipped.
    const consumer = await nats
      .jetstream()
      .consumers.get(stream, { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: start });
    this.#messages = await consumer.consume({ max_messages: 100 });
    // `close` may have been called meanwhile, when there was nothing to stop.
    if (this.#isClosed) return this.#messages.stop();
    for await (const message of this.#messages) {
      this.#push(this.#decode(message), message.data.length);
      if (this.#isFull)
        await new Promise<void>((resolve) => {
          this.#emptied = resolve;
        });
      if (this.#isClosed) return;
    }
  }

  #push(range: ReceivedRange, bytes: number): void {
    this.#waiting.push({ range, bytes });
    this.#size += range.entries.length;
    this.#bytes += bytes;
    this.#position = range.to;
    this.#arrived();
  }

  #decode(message: JsMsg): ReceivedRange {
    try {
      const range = decodeMessage(message.data);
      return this.#options.traced === true ? { ...range, traceparent: traceparentIn(message) } : range;
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== this.#lastReason)
        this.#options.log.warn(
          { error: reason, sequence: message.seq },
          'a message of the stream cannot be decoded, reading from the log instead',
        );
      this.#lastReason = reason;
      throw error;
    }
  }

  #arrival(timeoutMs: number): Promise<void> {
    const arrives = new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
    if (this.#options.signal.aborted) this.#arrived();
    return withTimeout(arrives, timeoutMs, () => {});
  }

  readonly #onAbort = () => this.#arrived();

  readonly #onError = (error: unknown) => {
    if (!this.#isClosed)
      this.#options.log.debug({ error: messageOf(error) }, 'the stream cannot be received, trying again');
  };
}

interface TakeLimits {
  maxEntries: number;
  /** On the clock of `performance.now()`. */
  notBefore: number;
  idleMs: number;
}
