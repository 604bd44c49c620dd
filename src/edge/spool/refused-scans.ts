import { open } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { type ScanBatch, sizeOf, sliceOf } from '../../log/append-scans.ts';

/**
 * Scans that Postgres refuses as invalid. A retry cannot succeed and would block the spool, so they go to this file in
 * the edge's folder, for an operator to inspect.
 */
export const refusedFileName = 'refused-scans.jsonl';

/** SQLSTATE class 22, "data exception": the values are wrong, so a retry cannot succeed. */
export const isInvalidData = (error: unknown): error is postgres.PostgresError =>
  error instanceof postgres.PostgresError && error.code.startsWith('22');

export interface StoreOptions {
  store(batch: ScanBatch): Promise<void>;
  /** Saves one refused scan; resolves once it is on disk. */
  onRefused(scan: ScanBatch, error: postgres.PostgresError): Promise<void>;
}

/**
 * Stores a batch that may contain invalid scans: halves it until each invalid scan is alone. The writer of
 * a part is named after its batch and range, so parts stored before a crash are recognized when the batch is sent again.
 */
export async function storeValid(batch: ScanBatch, { store, onRefused }: StoreOptions): Promise<void> {
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

/** Appends a line to the file of refused scans and syncs it. */
export async function keepRefused(folder: string, scan: ScanBatch, error: Error, now: Date): Promise<void> {
  const file = await open(join(folder, refusedFileName), 'a', 0o600);
  try {
    await file.appendFile(`${JSON.stringify({ refused_at: now, error: error.message, scan: scan.columns })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}
