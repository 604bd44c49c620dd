import type { Mode } from '../events/plans.ts';
import { connectWarehouse, type Warehouse } from '../src/analytics/connect.ts';
import { readFigures } from '../src/analytics/figures.ts';
import type { Reading } from '../src/analytics/reading.ts';
import type { Selection } from '../src/analytics/selection.ts';
import { readSeries } from '../src/analytics/series.ts';
import { createTable, definition, tableName } from '../src/analytics/tables.ts';
import { warmUp } from '../src/analytics/warm-up.ts';
import { createCodes } from '../src/codes/create.ts';
import { readConfig } from '../src/config/config.ts';
import type { BenchStack } from './bench-stack.ts';
import { medianTimesMs } from './median-times.ts';
import { residentMemory } from './process.ts';
import { type BenchRow, boundedRow, ms } from './row.ts';

const maxInsertRows = 500_000;
const scansOfSmallCode = 1_000;
/** The number of codes that share the remaining scans. */
const otherCodes = 1_000;
const dayMs = 86_400_000;

/** The two codes that are read. */
interface Codes {
  /** Has a tenth of all scans. */
  large: string;
  small: string;
}

interface Period {
  start: Date;
  end: Date;
}

interface Options {
  repetitions?: number;
  /** In the whole table. */
  scans?: number;
  onStep?(step: string): void;
}

/** Analytics reads through the API, against the same SQL sent to ClickHouse directly. */
export async function benchAnalytics(
  stack: BenchStack,
  {
    repetitions = 10,
    scans = Number(process.env['SCANLOG_BENCH_SCANS'] ?? 10_000_000),
    onStep = () => {},
  }: Options = {},
): Promise<BenchRow[]> {
  const warehouse = connectWarehouse({ ...readConfig({}), clickhouseUrl: stack.clickhouseUrl });
  const end = new Date(Math.floor(Date.now() / 1000) * 1000);
  const period = { start: new Date(end.getTime() - 30 * dayMs), end };
  try {
    onStep('warming up ClickHouse');
    await warmUp(warehouse);
    const codes = await fill(stack, warehouse, { scans, period, onStep });
    // Without the role projections, which would find these scans missing in the log and rebuild the table.
    const service = await stack.serve({ roles: 'api' });
    const get = getter(`http://127.0.0.1:${service.port}/v1/qrcodes`, stack.key, period);
    const rows: BenchRow[] = [];
    for (const read of reads) {
      onStep(`${read.name}, ${repetitions} rounds`);
      const selection: Selection = {
        account: stack.code.account,
        mode: 'live',
        codes: { only: codes.large },
        bots: 'include',
        ...period,
      };
      const times = await medianTimesMs(repetitions, {
        direct: () => read.direct(reading(warehouse), selection),
        large: async () => (await get(`${codes.large}${read.path}`)).text(),
        small: async () => (await get(`${codes.small}${read.path}`)).text(),
      });
      rows.push(...rowsOf(read.name, scans, times));
    }
    onStep('CSV export');
    const peak = await peakMemory(service.pid, async () => {
      const response = await get(`${codes.large}/analytics/export`);
      for await (const _ of response.body ?? []);
    });
    await service.stop();
    return [...rows, exportRow(scans, peak)];
  } finally {
    await warehouse.client.close();
  }
}

const reads = [
  { name: 'summary', path: '/analytics', direct: readFigures },
  {
    name: 'time series',
    path: '/analytics/timeseries',
    direct: (reading: Reading, selection: Selection) => readSeries(reading, selection, 'day'),
  },
];

const reading = (warehouse: Warehouse): Reading => ({ warehouse, version: 1, signal: AbortSignal.timeout(30_000) });

/** GETs a path below `url` for the period; throws if the status is not 2xx. */
const getter =
  (url: string, key: string, { start, end }: Period) =>
  async (path: string) => {
    const query = `start_date=${start.toISOString()}&end_date=${end.toISOString()}`;
    const response = await fetch(`${url}/${path}?${query}`, { headers: { authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response;
  };

/** The time that the API may add to ClickHouse's own, in addition to the ratio. */
const allowanceMs = 5;

function rowsOf(name: string, scans: number, times: { direct: number; large: number; small: number }): BenchRow[] {
  const scansOfLarge = (scans / 10).toLocaleString('en');
  return [
    boundedRow(
      {
        what: `${name} of a code with ${scansOfLarge} of ${scans.toLocaleString('en')} scans`,
        figure: ms(times.large),
        against: `the same SQL sent to ClickHouse directly: ${ms(times.direct)}`,
        ratio: times.large / times.direct,
        value: (times.large - allowanceMs) / times.direct,
      },
      { target: 1.5, goal: 1.1, kind: 'max', unit: ` × + ${allowanceMs} ms` },
    ),
    boundedRow(
      {
        what: `${name} of a code with ${scansOfLarge} scans`,
        figure: ms(times.large),
        against: `code with ${scansOfSmallCode.toLocaleString('en')} scans: ${ms(times.small)}`,
        ratio: times.large / times.small,
      },
      { target: 5, goal: 2, kind: 'max', unit: ' ×' },
    ),
  ];
}

const exportRow = (scans: number, peakMb: number): BenchRow =>
  boundedRow(
    {
      what: `CSV export of ${(scans / 10).toLocaleString('en')} scans: peak memory above idle`,
      figure: `${peakMb.toFixed(0)} MB`,
      against: '–',
      ratio: null,
      value: peakMb,
    },
    { target: 100, goal: 32, kind: 'max', unit: ' MB' },
  );

interface Filling {
  scans: number;
  period: Period;
  onStep(step: string): void;
}

/** Generates scans in ClickHouse only, without a log. */
async function fill(stack: BenchStack, warehouse: Warehouse, { scans, period, onStep }: Filling): Promise<Codes> {
  const { account, id: large } = stack.code;
  const owner = { account, mode: 'live' as Mode };
  const request = { name: 'Small', destination_url: 'https://example.com/small', short_code: 'small' };
  const [created] = await stack.sql.begin((tx) =>
    createCodes(tx, stack.box, owner, [request], { actor: 'operator', now: new Date() }),
  );
  if (created === undefined) throw new Error('the second code of the benchmark was not created');
  const small = created.code.id;
  await createTable(warehouse, 1);
  const scansOfLargeCode = Math.round(scans / 10);
  const shares: [code: string, count: number][] = [
    [`{large:String}`, scansOfLargeCode],
    [`{small:String}`, scansOfSmallCode],
    [`concat('qr_other', toString(number % ${otherCodes}))`, Math.max(0, scans - scansOfLargeCode - scansOfSmallCode)],
  ];
  let done = 0;
  for (const [code, count] of shares)
    for (let at = 0; at < count; at += maxInsertRows) {
      onStep(`${done.toLocaleString('en')} of ${scans.toLocaleString('en')} scans inserted`);
      const rows = Math.min(maxInsertRows, count - at);
      await warehouse.client.command({
        query: `INSERT INTO ${tableName(warehouse, 1)}
          SELECT {account:String}, 'live', ${code},
            {start:DateTime64(3, 'UTC')} + toIntervalMillisecond(intDiv(number * {length:UInt64}, {count:UInt64})),
            {done:UInt64} + number + 1, concat('scan_', leftPad(toString(number), 22, '0')),
            ['DE', 'AT', 'FR', 'US'][1 + sipHash64(number) % 4], concat('Region ', toString(sipHash64(number) % 50)),
            concat('City ', toString(sipHash64(number) % 500)), ['ios', 'android', 'desktop'][1 + number % 3],
            ['safari', 'chrome', 'samsung_browser', 'other'][1 + number % 4], number % 20 = 0,
            reinterpretAsUUID(sipHash128(intDiv(number, 2))), number % 2 = 0, 1, '', ''
          FROM numbers({at:UInt64}, {rows:UInt64})`,
        query_params: {
          account,
          large,
          small,
          count,
          done: done - at,
          at,
          rows,
          start: period.start,
          length: period.end.getTime() - period.start.getTime(),
        },
        // Without a token, ClickHouse would drop a block whose content equals an earlier one.
        clickhouse_settings: { insert_deduplicate: 0 },
      });
      done += rows;
    }
  await stack.sql`
    INSERT INTO warehouse_tables (version, definition, in_use, position, removed_to, rows)
    VALUES (1, ${definition.number}, true, ${done}, ${done}, ${done})`;
  return { large, small };
}

/** The peak of a process's resident memory during `work`, above that before it, in MB. */
async function peakMemory(pid: number, work: () => Promise<void>): Promise<number> {
  const idle = residentMemory(pid);
  let peak = idle;
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentMemory(pid));
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(sampling);
  }
  return peak - idle;
}
