import { connectWarehouse } from '../src/analytics/connect.ts';
import { replayAnalytics } from '../src/maintenance/replay-analytics.ts';
import type { BenchStack } from './bench-stack.ts';
import { type BenchRow, boundedRow, median, perSecond } from './row.ts';

/** How fast the warehouse is rebuilt from the log, against reading the same rows and discarding them. */
export async function benchReplay(
  stack: BenchStack,
  { scans = 1_000_000, repetitions = 2, onStep = (_: string) => {} } = {},
): Promise<BenchRow[]> {
  const { sql, clickhouseUrl } = stack;
  const warehouse = connectWarehouse({ clickhouseUrl, clickhouseDatabase: 'replayed', clickhouseCluster: undefined });
  try {
    onStep(`inserting ${scans.toLocaleString('en')} scans into the log`);
    await fillLog(stack, scans);
    const [reads, replays]: [number[], number[]] = [[], []];
    for (let round = 1; round <= repetitions; round++) {
      onStep(`replay of analytics, round ${round} of ${repetitions}`);
      reads.push(scans / (await seconds(() => readAndDiscard(stack))));
      replays.push(scans / (await seconds(() => replayAnalytics({ sql, warehouse }))));
    }
    return [
      boundedRow(
        {
          what: `replay analytics over ${scans.toLocaleString('en')} scans`,
          figure: perSecond(median(replays)),
          against: `reading and discarding the rows: ${perSecond(median(reads))}`,
          ratio: median(replays) / median(reads),
        },
        { target: 0.3, goal: 0.7, kind: 'min' },
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

/** Inserts into the table directly: appending a million scans would take longer than the measurement. */
async function fillLog({ sql, code }: BenchStack, scans: number): Promise<void> {
  const batchSize = 100_000;
  for (let from = 0; from < scans; from += batchSize)
    await sql`
      INSERT INTO scans
      SELECT nextval('log_position'), 'scan_' || lpad(n::text, 22, '0'), ${code.id}, ${code.account}, 'live',
        now() - (n % 2592000) * interval '1 second', (ARRAY['DE', 'AT', 'US', 'FR'])[1 + n % 4], 'Region ' || n % 50,
        'City ' || n % 300, (ARRAY['ios', 'android', 'desktop'])[1 + n % 3], (ARRAY['safari', 'chrome', 'other'])[1 + n % 3],
        n % 50 = 0, md5((n % 500000)::text)::uuid, n < 500000, 1
      FROM generate_series(${from + 1}::int, ${Math.min(from + batchSize, scans)}::int) AS n`;
}

async function readAndDiscard({ sql }: BenchStack): Promise<void> {
  for (let position = 0; ; ) {
    const rows = await sql<{ position: number }[]>`
      SELECT * FROM scans WHERE position > ${position} ORDER BY position LIMIT 20000`;
    if (rows.length === 0) return;
    position = rows.at(-1)?.position ?? position;
  }
}
