import type { PostgresError } from 'postgres';
import { Recorder } from '../../src/edge/recorder.ts';
import type { Durability } from '../../src/edge/spool/held-responses.ts';
import type { Spool } from '../../src/edge/spool/spool.ts';
import { createLogger, type Logger } from '../../src/lib/logger.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import type { Timers } from '../../src/lib/timers.ts';
import { PartlyStored, type ScanBatch } from '../../src/log/append-scans.ts';
import { scanned } from '../support/scans.ts';
import { manualTimers } from '../support/timers.ts';

export const idsOf = ({ columns }: ScanBatch): string[] => columns.id.slice(1, -1).split(',');

type Behavior = 'take' | 'fail' | 'hang' | 'lose responses';

/** Replaces Postgres: stores each number of a writer once and in order as `appendScans` does, or fails. */
export class FakePostgres {
  readonly stored: ScanBatch[] = [];
  readonly sent: ScanBatch[] = [];
  #behavior: Behavior = 'take';
  #held: (() => void)[] = [];

  now(behavior: Behavior): void {
    this.#behavior = behavior;
    if (behavior !== 'hang') for (const release of this.#held.splice(0)) release();
  }

  /** Lets the statement that hangs commit; later ones hang again. */
  commitOne(): void {
    this.#held.shift()?.();
  }

  get hanging(): number {
    return this.#held.length;
  }

  /** Statements that hang never get a response. */
  forget(): void {
    this.#held = [];
  }

  scans(): string[] {
    return this.stored.flatMap(idsOf);
  }

  async store(batch: ScanBatch): Promise<void> {
    this.sent.push(structuredClone(batch));
    if (this.#behavior === 'hang') await new Promise<void>((resolve) => this.#held.push(resolve));
    if (this.#behavior === 'fail') throw new Error('unavailable');
    this.#take(batch);
    if (this.#behavior === 'lose responses') throw new Error('the connection was lost');
  }

  #take(batch: ScanBatch): void {
    const { writer, number, first = number } = batch;
    const last = this.stored.filter((stored) => stored.writer === writer).at(-1)?.number ?? 0;
    if (last >= number) return;
    if (last >= first) throw new PartlyStored(batch, last);
    this.stored.push(batch);
  }
}

interface Options {
  postgres: FakePostgres;
  spool: Spool;
  durability?: Durability;
  timers?: Timers;
  log?: Logger;
  onRefused?(scan: ScanBatch, error: PostgresError): Promise<void>;
}

let writers = 0;

export function recorderOn({ postgres, spool, durability = 'disk', ...given }: Options): Recorder {
  const { timers = manualTimers(), log = createLogger('silent', false) } = given;
  return new Recorder({
    newWriter: () => `writer_${++writers}`,
    store: (batch) => postgres.store(batch),
    onRefused: given.onRefused ?? (() => Promise.reject(new Error('no scan is invalid'))),
    spool,
    durability,
    timers,
    log,
    metrics: createMetrics(),
  });
}

/** Records scans at once; resolves to their ids when all are answered. */
export async function record(recorder: Recorder, count: number): Promise<string[]> {
  const scans = Array.from({ length: count }, () => scanned());
  await Promise.all(scans.map((scan) => recorder.record(scan)));
  return scans.map(({ id }) => id);
}
