import { open } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { type ScanBatch, sizeOf, sliceOf } from '../log/append-scans.ts';

/**
 * Scans that Postgres refuses as invalid and will refuse for ever: they must not keep the rest of a spool from being
 * sent. They go to a file beside the spool, as they are, for an operator to look at.
 */
export const refusedFileName = 'refused-scans.jsonl';

/** Class 22, "data exception": the values themselves are wrong, so that sending them again cannot help. */
export const isInvalidData = (error: unknown): error is postgres.PostgresError =>
  error instanceof postgres.PostgresError && error.code.startsWith('22');

interface Sending {
  store(batch: ScanBatch): Promise<void>;
  /** Keeps one scan that is refused; resolves once that is on disk. */
  onRefused(scan: ScanBatch, error: postgres.PostgresError): Promise<void>;
}

/**
 * Stores a batch of which some scans may be invalid: halves it until those stand alone. Each part is numbered by what it
 * is cut from, so that parts stored before a crash are recognised when the whole is sent again.
 */
export async function storeValid(batch: ScanBatch, { store, onRefused }: Sending): Promise<void> {
  try {
    await store(batch);
  } catch (error) {
    if (!isInvalidData(error)) throw error;
    const size = sizeOf(batch);
    if (size === 1) return onRefused(batch, error);
    const middle = Math.ceil(size / 2);
    await storeValid(sliceOf(batch, 0, middle), { store, onRefused });
    await storeValid(sliceOf(batch, middle, size), { store, onRefused });
  }
}

/** Appends a line to the file of refused scans, and syncs it. */
export async function keepRefused(folder: string, scan: ScanBatch, error: Error, now: Date): Promise<void> {
  const file = await open(join(folder, refusedFileName), 'a', 0o600);
  try {
    await file.appendFile(`${JSON.stringify({ refused_at: now, error: error.message, scan: scan.columns })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}
