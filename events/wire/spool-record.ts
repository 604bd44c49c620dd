import type { Scan } from '../scan.ts';
import { batchOf, type ScanBatch } from '../scan-batch.ts';
import { refuseNewer } from './newer-version.ts';

/**
 * A record of the spool: a batch of scans as JSON.
 *
 * | version | scans | `version` |
 * |---|---|---|
 * | 0 | a JSON text in `scans` | absent |
 * | 1 | by column in `columns` | absent |
 * | 2 | by column in `columns` | present |
 * | 3 | as in 2; `columns` may have `rule` and `variant` | present |
 */
const recordVersion = 3;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const encodeSpoolRecord = (batch: ScanBatch): Uint8Array =>
  encoder.encode(JSON.stringify({ version: recordVersion, ...batch }));

/** Throws `NewerVersion` if the record is newer than this process; it must then stay in the spool. */
export function decodeSpoolRecord(record: Uint8Array): ScanBatch {
  const {
    version = 1,
    scans,
    ...batch
  }: ScanBatch & { version?: number; scans?: string } = JSON.parse(decoder.decode(record));
  refuseNewer('A batch of scans in the spool', version, recordVersion);
  if (scans === undefined) return batch;
  const revived = (scan: Scan): Scan => ({ ...scan, occurred_at: new Date(scan.occurred_at) });
  return batchOf(batch.writer, batch.number, (JSON.parse(scans) as Scan[]).map(revived));
}
