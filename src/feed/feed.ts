import type { NatsConnection } from 'nats';
import { type Owner, ownerKey } from '../../events/owner.ts';
import { ArchiveError } from '../archive/errors.ts';
import { invalid, messageOf, Refusal } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { isPostgresUnavailable, type Sql } from '../log/connect.ts';
import { headOfLog } from '../log/read.ts';
import { type Cursors, loadCursors } from './cursor.ts';
import type { Filter } from './filter.ts';
import { type Frame, frameOf } from './frame.ts';
import { readPage } from './read-page.ts';
import { type FeedCaller, Reader } from './reader.ts';
import { Tail } from './tail.ts';

/** Open streams and waiting requests of this process: of one account and mode, and of all. */
const maxReadersPerOwner = 100;
const maxReaders = 1_000;
/** Shorter than the idle timeouts of usual proxies, 30 s and more. */
const heartbeatMs = 15_000;
/** A client reconnects with its key and its cursor; what it may read is checked again. */
const maxStreamMs = 3_600_000;
const retryMs = 1_000;
/** Pause between two chunks of new events: a write for each of 100 readers costs more than the events in it. */
const chunkPauseMs = 200;
/** About 100 kB, the most that a stream holds beside what its channel has. */
const eventsPerChunk = 250;

interface FeedOptions {
  sql: Sql;
  /** The connection and the name of the stream; undefined while NATS was never connected. */
  stream(): { nats: NatsConnection; name: string } | undefined;
  /** Aborted when the service stops: open streams and waiting requests end. */
  stopping: AbortSignal;
  log: Logger;
  timers?: Timers;
}

interface Position {
  after: number;
  filter: Filter;
}

export interface FeedPage {
  /** Each event as JSON. */
  events: string[];
  next: string;
  has_more: boolean;
}

/** The events of an account and mode, in log order. */
export class Feed {
  readonly #options: FeedOptions;
  readonly #timers: Timers;
  readonly #tail: Tail;
  readonly #readers = new Map<string, number>();
  #cursors: Promise<Cursors> | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#tail = new Tail({ ...options, cursors: () => this.#loadCursors() });
  }

  /** The position of a cursor: the beginning of the log without one, its end for `now`. Refuses a cursor of others. */
  async positionOf(owner: Owner, cursor: string | undefined, field: string): Promise<number> {
    if (cursor === undefined) return 0;
    if (cursor === 'now') return headOfLog(this.#options.sql);
    const position = (await this.#loadCursors()).open(owner, cursor);
    if (position !== undefined) return position;
    throw invalid([
      {
        field,
        message: `${field} must be "now", or a cursor that this service returned to a key of this account and mode.`,
      },
    ]);
  }

  /** One page, at once. */
  async read(owner: Owner, { after, filter, limit }: Position & { limit: number }): Promise<FeedPage> {
    const cursors = await this.#loadCursors();
    const { entries, to, isAtEnd } = await readPage(this.#options.sql, owner, { after, filter, limit });
    const frames = entries.flatMap((entry) => frameOf(entry, owner, cursors) ?? []);
    return pageOf(cursors, owner, frames, { to, isAtEnd });
  }

  /** One page, as soon as it has an event, or an empty one after `waitMs`. */
  async wait(
    caller: FeedCaller,
    { limit, waitMs, signal, ...position }: Position & { limit: number; waitMs: number; signal: AbortSignal },
  ): Promise<FeedPage> {
    const cursors = await this.#loadCursors();
    const ending = AbortSignal.any([signal, this.#options.stopping]);
    const deadline = this.#timers.now() + waitMs;
    const reader = this.#open(caller, position, cursors);
    try {
      for (;;) {
        const { frames, isAtEnd } = await reader.read(limit);
        const leftMs = deadline - this.#timers.now();
        const isOver = leftMs <= 0 || ending.aborted || reader.ended !== undefined;
        if (frames.length > 0 || !isAtEnd || isOver)
          return pageOf(cursors, caller, frames, { to: reader.position, isAtEnd });
        await reader.untilNews(leftMs, ending);
      }
    } finally {
      this.#close(caller, reader);
    }
  }

  /**
   * Events as a `text/event-stream`, until the client disconnects, the key is revoked, the account is suspended or the
   * service stops. Produces only as fast as the client reads, and holds one chunk.
   */
  async *stream(
    caller: FeedCaller,
    { signal, isAllowed, ...position }: Position & { signal: AbortSignal; isAllowed(): Promise<boolean> },
  ): AsyncGenerator<Uint8Array> {
    const cursors = await this.#loadCursors();
    const ending = AbortSignal.any([signal, this.#options.stopping]);
    const until = this.#timers.now() + maxStreamMs;
    const reader = this.#open(caller, position, cursors);
    try {
      yield encoder.encode(': connected\nretry: 2000\n\n');
      // The key can have been revoked between the admission of the request and the start of the reader.
      if (!(await isAllowed())) return;
      let sentAt = this.#timers.now();
      while (!ending.aborted && reader.ended === undefined && this.#timers.now() < until) {
        const { frames, isAtEnd } = await this.#readOrWait(reader, ending);
        if (frames.length > 0) {
          yield chunkOf(reader, frames);
          sentAt = this.#timers.now();
        } else if (this.#timers.now() - sentAt >= heartbeatMs) {
          yield heartbeat;
          sentAt = this.#timers.now();
        }
        if (isAtEnd) {
          await reader.untilNews(Math.max(0, sentAt + heartbeatMs - this.#timers.now()), ending);
          const pauseMs = sentAt + chunkPauseMs - this.#timers.now();
          if (frames.length > 0 && pauseMs > 0) await this.#timers.sleep(pauseMs, { signal: ending });
        }
      }
      if (reader.ended !== undefined) yield encoder.encode(`: ended, ${reader.ended}\n\n`);
    } finally {
      this.#close(caller, reader);
    }
  }

  /** Throws if the account, or this process, has too many readers. */
  refuseIfFull(owner: Owner): void {
    const ofOwner = this.#readers.get(ownerKey(owner)) ?? 0;
    const ofAll = [...this.#readers.values()].reduce((sum, count) => sum + count, 0);
    if (ofOwner < maxReadersPerOwner && ofAll < maxReaders) return;
    const message = `Too many open streams and waiting requests, the limit is ${maxReadersPerOwner}: close one, or try again.`;
    throw new Refusal('rate_limited', message, undefined, { 'retry-after': '10' });
  }

  /** While Postgres or the archive is unavailable, pauses and returns nothing. */
  async #readOrWait(reader: Reader, ending: AbortSignal): Promise<{ frames: Frame[]; isAtEnd: boolean }> {
    try {
      return await reader.read(eventsPerChunk);
    } catch (error) {
      if (!isPostgresUnavailable(error) && !(error instanceof ArchiveError)) throw error;
      this.#options.log.debug({ error: messageOf(error) }, 'an event stream cannot read the log, trying again');
      await reader.untilNews(retryMs, ending);
      return { frames: [], isAtEnd: false };
    }
  }

  #open(caller: FeedCaller, position: Position, cursors: Cursors): Reader {
    const key = ownerKey(caller);
    this.#readers.set(key, (this.#readers.get(key) ?? 0) + 1);
    return new Reader({ sql: this.#options.sql, tail: this.#tail, cursors, timers: this.#timers }, caller, position);
  }

  #close(caller: FeedCaller, reader: Reader): void {
    const key = ownerKey(caller);
    const left = (this.#readers.get(key) ?? 1) - 1;
    if (left === 0) this.#readers.delete(key);
    else this.#readers.set(key, left);
    reader.close();
  }

  #loadCursors(): Promise<Cursors> {
    this.#cursors ??= loadCursors(this.#options.sql).catch((error) => {
      this.#cursors = undefined;
      throw error;
    });
    return this.#cursors;
  }
}

const encoder = new TextEncoder();
const heartbeat = encoder.encode(': heartbeat\n\n');

const chunkOf = ({ channel, filter }: Reader, frames: Frame[]): Uint8Array =>
  channel.sharedChunk(`${frames[0]?.position}-${frames.at(-1)?.position}/${filter.key}`, () =>
    encoder.encode(frames.map(({ sse }) => sse).join('')),
  );

const pageOf = (
  cursors: Cursors,
  owner: Owner,
  frames: Frame[],
  { to, isAtEnd }: { to: number; isAtEnd: boolean },
): FeedPage => ({ events: frames.map(({ json }) => json), next: cursors.seal(owner, to), has_more: !isAtEnd });
