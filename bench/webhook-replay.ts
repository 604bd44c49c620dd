import { contractFilter } from '../events/webhooks/webhook.ts';
import { newId } from '../src/lib/ids.ts';
import { headOfLog } from '../src/log/read.ts';
import { selectionOf } from '../src/webhooks/replay-selection.ts';
import { countPart, selectFrom } from '../src/webhooks/replay-steps.ts';
import type { Replay } from '../src/webhooks/replays.ts';
import type { BenchStack } from './bench-stack.ts';
import { type BenchRow, boundedRow, median, ms } from './row.ts';

const rounds = 3;
const replayedScans = 1_000_000;
/** As many as a replay selects at a time. */
const pageSize = 500;

/** What a replay reads from the log, without sending: it counts the scans of an account, then selects them page by page. */
export async function benchReplaySelection(stack: BenchStack, onStep: (step: string) => void): Promise<BenchRow> {
  onStep('1,000,000 scans for a replay');
  const account = newId('acct', Date.now());
  const after = await headOfLog(stack.sql);
  await fillScans(stack, account);
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round++) {
    onStep(`selection of a replay of 1,000,000 deliveries, round ${round} of ${rounds}`);
    bare.push(await timed(() => readPages(stack, account, after)));
    const replay = await newReplay(stack, account, after);
    ours.push(await timed(() => countAndSelect(stack, replay)));
  }
  return boundedRow(
    {
      what: 'counting and selecting 1,000,000 deliveries of a replay, without sending',
      figure: ms(median(ours)),
      against: `bare SELECT of the same scans, ${pageSize} at a time: ${ms(median(bare))}`,
      ratio: median(ours) / median(bare),
    },
    { target: 5, goal: 3, kind: 'max', unit: ' ×' },
  );
}

async function fillScans({ sql, code }: BenchStack, account: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`
      INSERT INTO scans (position, id, code, account, mode, occurred_at, country, region, city, device, browser, is_bot,
        visitor, is_unique, revision)
      SELECT nextval('log_position'), 'scan_' || lpad(n::text, 22, '0'), ${code.id}, ${account}, 'live', now(), 'DE',
        'Berlin', 'Berlin', 'ios', 'safari', false, gen_random_uuid(), true, 1
      FROM generate_series(1, ${replayedScans}::int) AS n`;
  });
  await sql`VACUUM ANALYZE scans`;
}

/** The replay of a webhook that did not exist yet when the account was scanned. */
async function newReplay({ sql }: BenchStack, account: string, after: number): Promise<Replay> {
  const selection = JSON.parse(JSON.stringify(selectionOf(contractFilter('live'), [])));
  const [replay] = await sql<[Replay]>`
    INSERT INTO endpoint_replays (id, account, webhook, generation, choice, from_time, to_time, selection, to_position,
      counted_to, selected_to, created_at, status)
    VALUES (${newId('whr', Date.now())}, ${account}, 'live', 0, 'missing', ${new Date(0)}, ${new Date()},
      ${sql.json(selection)}, ${await headOfLog(sql)}, ${after}, ${after}, now(), 'done')
    RETURNING *`;
  return replay;
}

async function countAndSelect({ sql }: BenchStack, replay: Replay): Promise<void> {
  while (await countPart(sql, replay));
  let selected = 0;
  while (replay.selected_to < replay.to_position) selected += (await selectFrom(sql, replay, pageSize)).length;
  if (replay.total !== replayedScans || selected !== replayedScans)
    throw new Error(`${replay.total} scans are counted and ${selected} selected, expected ${replayedScans}`);
}

async function readPages({ sql }: BenchStack, account: string, after: number): Promise<void> {
  for (let position = after; ; ) {
    const page = await sql<{ position: number; id: string }[]>`
      SELECT position, id FROM scans WHERE position > ${position} AND account = ${account}
      ORDER BY position LIMIT ${pageSize}`;
    const last = page.at(-1);
    if (last === undefined) return;
    position = last.position;
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
