import type { NatsConnection } from 'nats';
import type { Owner } from '../../events/owner.ts';
import { ArchiveError } from '../archive/errors.ts';
import { invalid, messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../lib/sql.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { isPostgresUnavailable } from '../log/connect.ts';
import { headOfLog } from '../log/read.ts';
import { type Cursors, loadCursors, openCursor } from './cursor.ts';
import type { Filter } from './filter.ts';
import { type Frame, framesOf, textsOf } from './frame.ts';
import { readPage } from './read-page.ts';
import { type FeedCaller, Reader } from './reader.ts';
import { ReaderSlots } from './reader-slots.ts';
import { Tail } from './tail.ts';

/** Shorter than the idle timeouts of usual proxies, 30 s and more. */
const heartbeatMs = 15_000;
/** A client reconnects with its key and its cursor; what it may read is checked again. */
export const maxStreamMs = 3_600_000;
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
  /** Maximum number of open streams and waiting requests of an account. */
  maxStreams: number;
  timers?: Timers;
}

interface Position {
  after: number;
  filter: Filter;
}

interface WatchedPosition extends Position {
  /** Whether the caller, admitted before, would be admitted now. */
  isAllowed(): Promise<boolean>;
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
  readonly #slots: ReaderSlots;
  #cursors: Promise<Cursors> | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#slots = new ReaderSlots(options.maxStreams);
    this.#tail = new Tail({ ...options, cursors: () => this.#loadCursors() });
  }

  /** The position of a cursor: the beginning of the log without one, its end for `now`. Refuses a cursor of others. */
  async positionOf(owner: Owner, cursor: string | undefined, field: string): Promise<number> {
    if (cursor === undefined) return 0;
    if (cursor === 'now') return headOfLog(this.#options.sql);
    const position = await openCursor(this.#options.sql, await this.#loadCursors(), owner, cursor);
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
    const frames = await framesOf(entries, owner, cursors);
    return pageOf(cursors, owner, frames, { to, isAtEnd });
  }

  /**
   * One page, as soon as it has an event, or an empty one after `waitMs`, and when the key is revoked or the account is
   * suspended. Refuses too many readers of an account.
   */
  async wait(
    caller: FeedCaller,
    { limit, waitMs, signal, ...position }: WatchedPosition & { limit: number; waitMs: number; signal: AbortSignal },
  ): Promise<FeedPage> {
    const ending = AbortSignal.any([signal, this.#options.stopping]);
    const deadline = this.#timers.now() + waitMs;
    const reader = await this.#open(caller, position);
    try {
      for (;;) {
        const { frames, isAtEnd } = await reader.read(limit);
        const leftMs = deadline - this.#timers.now();
        const isOver = leftMs <= 0 || ending.aborted || reader.ended !== undefined;
        if (frames.length > 0 || !isAtEnd || isOver)
          return await pageOf(reader.cursors, caller, frames, { to: reader.position, isAtEnd });
        await reader.untilNews(leftMs, ending);
      }
    } finally {
      reader.close();
    }
  }

  /**
   * Events as a `text/event-stream`, until the client disconnects, the key is revoked, the account is suspended or the
   * service stops. Produces only as fast as the client reads, and holds one chunk. Refuses too many readers of an account
   * before it resolves; from then on, `return` must be called on the generator, whether or not it is read.
   */
  async stream(
    caller: FeedCaller,
    { signal, ...position }: WatchedPosition & { signal: AbortSignal },
  ): Promise<AsyncGenerator<Uint8Array>> {
    const ending = AbortSignal.any([signal, this.#options.stopping]);
    const reader = await this.#open(caller, position);
    const pieces = this.#piecesOf(reader, ending);
    // A generator that is not started would not close its reader.
    await pieces.next();
    return pieces;
  }

  /** The first piece is empty. */
  async *#piecesOf(reader: Reader, ending: AbortSignal): AsyncGenerator<Uint8Array> {
    const until = this.#timers.now() + maxStreamMs;
    try {
      yield new Uint8Array();
      yield encoder.encode(': connected\nretry: 2000\n\n');
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
      reader.close();
    }
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

  /** Takes a slot, which closing the reader frees. */
  async #open(caller: FeedCaller, position: WatchedPosition): Promise<Reader> {
    const free = this.#slots.take(caller.account);
    try {
      const cursors = await this.#loadCursors();
      const { sql } = this.#options;
      return new Reader({ sql, tail: this.#tail, cursors, timers: this.#timers, onClose: free }, caller, position);
    } catch (error) {
      free();
      throw error;
    }
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

const pageOf = async (
  cursors: Cursors,
  owner: Owner,
  frames: Frame[],
  { to, isAtEnd }: { to: number; isAtEnd: boolean },
): Promise<FeedPage> => ({ events: await textsOf(frames), next: cursors.seal(owner, to), has_more: !isAtEnd });
