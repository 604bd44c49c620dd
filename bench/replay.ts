import { replayAnalytics } from '../src/stream/replay-analytics.ts';
import { connectWarehouse } from '../src/warehouse/connect.ts';
import type { Ground } from './ground.ts';
import { type BenchRow, median, perSecond, rowOf } from './row.ts';

/** How fast the warehouse is made again from the log, against reading the same rows and throwing them away. */
export async function benchReplay(
  ground: Ground,
  { scans = 1_000_000, repetitions = 2, onStep = (_: string) => {} } = {},
): Promise<BenchRow[]> {
  const { sql, clickhouseUrl } = ground;
  const warehouse = connectWarehouse({ clickhouseUrl, clickhouseDatabase: 'replayed', clickhouseCluster: undefined });
  try {
    onStep(`writing ${scans.toLocaleString('en')} scans into the log`);
    await fillLog(ground, scans);
    const [read, replayed]: [number[], number[]] = [[], []];
    for (let i = 1; i <= repetitions; i++) {
      onStep(`reading the log, and replaying it: ${i} of ${repetitions}`);
      read.push(scans / (await seconds(() => readAndForget(ground))));
      replayed.push(scans / (await seconds(() => replayAnalytics({ sql, warehouse }))));
    }
    const ratio = median(replayed) / median(read);
    return [
      rowOf(
        {
          what: `replay analytics over ${scans.toLocaleString('en')} scans`,
          figure: perSecond(median(replayed)),
          against: `reading and forgetting: ${perSecond(median(read))}`,
          ratio,
          value: ratio,
        },
        { target: 0.3, goal: 0.7, kind: 'least' },
      ),
    ];
  } finally {
    await warehouse.client.close();
  }
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** Straight into the table: appending a million scans as they come would take longer than all that is measured. */
async function fillLog({ sql, code }: Ground, scans: number): Promise<void> {
  const step = 100_000;
  for (let from = 0; from < scans; from += step)
    await sql`
      INSERT INTO scans
      SELECT nextval('log_position'), 'scan_' || lpad(n::text, 22, '0'), ${code.id}, ${code.account}, 'live',
        now() - (n % 2592000) * interval '1 second', (ARRAY['DE', 'AT', 'US', 'FR'])[1 + n % 4], 'Region ' || n % 50,
        'City ' || n % 300, (ARRAY['ios', 'android', 'desktop'])[1 + n % 3], (ARRAY['safari', 'chrome', 'other'])[1 + n % 3],
        n % 50 = 0, md5((n % 500000)::text)::uuid, n < 500000, 1
      FROM generate_series(${from + 1}::int, ${Math.min(from + step, scans)}::int) AS n`;
}

async function readAndForget({ sql }: Ground): Promise<void> {
  for (let position = 0; ; ) {
    const rows = await sql<{ position: number }[]>`
      SELECT * FROM scans WHERE position > ${position} ORDER BY position LIMIT 20000`;
    if (rows.length === 0) return;
    position = rows.at(-1)?.position ?? position;
  }
}
