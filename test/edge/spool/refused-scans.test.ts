import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Recorder } from '../../../src/edge/recorder.ts';
import { keepRefused, refusedFileName, storeValid } from '../../../src/edge/spool/refused-scans.ts';
import { newId } from '../../../src/lib/ids.ts';
import { createLogger } from '../../../src/lib/logger.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { systemTimers } from '../../../src/lib/timers.ts';
import { appendScans, batchOf, type ScanBatch } from '../../../src/log/append-scans.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { scanned } from '../../support/scans.ts';
import { spoolFolder } from './spool-support.ts';

const database = useDatabase();
const folder = spoolFolder();
const newCode = () => newId('qr', Date.now());
const idsOf = async (code: string) =>
  (await database.sql<{ id: string }[]>`SELECT id FROM scans WHERE code = ${code}`).map(({ id }) => id).sort();
/** Postgres refuses NUL in text. */
const invalid = { city: 'New\0York' };
const store = (batch: ScanBatch) => appendScans(database.sql, batch);

test('stores the valid scans of a batch once, even if it is sent twice', async () => {
  const code = newCode();
  const scans = Array.from({ length: 100 }, (_, i) => scanned({ code, ...([3, 4, 71].includes(i) ? invalid : {}) }));
  const batch = batchOf(newId('batch', Date.now()), 1, scans);
  const refused: string[] = [];
  const onRefused = async ({ columns }: ScanBatch) => void refused.push(columns.id.slice(1, -1));
  for (let i = 0; i < 2; i++) await storeValid(batch, { store, onRefused });
  const valid = scans.filter(({ city }) => city !== invalid.city).map(({ id }) => id);
  expect(await idsOf(code)).toEqual(valid.sort());
  const expected = [3, 4, 71].map((i) => scans[i]?.id);
  expect(refused).toEqual([...expected, ...expected]);
});

test('passes on all other errors', async () => {
  const unavailable = async () => Promise.reject(new Error('Postgres is unavailable'));
  const onRefused = async () => expect.unreachable('no scan is refused');
  await expect(storeValid(batchOf('writer', 1, [scanned()]), { store: unavailable, onRefused })).rejects.toThrow(
    'Postgres is unavailable',
  );
});

test('an invalid scan does not block the spool and is saved in a file', async () => {
  const code = newCode();
  const spool = await folder.open();
  const path = folder.at();
  const recorder = new Recorder({
    newWriter: () => newId('batch', Date.now()),
    store,
    onRefused: (scan, error) => keepRefused(path, scan, error, new Date()),
    spool,
    durability: 'disk',
    timers: systemTimers,
    log: createLogger('silent', false),
    metrics: createMetrics(),
  });
  const poison = scanned({ code, ...invalid });
  const before = scanned({ code });
  await Promise.all([recorder.record(before), recorder.record(poison)]);
  const after = scanned({ code });
  await recorder.record(after);
  await eventually(() => expect(spool.waiting.records).toBe(0));
  expect(await idsOf(code)).toEqual([before.id, after.id].sort());
  const file = join(path, refusedFileName);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ scan: { id: `{${poison.id}}` } });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await recorder.stop();
});
