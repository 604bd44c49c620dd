import { timeouts } from '../lib/timeouts.ts';
import { readCodes } from './codes.ts';
import type { Warehouse } from './connect.ts';
import { readChunk } from './export.ts';
import { readFigures, readTotals } from './figures.ts';
import type { Reading } from './reading.ts';
import { readScans } from './scans.ts';
import type { Selection } from './selection.ts';
import { readCodeScans, readCodeSeries, readHeatMap, readLeads, readSeries } from './series.ts';
import { createTable, tableName } from './tables.ts';

const maxAttempts = 10;

/**
 * Runs every kind of read once, on a separate table. An engine that has just started is many times slower for the first
 * read of each kind, because it compiles code; after the warm-up no request waits for that.
 */
export async function warmUp(warehouse: Warehouse): Promise<void> {
  const own: Warehouse = { ...warehouse, database: `${warehouse.database}_warm_up` };
  const drop = () => own.client.command({ query: `DROP DATABASE IF EXISTS ${own.database}` });
  await drop();
  try {
    await createTable(own, 1);
    await own.client.command({
      query: `INSERT INTO ${tableName(own, 1)}
        SELECT 'account', 'live', 'code', now64(3, 'UTC') - number * 3000, number + 1, 'scan', 'XX', 'Unknown', 'Unknown',
          'ios', 'safari', false, generateUUIDv4(), true, 1, '', ''
        FROM numbers(100)`,
    });
    for (const read of reads) await retry(read, own);
  } finally {
    await drop();
  }
}

const dayMs = 86_400_000;

const selection = (): Selection => ({
  account: 'account',
  mode: 'live',
  codes: { only: 'code' },
  bots: 'include',
  start: new Date(Date.now() - 30 * dayMs),
  end: new Date(),
});

const ofAccount = (): Selection => ({ ...selection(), codes: { without: [] } });
const filtered = (): Selection => ({ ...selection(), filters: { country: 'XX' } });
const firstPage = { offset: 0, limit: 50 };
const chunk = { upTo: 1_000, after: undefined, limit: 50, withCode: false, withLeads: false };

const reads: ((reading: Reading) => Promise<unknown>)[] = [
  (reading) => readFigures(reading, selection()),
  (reading) => readTotals(reading, selection()),
  (reading) => readSeries(reading, selection(), 'day'),
  (reading) => readSeries(reading, { ...selection(), timezone: 'Asia/Kolkata' }, 'day'),
  (reading) => readHeatMap(reading, selection()),
  (reading) => readScans(reading, selection(), firstPage),
  (reading) => readLeads(reading, selection()),
  (reading) => readFigures(reading, ofAccount()),
  (reading) => readCodes(reading, ofAccount(), firstPage),
  (reading) => readCodeSeries(reading, ofAccount(), 'day'),
  (reading) => readCodeScans(reading, ofAccount()),
  (reading) => readFigures(reading, filtered()),
  (reading) => readChunk(reading, selection(), { ...chunk, format: 'csv' }),
  (reading) => readChunk(reading, selection(), { ...chunk, format: 'json' }),
];

/** A read that timed out has compiled a part of its code, so the next attempt is faster. */
async function retry(read: (reading: Reading) => Promise<unknown>, warehouse: Warehouse): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await read({ warehouse, version: 1, signal: AbortSignal.timeout(timeouts.analyticsReadMs) });
      return;
    } catch (error) {
      if (attempt === maxAttempts) throw error;
    }
  }
}
