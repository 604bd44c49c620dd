import { systemTimers, type Timers } from './timers.ts';
import { withTimeout } from './with-timeout.ts';

interface Waiting<Input, Output> {
  input: Input;
  resolve(output: Output): void;
  reject(error: unknown): void;
}

interface BatchOptions {
  maxBatchSize?: number;
  /** How long an incomplete batch waits for more calls before it starts. */
  lingerMs?: () => number;
  /**
   * The next batch starts after this time even if the previous one has not ended, so that a connection that died
   * silently does not block all later calls. Without it, batches never overlap.
   */
  overlapAfterMs?: number;
  timers?: Timers;
}

/**
 * Turns a function of many inputs into one of a single input: concurrent calls, and all calls during a running batch,
 * share the next batch. A batch starts after its calls were made, so its outputs reflect everything that happened before
 * them. If a batch rejects, only its own calls reject.
 *
 * @example
 * const nameOf = batchCalls((ids: string[]) => readNames(sql, ids));
 * await Promise.all([nameOf('a'), nameOf('b')]); // one query
 */
export function batchCalls<Input, Output>(
  run: (inputs: Input[]) => Promise<Output[]>,
  { maxBatchSize = 100, lingerMs, overlapAfterMs, timers = systemTimers }: BatchOptions = {},
): (input: Input) => Promise<Output> {
  const waiting: Waiting<Input, Output>[] = [];
  let busy = false;

  async function runBatch(batch: Waiting<Input, Output>[]): Promise<void> {
    try {
      const outputs = await run(batch.map(({ input }) => input));
      for (const [i, { resolve }] of batch.entries()) resolve(outputs[i] as Output);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function runAll(): Promise<void> {
    while (waiting.length > 0) {
      if (lingerMs !== undefined && waiting.length < maxBatchSize) await timers.sleep(lingerMs());
      const batch = runBatch(waiting.splice(0, maxBatchSize));
      await (overlapAfterMs === undefined ? batch : withTimeout(batch, overlapAfterMs, () => {}, timers));
    }
    busy = false;
  }

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      if (busy) return;
      busy = true;
      queueMicrotask(runAll);
    });
}
