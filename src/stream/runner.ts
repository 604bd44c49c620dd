import { setTimeout as sleep } from 'node:timers/promises';
import type { LogEntry, LogRange } from '../../events/entry.ts';
import { Superseded } from '../../projections/checkpoint.ts';
import { backoff } from '../lib/backoff.ts';
import { messageOf } from '../lib/errors.ts';
import { floorOfLog } from '../log/floor.ts';
import { headOfLog, readRange } from '../log/read.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { StreamContext } from './context.ts';
import { Inbox, type ReceivedRange } from './inbox.ts';
import { type Leadership, seekLeadership } from './leader.ts';
import { abandonTail, findLostTail } from './lost-tail.ts';
import { isSampled, messagingAttributes, rangeAttributes } from './trace-headers.ts';

/** State that is derived from the log, and that stores its checkpoint together with its effect. */
export interface Projection {
  name: string;
  /** The position up to which everything is applied. */
  checkpoint(): Promise<number>;
  /** Applies a range that starts at the checkpoint, and moves the checkpoint, atomically. */
  apply(range: LogRange): Promise<void>;
  /** Maintenance that runs between batches. */
  maintain?(): Promise<void>;
  maxEntries: number;
  /** How long entries are collected after a batch. An entry that arrives later than that is applied at once. */
  pauseMs: number;
}

interface RunnerOptions extends StreamContext {
  projection: Projection;
  /** An advisory lock: only one process at a time runs the projection. */
  lock: number;
}

/** After this time without a message, the log is checked for entries that the stream has not sent. */
const checkMs = 500;
/** While the log has none, the interval doubles up to this. */
const maxCheckMs = 2_000;

/**
 * Feeds a projection from the stream, and from the log where the stream has a gap, lags, or is unavailable. An entry that
 * cannot be applied is never skipped: the projection stops before it, logs the error, and retries.
 */
export function runProjection(options: RunnerOptions): Leadership {
  const { projection, lock, databaseUrl, metrics } = options;
  const label = { projection: projection.name };
  const log = options.log.child(label);
  return seekLeadership({
    databaseUrl,
    lock,
    name: projection.name,
    log,
    async lead(signal) {
      const retries = backoff({ firstMs: 100, maxMs: 10_000, resetAfterMs: 10_000 });
      while (!signal.aborted) {
        const started = performance.now();
        let pauseMs = 0;
        await feed({ ...options, log }, signal).catch((error) => {
          if (signal.aborted) return;
          pauseMs = retries.nextMs(performance.now() - started);
          if (error instanceof Superseded) return log.info({ why: error.message }, 'projection restarts');
          metrics.projectionFailures.inc(label);
          log.error({ error: messageOf(error), again_in_ms: pauseMs }, 'projection failed, retrying');
        });
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    },
  });
}

/** Applies the log from the checkpoint on, until the signal is aborted; rejects on failure. */
async function feed(options: RunnerOptions, signal: AbortSignal): Promise<void> {
  const { projection, sql, nats, stream, log, tracing } = options;
  const position = await projection.checkpoint();
  log.info({ position }, 'projection starts');
  await abandonLostTail(options, position, signal);
  const applied = new AppliedLog(options, position, signal);
  await applied.catchUp(await floorOfLog(sql));
  const inbox = new Inbox({ nats, stream, after: applied.position, signal, log, traced: tracing !== undefined });
  let notBefore = 0;
  let idleMs = checkMs;
  try {
    while (!signal.aborted) {
      await projection.maintain?.();
      const ranges = await inbox.take({ maxEntries: projection.maxEntries, notBefore, idleMs });
      if (ranges.length > 0) {
        await applied.apply(ranges);
        idleMs = checkMs;
        notBefore = performance.now() + projection.pauseMs;
        continue;
      }
      const before = applied.position;
      await applied.catchUp(await headOfLog(sql, before));
      idleMs = applied.position > before ? checkMs : Math.min(idleMs * 2, maxCheckMs);
      if (applied.position > before) inbox.restart(applied.position);
    }
  } finally {
    inbox.close();
  }
}

/**
 * A projection that is ahead of the log has applied events that the log has lost since. The log may already have others at
 * their positions, and raising the floor hides them from the relay's comparison, so the stream is compared here as well.
 */
async function abandonLostTail(
  { sql, nats, stream, log, metrics }: RunnerOptions,
  position: number,
  signal: AbortSignal,
): Promise<void> {
  const head = await headOfLog(sql);
  if (position <= head) return;
  const lost = await findLostTail(sql, await nats.jetstreamManager({ timeout: 2_000 }), stream, signal);
  const tail = {
    agreedTo: Math.min(head, lost?.agreedTo ?? head),
    lostTo: Math.max(position, lost?.lostTo ?? 0),
    reported: lost?.reported ?? [],
  };
  metrics.lostTails.inc();
  log.error(
    { position, head, agreed_to: tail.agreedTo },
    'the projection is ahead of the log, which has lost events: rebuilding from the log',
  );
  await abandonTail(sql, tail);
  throw new Superseded('the log has lost events that were applied');
}

/** The part of the log that a projection has applied, from the stream or from the log itself. */
class AppliedLog {
  readonly #options: RunnerOptions;
  readonly #signal: AbortSignal;
  #position: number;

  constructor(options: RunnerOptions, position: number, signal: AbortSignal) {
    this.#options = options;
    this.#position = position;
    this.#signal = signal;
  }

  get position(): number {
    return this.#position;
  }

  /** Reads from the log up to `to`. Rejects when the log ends before that, because entries would be skipped. */
  async catchUp(to: number): Promise<void> {
    const { projection, sql } = this.#options;
    while (this.#position < to) {
      this.#signal.throwIfAborted();
      const range = await readRange(sql, this.#position, projection.maxEntries);
      if (range.to === this.#position)
        throw new Error(`the log ends at ${this.#position}, but the stream goes to ${to}`);
      await this.#applyBatch(range.to, range.entries);
    }
  }

  /** Applies ranges of the stream as one batch. Skips what is already applied, and reads gaps from the log. */
  async apply(ranges: ReceivedRange[]): Promise<void> {
    let reached = this.#position;
    const entries: LogEntry[] = [];
    const sources = ranges.flatMap(({ traceparent }) => traceparent ?? []);
    for (const range of ranges) {
      if (range.to <= reached) continue;
      if (range.after > reached) {
        if (reached > this.#position) await this.#applyBatch(reached, entries.splice(0), sources);
        this.#options.log.warn({ from: reached, to: range.after }, 'the stream has a gap, reading from the log');
        await this.catchUp(range.after);
        reached = this.#position;
        if (range.to <= reached) continue;
      }
      const isNew = range.after >= reached ? () => true : ({ position }: LogEntry) => position > reached;
      for (const entry of range.entries) if (isNew(entry)) entries.push(entry);
      reached = range.to;
    }
    if (reached > this.#position) await this.#applyBatch(reached, entries, sources);
  }

  /** `sources` are the spans that published the entries; entries from the log have none. */
  async #applyBatch(to: number, entries: LogEntry[], sources: string[] = []): Promise<void> {
    const { projection, tracing } = this.#options;
    const range = { after: this.#position, to, entries };
    await (tracing === undefined ? projection.apply(range) : this.#applyTraced(tracing, range, sources));
    this.#position = to;
  }

  async #applyTraced(tracing: Tracing, range: LogRange, sources: string[]): Promise<void> {
    const { projection, stream } = this.#options;
    const links = sources.filter(isSampled);
    const attributes = { ...messagingAttributes(stream, 'apply', 'process'), ...rangeAttributes(range) };
    const options = { kind: 'consumer' as const, parent: links[0] ?? sources[0], links, attributes };
    await tracing.record(`apply ${projection.name}`, options, () => projection.apply(range));
  }
}
