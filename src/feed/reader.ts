import type { Owner } from '../../events/owner.ts';
import type { Sql } from '../lib/sql.ts';
import type { Timers } from '../lib/timers.ts';
import type { Channel, Subscriber } from './channel.ts';
import type { Cursors } from './cursor.ts';
import type { Filter } from './filter.ts';
import { type Frame, frameOf } from './frame.ts';
import { maxPageBytes, readPage } from './read-page.ts';
import type { Tail } from './tail.ts';

export interface FeedCaller extends Owner {
  key: string | null;
  user?: string;
  session?: string | undefined;
}

export interface Batch {
  frames: Frame[];
  /** Whether nothing more can be read now. */
  isAtEnd: boolean;
}

interface ReaderTools {
  sql: Sql;
  tail: Tail;
  cursors: Cursors;
  timers: Timers;
  onClose(): void;
}

/**
 * Reads events from a position on, each once and in order: from the log until that has reached what the tail keeps in
 * memory, then from there, and from the log again after falling behind.
 */
export class Reader implements Subscriber {
  readonly key: string | null;
  readonly user: string | undefined;
  readonly session: string | undefined;
  readonly filter: Filter;
  readonly channel: Channel;
  position: number;
  ended: string | undefined;
  readonly cursors: Cursors;
  readonly #sql: Sql;
  readonly #tail: Tail;
  readonly #timers: Timers;
  readonly #onClose: () => void;
  readonly #isAllowed: () => Promise<boolean>;
  /** Whether the tail ends this reader when the caller must not read any more. */
  #isWatched = false;
  #hasNews = false;
  #news = Promise.withResolvers<void>();

  constructor(
    { sql, tail, cursors, timers, onClose }: ReaderTools,
    { key, user, session, account, mode }: FeedCaller,
    { after, filter, isAllowed }: { after: number; filter: Filter; isAllowed(): Promise<boolean> },
  ) {
    this.#sql = sql;
    this.#tail = tail;
    this.cursors = cursors;
    this.#timers = timers;
    this.#onClose = onClose;
    this.#isAllowed = isAllowed;
    this.key = key;
    this.user = user;
    this.session = session;
    this.filter = filter;
    this.position = after;
    this.channel = tail.join({ account, mode }, this);
  }

  wake(): void {
    this.#hasNews = true;
    this.#news.resolve();
  }

  /** The next events, up to `limit`; none when the reader is ended. One that fails has read nothing, and can be repeated. */
  async read(limit: number): Promise<Batch> {
    this.#hasNews = false;
    this.#news = Promise.withResolvers();
    const { frames, isAtEnd, to } = await this.#next(limit);
    if (!this.#isWatched) await this.#checkCaller();
    if (this.ended !== undefined) return { frames: [], isAtEnd: true };
    this.position = to;
    return { frames, isAtEnd };
  }

  /** With the position that they end at. */
  async #next(limit: number): Promise<Batch & { to: number }> {
    const live = this.channel.after(this.position, limit, maxPageBytes);
    if (live !== undefined) {
      const { frames, isAtEnd, to } = live;
      return { frames: frames.filter(({ event }) => this.filter.matches(event)), isAtEnd, to };
    }
    const { owner } = this.channel;
    const { entries, isAtEnd, to } = await readPage(this.#sql, owner, {
      after: this.position,
      filter: this.filter,
      limit,
    });
    return { frames: entries.flatMap((entry) => frameOf(entry, owner, this.cursors) ?? []), isAtEnd, to };
  }

  /** A revocation or suspension from before the start of the tail does not reach it: only a read of the log shows it. */
  async #checkCaller(): Promise<void> {
    const { hasBegun } = this.channel;
    if (!(await this.#isAllowed()))
      this.ended ??= 'the key was revoked, the person removed, or the account is suspended';
    this.#isWatched = hasBegun;
  }

  /** Resolves when there may be something to read, when the reader is ended or the signal aborts, or after `timeoutMs`. */
  async untilNews(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#hasNews || signal.aborted || this.ended !== undefined) return;
    const { promise, resolve } = this.#news;
    const cancel = this.#timers.after(timeoutMs, resolve);
    const onAbort = () => resolve();
    signal.addEventListener('abort', onAbort, { once: true });
    await promise;
    cancel();
    signal.removeEventListener('abort', onAbort);
  }

  close(): void {
    this.#tail.leave(this.channel, this);
    this.#onClose();
  }
}
