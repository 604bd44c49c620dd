import { setTimeout as sleep } from 'node:timers/promises';
import type { Scan } from '../../events/scan.ts';
import { NewerVersion } from '../../events/wire/newer-version.ts';
import { encodeSpoolRecord } from '../../events/wire/spool-record.ts';
import { messageOf } from '../lib/errors.ts';
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
  /** Names for as long as this process lives, see `scan_writers`: one for each commit that may be under way. */
  writers: string[];
  /** Resolves only when the batch is proven to be stored. */
  store(batch: ScanBatch): Promise<void>;
  spool: Spool;
  /** Stores a record of the spool, or what of it is valid. */
  send(record: Uint8Array): Promise<void>;
  log: Logger;
  metrics: Metrics;
}

/** How long Postgres may take before scans go to disk instead. */
const patienceMs = 250;
/** From one commit to the next at least, which costs a scan a millisecond and spares both sides half of their work. */
const spacingMs = 1;
const most = { inBatch: 1_000, waiting: 10_000 };
/** So many scans do not wait for the commit under way, but get one of their own beside it. */
const crowd = 64;
const drainBackOffMs = { first: 100, most: 500 };
const stopWithinMs = 3_000;

interface Waiting {
  scan: Scan;
  resolve(): void;
  reject(error: unknown): void;
}

interface Writer {
  name: string;
  /** Of its last batch. */
  number: number;
  began: number;
  busy?: Promise<void> | undefined;
}

/**
 * Commits scans in groups: all that arrive while one commit is under way are the next. A crowd is the next at once, so
 * that Postgres has something to do while this process, busy with requests, has not yet seen that it is done. When
 * Postgres is slow or away, groups go to the spool, in order, and from there to Postgres when it is back; only when the
 * spool is empty are they committed directly again, so a writer's groups always reach Postgres in the order of their
 * numbers.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  const { store, spool, send, log, metrics } = options;
  const waiting: Waiting[] = [];
  const writers = options.writers.map((name): Writer => ({ name, number: 0, began: Number.NEGATIVE_INFINITY }));
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

  async function keep(writer: Writer, group: Waiting[]): Promise<void> {
    const batch = batchOf(
      writer.name,
      ++writer.number,
      group.map(({ scan }) => scan),
    );
    metrics.commitScans.observe(group.length);
    const direct = spool.waiting.records === 0;
    // What may have been stored, its answer late or lost, goes to the spool as it is, under the same number.
    if (direct && (await commit(batch))) return;
    await spool.append(encodeSpoolRecord(batch));
    showSpool();
    startDrain();
  }

  const isWanted = (writer: Writer): boolean => {
    const alone = writers.every((other) => other === writer || other.busy === undefined);
    return waiting.length >= (alone ? 1 : crowd);
  };

  async function flush(writer: Writer): Promise<void> {
    while (isWanted(writer)) {
      const early = writer.began + spacingMs - performance.now();
      if (early > 0) {
        await sleep(early);
        continue;
      }
      writer.began = performance.now();
      const group = waiting.splice(0, most.inBatch);
      try {
        await keep(writer, group);
        for (const { resolve } of group) resolve();
      } catch (error) {
        log.error({ error: messageOf(error), scans: group.length }, 'scans can be kept nowhere');
        const overloaded = new Overloaded('neither Postgres nor the spool takes scans');
        for (const { reject } of group) reject(overloaded);
      }
    }
    writer.busy = undefined;
  }

  function startWriter(): void {
    const idle = writers.find(({ busy }) => busy === undefined);
    if (idle !== undefined && isWanted(idle)) idle.busy = Promise.resolve().then(() => flush(idle));
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
        await send(record);
        await spool.drop();
        drained++;
        showSpool();
        backOff = drainBackOffMs.first;
      } catch (error) {
        const detail = { error: messageOf(error), batches: spool.waiting.records };
        // What is newer stays on disk with all that comes after it, until a process that reads it takes the folder.
        if (error instanceof NewerVersion) log.error(detail, 'the spool cannot be sent');
        else log.warn(detail, 'the spool waits for Postgres');
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
        startWriter();
      });
    },
    async stop() {
      stopping = true;
      await Promise.all(writers.map(({ busy }) => busy));
      // What is not sent by then is sent by whoever takes the folder next.
      await Promise.race([draining, sleep(stopWithinMs, undefined, { ref: false })]);
      await spool.close();
    },
  };
}
