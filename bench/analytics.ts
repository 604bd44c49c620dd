import type { Mode } from '../events/plans.ts';
import { createCodes } from '../src/codes/create.ts';
import { readConfig } from '../src/config.ts';
import { connectWarehouse, type Warehouse } from '../src/warehouse/connect.ts';
import { readFigures } from '../src/warehouse/figures.ts';
import type { Reading } from '../src/warehouse/reading.ts';
import type { Selection } from '../src/warehouse/selection.ts';
import { readSeries } from '../src/warehouse/series.ts';
import { createTable, definition, tableName } from '../src/warehouse/tables.ts';
import { warmUp } from '../src/warehouse/warm-up.ts';
import type { Ground } from './ground.ts';
import { residentMemory } from './process.ts';
import { type BenchRow, ms, rowOf } from './row.ts';
import { takeTurns } from './turns.ts';

const insertAtOnce = 500_000;
const smallScans = 1_000;
/** Codes that share what neither of the two measured ones has. */
const otherCodes = 1_000;
const dayMs = 86_400_000;

interface Options {
  repetitions?: number;
  /** In the whole table; a tenth of them are of one code. */
  scans?: number;
  onStep?(step: string): void;
}

/** What is read from the warehouse, beside the same SQL sent straight to it. */
export async function benchAnalytics(
  ground: Ground,
  {
    repetitions = 10,
    scans = Number(process.env['SCANLOG_BENCH_SCANS'] ?? 10_000_000),
    onStep = () => {},
  }: Options = {},
): Promise<BenchRow[]> {
  const { clickhouseUrl, key } = ground;
  const warehouse = connectWarehouse({ ...readConfig({}), clickhouseUrl });
  const end = new Date(Math.floor(Date.now() / 1000) * 1000);
  const period = { start: new Date(end.getTime() - 30 * dayMs), end };
  try {
    onStep('warming ClickHouse up');
    await warmUp(warehouse);
    const { big, small } = await fill(ground, warehouse, { scans, period, onStep });
    // The projections' role would find scans that no log has, and make the table anew.
    const service = await ground.serve({ roles: 'api' });
    const url = `http://127.0.0.1:${service.port}/v1/qrcodes`;
    const ask = async (path: string) => {
      const query = `start_date=${period.start.toISOString()}&end_date=${end.toISOString()}`;
      const answer = await fetch(`${url}/${path}?${query}`, { headers: { authorization: `Bearer ${key}` } });
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
      return answer;
    };

    const reads = { summary: '/analytics', 'time series': '/analytics/timeseries' };
    const rows: BenchRow[] = [];
    for (const [name, path] of Object.entries(reads)) {
      onStep(`${name}, ${repetitions} rounds`);
      const straight = (code: string) => () =>
        (name === 'summary' ? readFigures : readDays)(reading(warehouse), of(code));
      const of = (code: string): Selection => ({
        ...{ account: ground.code.account, mode: 'live', codes: { only: code }, bots: 'include', ...period },
      });
      const took = await takeTurns(repetitions, {
        straight: straight(big),
        asked: async () => (await ask(`${big}${path}`)).text(),
        ofFew: async () => (await ask(`${small}${path}`)).text(),
      });
      rows.push(...rowsOf(name, scans, took));
    }

    onStep('CSV export');
    const peak = await peakMemory(service.pid, async () => {
      const answer = await ask(`${big}/analytics/export`);
      for await (const _ of answer.body ?? []);
    });
    await service.stop();
    rows.push(
      rowOf(
        {
          what: `CSV export of ${(scans / 10).toLocaleString('en')} scans: peak memory above idle`,
          figure: `${peak.toFixed(0)} MB`,
          against: '–',
          ratio: null,
          value: peak,
        },
        { target: 100, goal: 32, kind: 'most', unit: ' MB' },
      ),
    );
    return rows;
  } finally {
    await warehouse.client.close();
  }
}

const reading = (warehouse: Warehouse): Reading => ({ warehouse, version: 1, signal: AbortSignal.timeout(30_000) });
const readDays = (of: Reading, selection: Selection) => readSeries(of, selection, 'day');

/** What a request costs besides ClickHouse may be this, whatever ClickHouse takes. */
const allowanceMs = 5;

function rowsOf(name: string, scans: number, took: { straight: number; asked: number; ofFew: number }): BenchRow[] {
  const many = (scans / 10).toLocaleString('en');
  return [
    rowOf(
      {
        what: `${name} of a code with ${many} scans among ${scans.toLocaleString('en')}`,
        figure: ms(took.asked),
        against: `the same SQL straight to ClickHouse: ${ms(took.straight)}`,
        ratio: took.asked / took.straight,
        value: (took.asked - allowanceMs) / took.straight,
      },
      { target: 1.5, goal: 1.1, kind: 'most', unit: ` × + ${allowanceMs} ms` },
    ),
    rowOf(
      {
        what: `${name}: code with ${many} scans`,
        figure: ms(took.asked),
        against: `code with ${smallScans.toLocaleString('en')}: ${ms(took.ofFew)}`,
        ratio: took.asked / took.ofFew,
        value: took.asked / took.ofFew,
      },
      { target: 5, goal: 2, kind: 'most', unit: ' ×' },
    ),
  ];
}

interface Filling {
  scans: number;
  period: { start: Date; end: Date };
  onStep(step: string): void;
}

/** Scans that no log has, made where they are read. One code has a tenth of them, one has few. */
async function fill(ground: Ground, warehouse: Warehouse, { scans, period, onStep }: Filling) {
  const { account, id: big } = ground.code;
  const owner = { account, mode: 'live' as Mode };
  const wanted = { name: 'Small', destination_url: 'https://example.com/small', short_code: 'small' };
  const [created] = await ground.sql.begin((tx) =>
    createCodes(tx, ground.box, owner, [wanted], { actor: 'operator', now: new Date() }),
  );
  if (created === undefined) throw new Error('the benchmark has no second code');
  const small = created.code.id;
  await createTable(warehouse, 1);
  const ofBig = Math.round(scans / 10);
  const shares: [code: string, count: number][] = [
    [`{big:String}`, ofBig],
    [`{small:String}`, smallScans],
    [`concat('qr_other', toString(number % ${otherCodes}))`, Math.max(0, scans - ofBig - smallScans)],
  ];
  let done = 0;
  for (const [code, count] of shares)
    for (let at = 0; at < count; at += insertAtOnce) {
      onStep(`${done.toLocaleString('en')} of ${scans.toLocaleString('en')} scans made`);
      const now = Math.min(insertAtOnce, count - at);
      await warehouse.client.command({
        query: `INSERT INTO ${tableName(warehouse, 1)}
          SELECT {account:String}, 'live', ${code},
            {start:DateTime64(3, 'UTC')} + toIntervalMillisecond(intDiv(number * {length:UInt64}, {count:UInt64})),
            {done:UInt64} + number + 1, concat('scan_', leftPad(toString(number), 22, '0')),
            ['DE', 'AT', 'FR', 'US'][1 + sipHash64(number) % 4], concat('Region ', toString(sipHash64(number) % 50)),
            concat('City ', toString(sipHash64(number) % 500)), ['ios', 'android', 'desktop'][1 + number % 3],
            ['safari', 'chrome', 'samsung_browser', 'other'][1 + number % 4], number % 20 = 0,
            reinterpretAsUUID(sipHash128(intDiv(number, 2))), number % 2 = 0, 1
          FROM numbers({at:UInt64}, {now:UInt64})`,
        query_params: {
          ...{ account, big, small, count, done: done - at, at, now },
          ...{ start: period.start, length: period.end.getTime() - period.start.getTime() },
        },
        // Each insert would have its rows compared with those before by content.
        clickhouse_settings: { insert_deduplicate: 0 },
      });
      done += now;
    }
  await ground.sql`
    INSERT INTO warehouse_tables (version, definition, in_use, position, removed_to, rows)
    VALUES (1, ${definition.number}, true, ${done}, ${done}, ${done})`;
  return { big, small };
}

/** How much more memory a process has at most while something is done, in MB. */
async function peakMemory(pid: number, work: () => Promise<void>): Promise<number> {
  const idle = residentMemory(pid);
  let peak = idle;
  const watching = setInterval(() => {
    peak = Math.max(peak, residentMemory(pid));
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(watching);
  }
  return peak - idle;
}
