import type { Sent } from './send-oldest.ts';

/** Until a large batch has been measured. */
const initialBytesPerSecond = 1_000_000;
/** Small batches say little: they take as long as a round trip. */
const minMeasuredBytes = 64 * 1024;
const weightOfNewest = 0.2;

/** How fast records of the spool are committed while there are enough of them. */
export class DrainRate {
  #bytesPerSecond = initialBytesPerSecond;
  #scansPerSecond: number | undefined;

  measure({ bytes, scans }: Sent, tookMs: number): void {
    if (bytes < minMeasuredBytes) return;
    const perSecond = 1_000 / Math.max(tookMs, 1);
    this.#bytesPerSecond += weightOfNewest * (bytes * perSecond - this.#bytesPerSecond);
    const before = this.#scansPerSecond ?? scans * perSecond;
    this.#scansPerSecond = before + weightOfNewest * (scans * perSecond - before);
  }

  /** Undefined before the first large batch. */
  get scansPerSecond(): number | undefined {
    return this.#scansPerSecond;
  }

  secondsFor(bytes: number): number {
    return bytes / this.#bytesPerSecond;
  }
}
