import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inspectSpool, openSpool } from '../../../src/edge/spool/spool.ts';
import { eventually } from '../../support/eventually.ts';
import { captureLog } from '../../support/log-lines.ts';
import { scanned } from '../../support/scans.ts';
import { useService } from '../../support/service.ts';
import { manualTimers } from '../../support/timers.ts';
import { scans } from '../../wire/content.ts';
import { FakePostgres, recorderOn } from '../recorder-support.ts';
import { spoolFolder } from './spool-support.ts';

const fixture = (version: number) =>
  readFileSync(new URL(`../../fixtures/wire/spool-record-${version}.txt`, import.meta.url));
const newerRecord = () => Buffer.from(fixture(2).toString().replace('"version":2', '"version":99'));
const refused =
  'A batch of scans in the spool (version 99, this process reads up to 3) was written by a newer version of Scanlog: upgrade this process first';

describe('a spooled record of a newer version', () => {
  const folder = spoolFolder();
  const message = 'the spool cannot be sent: it stays on disk until a newer version opens it';

  test('stays on disk with all records after it, and is logged as an error', async () => {
    const spool = await folder.open();
    await spool.append(newerRecord());
    const { log, lines } = captureLog();
    const postgres = new FakePostgres();
    const timers = manualTimers();
    const recorder = recorderOn({ postgres, spool, log, timers });
    await recorder.record(scanned());
    await eventually(() => {
      timers.advance(1_000);
      expect(lines()).toContainEqual(
        expect.objectContaining({
          level: 'error',
          error: refused,
          batches: 2,
          msg: message,
        }),
      );
    });
    expect(spool.waiting.records, 'neither is dropped').toBe(2);
    expect(postgres.sent, 'the record after it is not sent first').toEqual([]);
    await recorder.stop();
  });
});

describe('spools of edges of other versions', () => {
  const edgeFolder = mkdtempSync(join(tmpdir(), 'spool-versions-'));
  const { log, lines } = captureLog();
  beforeAll(async () => {
    const left = { 'edge-5': newerRecord(), 'edge-6': fixture(0), 'edge-7': fixture(1), 'edge-8': fixture(2) };
    for (const [name, record] of Object.entries(left)) {
      const spool = await openSpool({ folder: join(edgeFolder, name), maxBytes: 1_000_000 });
      await spool.append(record);
      await spool.close();
    }
  });
  afterAll(() => rmSync(edgeFolder, { recursive: true, force: true }));
  const service = useService({ config: { edgeFolder }, log });

  test('are stored once if they are older, and stay on disk with an error if newer', async () => {
    const waiting = async (name: string) => (await inspectSpool(join(edgeFolder, name))).records;
    await eventually(async () => {
      for (const name of ['edge-6', 'edge-7', 'edge-8']) expect(await waiting(name), name).toBe(0);
    });
    const rows = await service.database.sql`
      SELECT id, code, mode, occurred_at, region, city, is_bot, replace(visitor::text, '-', '') AS visitor, revision
      FROM scans ORDER BY position`;
    const expected = scans.map(({ id, code, mode, occurred_at, region, city, is_bot, visitor, revision }) => ({
      id,
      code,
      mode,
      occurred_at,
      region,
      city,
      is_bot,
      visitor,
      revision,
    }));
    expect([...rows], 'all three are the same batch').toEqual(expected);
    expect(await waiting('edge-5')).toBe(1);
    await eventually(() =>
      expect(lines().filter(({ level }) => level === 'error')[0]).toMatchObject({
        error: refused,
        folder: 'edge-5',
      }),
    );
  });
});
