import type { Scan } from '../events/scan.ts';
import { newId } from '../src/lib/ids.ts';
import type { Sql } from '../src/lib/sql.ts';
import { appendScans, batchOf } from '../src/log/append-scans.ts';
import { connect } from '../src/log/connect.ts';
import { headOfLog } from '../src/log/read.ts';
import { type BenchStack, load } from './bench-stack.ts';
import { type BenchRow, boundedRow, median, ms, perSecond, unboundedRow } from './row.ts';
import { scanOf } from './scan.ts';

const writers = 4;
const batchSize = 100;

/** Throughput of appends in log order, and of the pipeline from the log to counters and warehouse. */
export async function benchLog(
  stack: BenchStack,
  { repetitions = 5, batches = 60, backlog = 200_000, onStep = (_: string) => {} } = {},
): Promise<BenchRow[]> {
  const sql = connect(stack.databaseUrl, { max: writers, planOnce: true });
  try {
    onStep('appends');
    const appends = await appendRates(stack, sql, repetitions, batches);
    onStep('pipeline: redirects and freshness');
    const { edgeRate, freshnessMs } = await edgeFigures(stack);
    onStep(`pipeline: backlog of ${backlog.toLocaleString('en')} scans`);
    const pipelineRate = await drainRate(stack, sql, backlog);
    return [
      ...appendRows(appends),
      boundedRow(
        {
          what: 'log → JetStream → counters and warehouse, sustained',
          figure: perSecond(pipelineRate),
          against: `scans/s recorded by one edge: ${perSecond(edgeRate)}`,
          ratio: pipelineRate / edgeRate,
        },
        { target: 1.5, goal: 5, kind: 'min', unit: ' ×' },
      ),
      boundedRow(
        {
          what: 'scan visible in total_scans and analytics, at 2,000 scans/s: p99',
          figure: ms(freshnessMs),
          against: '–',
          ratio: null,
          value: freshnessMs / 1000,
        },
        { target: 2, goal: 0.5, kind: 'max', unit: ' s' },
      ),
    ];
  } finally {
    await sql.end();
  }
}

/** Scans per second by the way of storing them. */
interface AppendRates {
  ordered: number;
  unordered: number;
  withoutVisitors: number;
}

async function appendRates(stack: BenchStack, sql: Sql, repetitions: number, batches: number): Promise<AppendRates> {
  await sql.unsafe('CREATE TABLE plain_scans (LIKE scans INCLUDING INDEXES)');
  await sql.unsafe('CREATE TABLE plain_visitors (LIKE visitors INCLUDING INDEXES)');
  await sql.unsafe('CREATE SEQUENCE plain_position');
  const [ordered, unordered, withoutVisitors]: [number[], number[], number[]] = [[], [], []];
  for (let i = 0; i < repetitions; i++) {
    withoutVisitors.push(await rateOf(batches, stack, (scans) => insertWithoutVisitors(sql, scans)));
    unordered.push(await rateOf(batches, stack, (scans) => insertUnordered(sql, scans)));
    const writerIds = Array.from({ length: writers }, () => newId('batch', Date.now()));
    let number = 0;
    ordered.push(
      await rateOf(batches, stack, (scans, writer) =>
        appendScans(sql, batchOf(writerIds[writer] ?? '', ++number, scans)),
      ),
    );
  }
  return {
    ordered: median(ordered),
    unordered: median(unordered),
    withoutVisitors: median(withoutVisitors),
  };
}

const appendRows = ({ ordered, unordered, withoutVisitors }: AppendRates): BenchRow[] => [
  boundedRow(
    {
      what: `append of scans in log order, ${writers} writers, batches of ${batchSize}`,
      figure: perSecond(ordered),
      against: `plain INSERT into equal tables, unordered: ${perSecond(unordered)}`,
      ratio: ordered / unordered,
    },
    { target: 0.6, goal: 0.9, kind: 'min' },
  ),
  unboundedRow({
    what: 'the same, including the check for new visitors',
    figure: perSecond(ordered),
    against: `plain INSERT without that check: ${perSecond(withoutVisitors)}`,
    ratio: ordered / withoutVisitors,
  }),
];

async function edgeFigures(stack: BenchStack): Promise<{ edgeRate: number; freshnessMs: number }> {
  const service = await stack.serve();
  await untilCaughtUp(stack);
  const edge = await load(`http://127.0.0.1:${service.port}/bench`, { connections: 256, seconds: 5 });
  await untilCaughtUp(stack);
  const freshnessMs = await freshnessP99Ms(stack, service.port);
  await service.stop();
  return { edgeRate: edge.perSecond, freshnessMs };
}

/** Appends a backlog while nothing else runs, then measures how fast the pipeline processes it. */
async function drainRate(stack: BenchStack, sql: Sql, backlog: number): Promise<number> {
  const writer = newId('batch', Date.now());
  for (let n = 1; n <= backlog / 1_000; n++) {
    const scans = Array.from({ length: 1_000 }, () => scanOf(stack.code));
    await appendScans(sql, batchOf(writer, n, scans));
  }
  const pipeline = await stack.serve({ roles: 'relay,projections' });
  const before = await position(stack);
  const started = performance.now();
  await untilCaughtUp(stack);
  const rate = ((await position(stack)) - before) / ((performance.now() - started) / 1000);
  await pipeline.stop();
  return rate;
}

async function rateOf(
  batches: number,
  { code }: BenchStack,
  store: (scans: Scan[], writer: number) => Promise<unknown>,
): Promise<number> {
  const work = Array.from({ length: batches }, () => Array.from({ length: batchSize }, () => scanOf(code)));
  const started = performance.now();
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let scans = work.pop(); scans !== undefined; scans = work.pop()) await store(scans, writer);
    }),
  );
  return (batches * batchSize) / ((performance.now() - started) / 1000);
}

/** Stores the same rows in tables with the same indexes and detects new visitors, without log order or deduplication. */
async function insertUnordered(sql: Sql, scans: Scan[]): Promise<void> {
  await sql`
    WITH given AS MATERIALIZED (${rowsOf(sql, scans)}),
    newcomers AS (
      INSERT INTO plain_visitors
      SELECT hashtextextended(code, 0) AS code_hash, visitor FROM given WHERE is_first ORDER BY code_hash, visitor
      ON CONFLICT DO NOTHING
      RETURNING visitor
    )
    INSERT INTO plain_scans
    SELECT nextval('plain_position'), g.id, g.code, g.account, g.mode, to_timestamp(g.ms / 1000), g.country, g.region,
      g.city, g.device, g.browser, g.is_bot, g.visitor, g.is_first AND n.visitor IS NOT NULL, g.revision
    FROM given g LEFT JOIN newcomers n ON n.visitor = g.visitor`;
}

/** Stores the scans only. */
async function insertWithoutVisitors(sql: Sql, scans: Scan[]): Promise<void> {
  await sql`
    INSERT INTO plain_scans
    SELECT nextval('plain_position'), id, code, account, mode, to_timestamp(ms / 1000), country, region, city, device,
      browser, is_bot, visitor, is_first, revision
    FROM (${rowsOf(sql, scans)}) AS given`;
}

function rowsOf(sql: Sql, scans: Scan[]) {
  const { columns: c } = batchOf('plain', 0, scans);
  return sql`
    SELECT * FROM unnest(
      ${c.id}::text::text[], ${c.code}::text::text[], ${c.account}::text::text[], ${c.mode}::text::text[],
      ${c.occurred_at}::text::float8[], ${c.country}::text::text[], ${c.region}::text::text[], ${c.city}::text::text[],
      ${c.device}::text::text[], ${c.browser}::text::text[], ${c.is_bot}::text::boolean[], ${c.visitor}::text::uuid[],
      ${c.revision}::text::integer[], ${c.is_first}::text::boolean[]
    ) AS s (id, code, account, mode, ms, country, region, city, device, browser, is_bot, visitor, revision, is_first)`;
}

/** The position that both counters and warehouse have reached. */
async function position({ sql }: BenchStack): Promise<number> {
  const [row] = await sql<{ position: number }[]>`
    SELECT least(c.position, w.position) AS position FROM checkpoints c, warehouse_tables w
    WHERE c.projection = 'counters' AND w.in_use`;
  return row?.position ?? 0;
}

async function untilCaughtUp(stack: BenchStack): Promise<void> {
  const head = await headOfLog(stack.sql);
  while ((await position(stack)) < head) await Bun.sleep(10);
}

/** The p99 time, at 2,000 scans/s, until counters and warehouse have reached the log's head. */
async function freshnessP99Ms(stack: BenchStack, port: number): Promise<number> {
  const running = load(`http://127.0.0.1:${port}/bench`, { connections: 64, seconds: 6, rate: 2_000 });
  const lags: number[] = [];
  let isOver = false;
  running.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const head = await headOfLog(stack.sql);
    const started = performance.now();
    while ((await position(stack)) < head) await Bun.sleep(2);
    lags.push(performance.now() - started);
    await Bun.sleep(10);
  }
  lags.sort((a, b) => a - b);
  return lags[Math.floor(lags.length * 0.99)] ?? 0;
}
