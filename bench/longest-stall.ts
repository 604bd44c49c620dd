import { closeSync, openSync, readSync } from 'node:fs';
import { ms } from './row.ts';

/** The longest times in ms between two turns of the event loop. */
export interface Stall {
  /** By the clock. */
  wallMs: number;
  /** Without the time for which the thread could run but other threads had all cores: what our own code causes. */
  ownMs: number;
}

/**
 * Watches the event loop while `work` runs. The watch keeps one core busy, so on a machine with few cores the kernel makes
 * it wait for others now and then, also when nothing runs but the watch itself.
 */
export async function longestStall(work: () => Promise<unknown>): Promise<Stall> {
  const watch = new ThreadWatch();
  const longest: Stall = { wallMs: 0, ownMs: 0 };
  let last = watch.read();
  let running = true;
  const measure = () => {
    const { atMs, waitedMs } = watch.read();
    longest.wallMs = Math.max(longest.wallMs, atMs - last.atMs);
    longest.ownMs = Math.max(longest.ownMs, atMs - last.atMs - (waitedMs - last.waitedMs));
    last = { atMs, waitedMs };
  };
  const check = () => {
    if (!running) return;
    measure();
    setImmediate(check);
  };
  setImmediate(check);
  await work();
  running = false;
  measure();
  watch.close();
  return longest;
}

/** "2.1 ms (12 ms with waits for a core)" */
export const stallText = ({ ownMs, wallMs }: Stall) => `${ms(ownMs)} (${ms(wallMs)} with waits for a core)`;

/** Longer than reading the statistics takes. */
const maxReadMs = 0.2;

/** The clock, and how long the main thread has waited for a core, from Linux' scheduler statistics. */
class ThreadWatch {
  // The id of the main thread is the id of the process.
  readonly #file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  readonly #buffer = Buffer.alloc(100);

  read(): { atMs: number; waitedMs: number } {
    for (;;) {
      const before = performance.now();
      const waitedMs = this.#waitedMs();
      const atMs = performance.now();
      // Otherwise the thread lost its core between the two readings, and they do not belong together.
      if (atMs - before < maxReadMs) return { atMs, waitedMs };
    }
  }

  /** The second of three numbers: time on a core, time waiting for one (both in ns), and turns. */
  #waitedMs(): number {
    const length = readSync(this.#file, this.#buffer, 0, this.#buffer.length, 0);
    return Number(this.#buffer.toString('latin1', 0, length).split(' ')[1]) / 1e6;
  }

  close(): void {
    closeSync(this.#file);
  }
}
