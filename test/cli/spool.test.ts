import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { encodeSpoolRecord } from '../../events/wire/spool-record.ts';
import { volatileFinding } from '../../src/cli/doctor/service.ts';
import { inspectSpools } from '../../src/cli/spool.ts';
import type { DrainStatus } from '../../src/edge/spool/drain.ts';
import { openSpool } from '../../src/edge/spool/spool.ts';
import { writeStatus } from '../../src/edge/spool/status-file.ts';
import { batchOf } from '../../src/log/append-scans.ts';
import { runScanlog } from '../support/scanlog.ts';
import { scanned } from '../support/scans.ts';

const folder = mkdtempSync(join(tmpdir(), 'scanlog-spools-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('./scanlog spool', () => {
  test('shows what waits, the rate and the time left of an edge that runs, and what others have left', async () => {
    const left = await openSpool({ folder: join(folder, 'edge-0'), maxBytes: 1_000_000 });
    for (const number of [1, 2]) await left.append(encodeSpoolRecord(batchOf('writer', number, [scanned()])));
    await left.close();
    const running = await openSpool({ folder: join(folder, 'edge-1'), maxBytes: 1_000_000 });
    const status: DrainStatus = {
      batches: 7,
      bytes: 4_200,
      scansPerSecond: 20_000,
      secondsLeft: 2.5,
      stalledSeconds: 0,
    };
    await writeStatus(join(folder, 'edge-1'), status);
    expect(await inspectSpools(folder)).toMatchObject([
      { edge: 'edge-0', records: 2, segments: 1 },
      { edge: 'edge-1', records: 7, bytes: 4_200, drain: { scansPerSecond: 20_000, secondsLeft: 2.5 } },
    ]);
    const shown = runScanlog(['spool', '--data', join(folder, 'none')], { EDGE_DIR: folder });
    expect(await shown.exitCode()).toBe(0);
    expect(shown.output()).toMatch(/^edge-0 +2 .* no edge runs +0$/m);
    expect(shown.output()).toMatch(/^edge-1 +7 +4200 .* 20000\/s +3 s +0$/m);
    await running.close();
  });
});

test('doctor warns of an EDGE_DIR in memory', () => {
  expect(volatileFinding('/run/edges', 0x01021994)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('EDGE_DIR /run/edges is on tmpfs'),
  });
  expect(volatileFinding('/var/lib/scanlog', 0xef53)).toMatchObject({ status: 'ok' });
});
