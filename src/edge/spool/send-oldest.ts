import { NewerVersion } from '../../../events/wire/newer-version.ts';
import { decodeSpoolRecord } from '../../../events/wire/spool-record.ts';
import { mergeBatches, PartlyStored, type ScanBatch, sizeOf } from '../../log/append-scans.ts';
import { isInvalidData, type StoreOptions, storeValid } from './refused-scans.ts';
import type { Spool } from './spool.ts';

/** One statement inserts about 1,000 scans in 15 ms, and holds the append lock for that long. */
export const maxMergedScans = 1_000;
/** Above the size of `maxMergedScans`: a scan takes 250 to 650 bytes. */
const maxPeekedBytes = 512 * 1024;

export interface Sent {
  records: number;
  scans: number;
  bytes: number;
}

/**
 * Stores the oldest records of a spool, many with one commit, and drops them. Every record has the number that its writer
 * gave it, so repeating it after a crash or a lost response stores nothing twice, even if other records are merged then.
 */
export async function sendOldest(spool: Pick<Spool, 'peek' | 'drop'>, options: StoreOptions): Promise<Sent> {
  const records = await spool.peek(maxPeekedBytes);
  const batches = decodeSome(records);
  for (const ofWriter of Map.groupBy(batches, ({ writer }) => writer).values()) await storeMerged(ofWriter, options);
  await spool.drop(batches.length);
  return {
    records: batches.length,
    scans: batches.reduce((sum, batch) => sum + sizeOf(batch), 0),
    bytes: records.slice(0, batches.length).reduce((sum, { length }) => sum + length, 0),
  };
}

/** Decodes up to `maxMergedScans`, but at least one record. Throws `NewerVersion` only if the oldest record is newer. */
function decodeSome(records: Uint8Array[]): ScanBatch[] {
  const batches: ScanBatch[] = [];
  let scans = 0;
  for (const record of records) {
    try {
      const batch = decodeSpoolRecord(record);
      scans += sizeOf(batch);
      if (scans > maxMergedScans && batches.length > 0) break;
      batches.push(batch);
    } catch (error) {
      if (error instanceof NewerVersion && batches.length > 0) break;
      throw error;
    }
  }
  return batches;
}

/** Stores batches of one writer, in the order of their numbers, with one statement if possible. */
async function storeMerged(batches: ScanBatch[], options: StoreOptions): Promise<void> {
  const [head, ...rest] = batches;
  if (head === undefined) return;
  if (rest.length === 0) return storeValid(head, options);
  try {
    await options.store(mergeBatches([head, ...rest]));
  } catch (error) {
    if (error instanceof PartlyStored)
      return storeMerged(
        batches.filter(({ number }) => number > error.storedTo),
        options,
      );
    if (!isInvalidData(error)) throw error;
    // Parts of an invalid batch are named after it, so it must be the same batch each time: a single record.
    for (const batch of batches) await storeValid(batch, options);
  }
}
