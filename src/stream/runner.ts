import { setTimeout as sleep } from 'node:timers/promises';
import type { LogEntry, LogRange } from '../../events/entry.ts';
import { Superseded } from '../../projections/checkpoint.ts';
import { backoff } from '../lib/backoff.ts';
import { messageOf } from '../lib/errors.ts';
import { floorOfLog } from '../log/floor.ts';
import { headOfLog, readRange } from '../log/read.ts';
import type { StreamContext } from './context.ts';
import { openInbox } from './inbox.ts';
import { type Leadership, seekLeadership } from './leader.ts';
import { abandonTail } from './lost-tail.ts';

/** Something that is made from the log and remembers, together with its effect, how far it has come. */
export interface Projection {
  name: string;
  /** The position up to which everything is applied. */
  checkpoint(): Promise<number>;
  /** Applies a range that begins at the checkpoint, and moves it, in one step. */
  apply(range: LogRange): Promise<void>;
  /** What else is to be done, between steps. */
  tend?(): Promise<void>;
  /** How many entries one step takes at the most, and how long it waits for that many. */
  most: number;
  lingerMs: number;
}

interface RunnerOptions extends StreamContext {
  projection: Projection;
  /** An advisory lock: one process of all runs a projection. */
  lock: number;
}

/** With nothing from the stream for so long, the log is asked whether there should have been something. */
const idleMs = 500;

/**
 * Feeds a projection from the stream, and from the log itself where the stream has lost something, is behind, or away.
 * What cannot be applied is never skipped: the projection stands still, shouts, and tries again.
 */
export function runProjection(options: RunnerOptions): Leadership {
  const { projection, lock, sql, databaseUrl, nats, stream, metrics } = options;
  const log = options.log.child({ projection: projection.name });
  const label = { projection: projection.name };

  /** A projection that is ahead of the log has applied events that the log has lost since. */
  async function refuseLostTail(position: number): Promise<void> {
    const head = await headOfLog(sql);
    if (position <= head) return;
    metrics.lostTails.inc();
    log.error({ position, head }, 'the projection is ahead of the log, which has lost events: rebuilding from the log');
    await abandonTail(sql, { agreedTo: head, lostTo: position, scans: [] });
    throw new Superseded('the log has lost events that were applied');
  }

  async function run(signal: AbortSignal): Promise<void> {
    let position = await projection.checkpoint();
    log.info({ position }, 'projection begins');
    await refuseLostTail(position);

    const apply = async (to: number, entries: LogEntry[]) => {
      await projection.apply({ after: position, to, entries });
      position = to;
      metrics.projectionPosition.set(label, position);
    };

    /**
     * Reads from the log up to `to`, which the stream does not have or has not sent. Rejects when it stops before that:
     * whatever came after would be applied without it.
     */
    const catchUp = async (to: number) => {
      while (position < to) {
        signal.throwIfAborted();
        const range = await readRange(sql, position, projection.most);
        if (range.to === position) throw new Error(`the log ends at ${position}, but the stream goes to ${to}`);
        await apply(range.to, range.entries);
        metrics.projectionLag.set(label, Math.max(0, to - position));
      }
    };

    await catchUp(await floorOfLog(sql));
    const inbox = openInbox({ nats, stream, after: position, signal, log });
    try {
      while (!signal.aborted) {
        await projection.tend?.();
        const ranges = await inbox.take({ most: projection.most, lingerMs: projection.lingerMs, idleMs });
        if (ranges.length === 0) {
          const before = position;
          await catchUp(await headOfLog(sql, position));
          if (position > before) inbox.restart(position);
          metrics.projectionLag.set(label, 0);
          continue;
        }
        let reached = position;
        const entries: LogEntry[] = [];
        for (const range of ranges) {
          if (range.to <= reached) continue;
          if (range.after > reached) {
            if (reached > position) await apply(reached, entries.splice(0));
            log.warn({ from: reached, to: range.after }, 'the stream has a gap, reading from the log');
            await catchUp(range.after);
            reached = position;
            if (range.to <= reached) continue;
          }
          const isNew = range.after >= reached ? () => true : ({ position: at }: LogEntry) => at > reached;
          for (const entry of range.entries) if (isNew(entry)) entries.push(entry);
          reached = range.to;
        }
        if (reached > position) await apply(reached, entries);
      }
    } finally {
      inbox.close();
    }
  }

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
        await run(signal).catch((error) => {
          if (signal.aborted) return;
          pauseMs = retries.nextMs(performance.now() - started);
          if (error instanceof Superseded) return log.info({ why: error.message }, 'projection begins again');
          metrics.projectionFailures.inc(label);
          log.error({ error: messageOf(error), again_in_ms: pauseMs }, 'projection stands still');
        });
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    },
  });
}
