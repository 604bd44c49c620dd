import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Edge, startEdge } from '../../src/edge/edge.ts';
import { lockFolder } from '../../src/edge/spool/lock.ts';
import { openSpool } from '../../src/edge/spool/spool.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { StartError } from '../../src/lib/errors.ts';
import { newId } from '../../src/lib/ids.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { batchOf } from '../../src/log/append-scans.ts';
import { useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { captureLog } from '../support/log-lines.ts';
import { scanned } from '../support/scans.ts';
import { testBox } from '../support/secret-box.ts';
import { manualTimers } from '../support/timers.ts';

const database = useDatabase();
let folder = '';
const edges: Edge[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanlog-edge-'));
});
afterEach(async () => {
  for (const edge of edges.splice(0)) await edge.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(parent = folder) {
  const lines = captureLog();
  const metrics = createMetrics();
  const edge = await startEdge({
    box: testBox,
    databaseUrl: database.url,
    folder: parent,
    spoolMaxBytes: 2 ** 24,
    geoPath: undefined,
    trustedProxies: { v4: [], v6: [] },
    ownUrls: [],
    clock: systemClock,
    log: lines.log,
    metrics,
    onAppended() {},
    intervals: { pollMs: 20, snapshotMs: 20, otherMs: 20 },
    // A failure is logged again after a minute, which never passes.
    timers: manualTimers(),
  });
  edges.push(edge);
  return { edge, lines, metrics };
}

const gaugeOf = async (metric: ReturnType<typeof createMetrics>['unreadableSpools']) =>
  (await metric.get()).values[0]?.value;

/** Creates the spool of an earlier edge, with one batch of one scan. */
async function leaveSpool(name: string): Promise<string> {
  const scan = scanned();
  const spool = await openSpool({ folder: join(folder, name), maxBytes: 2 ** 20 });
  await spool.append(Buffer.from(JSON.stringify(batchOf(newId('batch', Date.now()), 1, [scan]))));
  await spool.close();
  return scan.id;
}

const isStored = async (id: string) => (await database.sql`SELECT FROM scans WHERE id = ${id}`).length === 1;

describe('the folder of an edge', () => {
  test('that cannot be used fails the start with its path and the cause', async () => {
    writeFileSync(join(folder, 'edge-0'), 'a file where a folder should be');
    const starting = start();
    await expect(starting).rejects.toBeInstanceOf(StartError);
    await expect(starting).rejects.toThrow(/^The spool .*edge-0 cannot be used: EEXIST/);
  });

  test('whose parent cannot be created fails the start with the cause', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await expect(start(file)).rejects.toThrow(`EDGE_DIR ${file} cannot be used: `);
    await expect(start(join(file, 'below'))).rejects.toThrow('cannot be used: ENOTDIR');
  });

  test('that another edge uses is skipped', async () => {
    await start();
    const { edge } = await start();
    expect(edge.failures()).toEqual([]);
    await expect(openSpool({ folder: join(folder, 'edge-0'), maxBytes: 1 })).rejects.toThrow('in use');
    // Not always edge-1: the first edge may lock that folder for a moment, to see whether it has a spool.
    await eventually(() => {
      const locked = readdirSync(folder).filter((name) =>
        readdirSync(join(folder, name)).some((file) => file.endsWith('.lock')),
      );
      expect(locked.sort()).toEqual(['edge-0', expect.stringMatching(/^edge-[1-9]/)]);
    });
  });
});

describe('the spool of an earlier edge', () => {
  test('that cannot be read is logged and counted, and does not block other spools', async () => {
    const stuck = await leaveSpool('edge-5');
    const segment = join(folder, 'edge-5', '0000000000.spool');
    mkdirSync(segment);
    const readable = await leaveSpool('edge-6');
    const { edge, lines, metrics } = await start();

    await eventually(async () => expect(await isStored(readable)).toBe(true));
    await eventually(async () => expect(await gaugeOf(metrics.unreadableSpools)).toBe(1));
    expect(edge.failures()).toEqual([expect.stringMatching(/^The spool .*edge-5 cannot be used: EISDIR/)]);
    const errors = () => lines.lines().filter(({ level }) => level === 'error');
    expect(errors()).toMatchObject([{ folder: 'edge-5', error: expect.stringContaining('EISDIR') }]);
    expect(await isStored(stuck)).toBe(false);

    // The edge has each folder locked for moments.
    const unlock = await eventually(() => lockFolder(join(folder, 'edge-5')));
    // The second one is left after the edge has begun to look at all spools for the first one, and is found by the next look.
    for (const name of ['edge-7', 'edge-8']) {
      const later = await eventually(() => leaveSpool(name));
      await eventually(async () => expect(await isStored(later)).toBe(true));
    }
    expect(await gaugeOf(metrics.unreadableSpools), 'while another edge looks at it').toBe(1);
    unlock();

    rmSync(segment, { recursive: true });
    await eventually(async () => expect(await isStored(stuck)).toBe(true));
    await eventually(async () => expect(await gaugeOf(metrics.unreadableSpools)).toBe(0));
    // An attempt may list the segment before it is removed, and find that it does not exist.
    const unreadable = errors().filter(({ error }) => String(error).includes('EISDIR'));
    expect(unreadable, 'logged once, not on every attempt').toHaveLength(1);
    expect(edge.failures()).toEqual([]);
  });
});

describe('a periodic task that fails while Postgres is available', () => {
  const failuresOf = async ({ edgeTaskFailures }: ReturnType<typeof createMetrics>, name: string) =>
    (await edgeTaskFailures.get()).values.find(({ labels }) => labels.task === name)?.value ?? 0;

  test('poll: logs a warning, counts the failures, and recovers', async () => {
    const { edge, lines, metrics } = await start();
    await eventually(() => expect(edge.failures()).toEqual([]));
    await database.sql`ALTER TABLE events RENAME TO events_elsewhere`;
    await eventually(() => expect(edge.failures()).toEqual(['poll: relation "events" does not exist']));
    await database.sql`ALTER TABLE events_elsewhere RENAME TO events`;
    await eventually(() => expect(edge.failures()).toEqual([]));
    expect(await failuresOf(metrics, 'poll')).toBeGreaterThanOrEqual(2);
    const logged = lines.lines().filter(({ task }) => task === 'poll');
    expect(logged.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  test('partitions: logs a warning, counts the failures, and recovers', async () => {
    await database.sql`SELECT setval('log_position', 50000000)`;
    await database.sql`CREATE TABLE in_the_way PARTITION OF scans FOR VALUES FROM (85000000) TO (86000000)`;
    const { edge, lines, metrics } = await start();
    await eventually(() => expect(edge.failures()).toEqual([expect.stringMatching(/^partitions: .* would overlap/)]));
    await database.sql`DROP TABLE in_the_way`;
    await eventually(() => expect(edge.failures()).toEqual([]));
    expect(await failuresOf(metrics, 'partitions')).toBeGreaterThanOrEqual(2);
    expect(lines.lines().filter(({ task }) => task === 'partitions')).toMatchObject([
      { level: 'warn', error: expect.stringContaining('would overlap') },
      { level: 'info' },
    ]);
  });
});
