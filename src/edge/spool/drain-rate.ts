import type { Sent } from './send-oldest.ts';

/** Until a large batch has been measured. */
const initialBytesPerSecond = 1_000_000;
/** Small batches say little: they take as long as a round trip. */
const minMeasuredBytes = 64 * 1024;
const weightOfNewest = 0.2;

/** How fast records of the spool are committed while there are enough of them. */
export class DrainRate {
  bytesPerSecond = initialBytesPerSecond;

  measure({ bytes }: Sent, tookMs: number): void {
    if (bytes < minMeasuredBytes) return;
    const rate = (bytes / Math.max(tookMs, 1)) * 1_000;
    this.bytesPerSecond += weightOfNewest * (rate - this.bytesPerSecond);
  }

  secondsFor(bytes: number): number {
    return bytes / this.bytesPerSecond;
  }
}
