import { setTimeout as sleep } from 'node:timers/promises';
import type { Scan } from '../../events/scan.ts';
import { messageOf } from '../lib/errors.ts';
import { inTime } from '../lib/in-time.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { batchOf, type ScanBatch } from '../log/append-scans.ts';
import type { Spool } from './spool.ts';

/** Neither Postgres nor the disk takes the scan now: better no redirect than one that nobody recorded. */
export class Overloaded extends Error {}

export interface Recorder {
  /** Resolves once the scan is committed, or safe on disk. */
  record(scan: Scan): Promise<void>;
  stop(): Promise<void>;
}

interface RecorderOptions {
  /** Names this process for as long as it lives; see `scan_writers`. */
  writer: string;
  store(batch: ScanBatch): Promise<void>;
  spool: Spool;
  log: Logger;
  metrics: Metrics;
  silenceMs?: number;
}

/** How long Postgres may take before scans go to disk instead. */
const patienceMs = 250;
/** From one commit to the next at least, which costs a scan a millisecond and spares both sides half of their work. */
const spacingMs = 1;
const most = { inBatch: 1_000, waiting: 10_000 };
const drainBackOffMs = { first: 100, most: 500 };
/**
 * Longer than any statement may take. A connection can die without a word: what was sent on it is then sent again, on
 * another one; should both arrive, the second changes nothing.
 */
const usualSilenceMs = 20_000;
const stopWithinMs = 3_000;

interface Waiting {
  scan: Scan;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Commits scans in groups: all that arrive while one commit is under way are the next. When Postgres is slow or away,
 * groups go to the spool, in order, and from there to Postgres when it is back; only when the spool is empty are they
 * committed directly again, so a writer's groups always reach Postgres in the order of their numbers.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  const { writer, store, spool, log, metrics, silenceMs = usualSilenceMs } = options;
  const waiting: Waiting[] = [];
  let number = 0;
  let began = Number.NEGATIVE_INFINITY;
  let busy: Promise<void> | undefined;
  let draining: Promise<void> | undefined;
  let stopping = false;

  async function commit(batch: ScanBatch): Promise<boolean> {
    const started = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, patienceMs, 'late');
    });
    const stored = store(batch).then(
      () => 'stored' as const,
      (error) => {
        log.warn({ error: messageOf(error) }, 'scans could not be committed');
        return 'failed' as const;
      },
    );
    const outcome = await Promise.race([stored, late]);
    clearTimeout(timer);
    if (outcome === 'late') log.warn({ patience_ms: patienceMs }, 'Postgres is slow, scans go to the spool');
    metrics.commitSeconds.observe((performance.now() - started) / 1000);
    return outcome === 'stored';
  }

  async function keep(group: Waiting[]): Promise<void> {
    const batch = batchOf(
      writer,
      ++number,
      group.map(({ scan }) => scan),
    );
    metrics.commitScans.observe(group.length);
    const direct = spool.waiting.records === 0;
    // What may have been stored, its answer late or lost, goes to the spool as it is, under the same number.
    if (direct && (await commit(batch))) return;
    await spool.append(Buffer.from(JSON.stringify(batch)));
    showSpool();
    startDrain();
  }

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const early = began + spacingMs - performance.now();
      if (early > 0) await sleep(early);
      began = performance.now();
      const group = waiting.splice(0, most.inBatch);
      try {
        await keep(group);
        for (const { resolve } of group) resolve();
      } catch (error) {
        log.error({ error: messageOf(error), scans: group.length }, 'scans can be kept nowhere');
        const overloaded = new Overloaded('neither Postgres nor the spool takes scans');
        for (const { reject } of group) reject(overloaded);
      }
    }
    busy = undefined;
  }

  function startDrain(): void {
    draining ??= drain().finally(() => {
      draining = undefined;
      if (!stopping && spool.waiting.records > 0) startDrain();
    });
  }

  async function drain(): Promise<void> {
    let backOff = drainBackOffMs.first;
    let drained = 0;
    while (!stopping) {
      try {
        const record = await spool.peek();
        if (record === undefined) break;
        const batch: ScanBatch = JSON.parse(Buffer.from(record).toString('utf8'));
        await inTime(store(batch), silenceMs, () => new Error('Postgres has said nothing for long'));
        await spool.drop();
        drained++;
        showSpool();
        backOff = drainBackOffMs.first;
      } catch (error) {
        log.warn({ error: messageOf(error), batches: spool.waiting.records }, 'the spool waits for Postgres');
        await sleep(backOff);
        backOff = Math.min(backOff * 2, drainBackOffMs.most);
      }
    }
    if (drained > 0) log.info({ batches: drained }, 'spooled scans were committed');
  }

  const showSpool = () => {
    metrics.spoolBatches.set(spool.waiting.records);
    metrics.spoolBytes.set(spool.waiting.bytes);
  };

  showSpool();
  if (spool.waiting.records > 0) startDrain();

  return {
    record(scan) {
      if (waiting.length >= most.waiting) return Promise.reject(new Overloaded('too many scans wait to be committed'));
      return new Promise((resolve, reject) => {
        waiting.push({ scan, resolve, reject });
        busy ??= Promise.resolve().then(flush);
      });
    },
    async stop() {
      stopping = true;
      await busy;
      // What is not sent by then is sent by whoever takes the folder next.
      await Promise.race([draining, sleep(stopWithinMs, undefined, { ref: false })]);
      await spool.close();
    },
  };
}
