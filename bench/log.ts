import type { Scan } from '../events/scan.ts';
import { newId } from '../src/lib/ids.ts';
import { appendScans, batchOf } from '../src/log/append-scans.ts';
import { connect } from '../src/log/connect.ts';
import { headOfLog } from '../src/log/read.ts';
import { type Ground, load } from './ground.ts';
import { type BenchRow, median, ms, perSecond, rowOf, toldRow } from './row.ts';
import { scanOf } from './scan.ts';

const writers = 4;
const batchSize = 100;

/** What the log itself can do: appending in order, and getting from there into what is read. */
export async function benchLog(
  ground: Ground,
  { repetitions = 5, batches = 60, backlog = 200_000, onStep = (_: string) => {} } = {},
): Promise<BenchRow[]> {
  const sql = connect(ground.databaseUrl, { max: writers, planOnce: true });
  try {
    onStep('appending');
    await sql.unsafe('CREATE TABLE plain_scans (LIKE scans INCLUDING INDEXES)');
    await sql.unsafe('CREATE TABLE plain_visitors (LIKE visitors INCLUDING INDEXES)');
    await sql.unsafe('CREATE SEQUENCE plain_position');
    const undecided: number[] = [];
    const plain: number[] = [];
    const ordered: number[] = [];
    for (let i = 0; i < repetitions; i++) {
      undecided.push(await rateOf(batches, ground, (scans) => insertUndecided(sql, scans)));
      plain.push(await rateOf(batches, ground, (scans) => insertPlain(sql, scans)));
      const names = Array.from({ length: writers }, () => newId('batch', Date.now()));
      let number = 0;
      ordered.push(
        await rateOf(batches, ground, (scans, writer) =>
          appendScans(sql, batchOf(names[writer] ?? '', ++number, scans)),
        ),
      );
    }

    onStep('from the log into the counters and the warehouse');
    const service = await ground.serve();
    await untilCaughtUp(ground);
    const edge = await load(`http://127.0.0.1:${service.port}/bench`, { connections: 256, seconds: 5 });
    await untilCaughtUp(ground);
    const fresh = await freshness(ground, service.port);
    await service.stop();
    const name = newId('batch', Date.now());
    for (let n = 0; n < backlog / 1_000; n++)
      await appendScans(
        sql,
        batchOf(
          name,
          n + 1,
          Array.from({ length: 1_000 }, () => scanOf(ground.code)),
        ),
      );
    const pipeline = await ground.serve({ roles: 'relay,projections' });
    const before = await position(ground);
    const started = performance.now();
    await untilCaughtUp(ground);
    const rate = ((await position(ground)) - before) / ((performance.now() - started) / 1000);
    await pipeline.stop();

    return [
      rowOf(
        {
          what: `append of scans, ${writers} writers, batches of ${batchSize}, in one order`,
          figure: perSecond(median(ordered)),
          against: `plain INSERT into equal tables, in none: ${perSecond(median(plain))}`,
          ratio: median(ordered) / median(plain),
          value: median(ordered) / median(plain),
        },
        { target: 0.6, goal: 0.9, kind: 'least' },
      ),
      toldRow({
        what: 'the same, all by new visitors',
        figure: perSecond(median(ordered)),
        against: `plain INSERT that does not ask who is new: ${perSecond(median(undecided))}`,
        ratio: median(ordered) / median(undecided),
      }),
      rowOf(
        {
          what: 'log → JetStream → counters and warehouse, sustained',
          figure: perSecond(rate),
          against: `scans/s that one edge records: ${perSecond(edge.perSecond)}`,
          ratio: rate / edge.perSecond,
          value: rate / edge.perSecond,
        },
        { target: 1.5, goal: 5, kind: 'least', unit: ' ×' },
      ),
      rowOf(
        {
          what: 'scan visible in total_scans and analytics, at 2,000 scans/s: p99',
          figure: ms(fresh),
          against: '–',
          ratio: null,
          value: fresh / 1000,
        },
        { target: 2, goal: 0.5, kind: 'most', unit: ' s' },
      ),
    ];
  } finally {
    await sql.end();
  }
}

async function rateOf(
  batches: number,
  { code }: Ground,
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

/** The same rows into tables with the same indexes, visitors decided, but in no order and whoever wrote before. */
async function insertPlain(sql: Ground['sql'], scans: Scan[]): Promise<void> {
  await sql`
    WITH given AS MATERIALIZED (${givenIn(sql, scans)}),
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

/** The scans alone. */
async function insertUndecided(sql: Ground['sql'], scans: Scan[]): Promise<void> {
  await sql`
    INSERT INTO plain_scans
    SELECT nextval('plain_position'), id, code, account, mode, to_timestamp(ms / 1000), country, region, city, device,
      browser, is_bot, visitor, is_first, revision
    FROM (${givenIn(sql, scans)}) AS given`;
}

function givenIn(sql: Ground['sql'], scans: Scan[]) {
  const { columns: c } = batchOf('plain', 0, scans);
  return sql`
    SELECT * FROM unnest(
      ${c.id}::text::text[], ${c.code}::text::text[], ${c.account}::text::text[], ${c.mode}::text::text[],
      ${c.occurred_at}::text::float8[], ${c.country}::text::text[], ${c.region}::text::text[], ${c.city}::text::text[],
      ${c.device}::text::text[], ${c.browser}::text::text[], ${c.is_bot}::text::boolean[], ${c.visitor}::text::uuid[],
      ${c.revision}::text::integer[], ${c.is_first}::text::boolean[]
    ) AS s (id, code, account, mode, ms, country, region, city, device, browser, is_bot, visitor, revision, is_first)`;
}

/** Up to where both have come. */
async function position({ sql }: Ground): Promise<number> {
  const [row] = await sql<{ position: number }[]>`
    SELECT least(c.position, w.position) AS position FROM checkpoints c, warehouse_tables w
    WHERE c.projection = 'counters' AND w.in_use`;
  return row?.position ?? 0;
}

async function untilCaughtUp(ground: Ground): Promise<void> {
  const head = await headOfLog(ground.sql);
  while ((await position(ground)) < head) await Bun.sleep(10);
}

/** How long it takes, at a steady rate, until counters and warehouse have what the log has. */
async function freshness(ground: Ground, port: number): Promise<number> {
  const running = load(`http://127.0.0.1:${port}/bench`, { connections: 64, seconds: 6, rate: 2_000 });
  const lags: number[] = [];
  let over = false;
  running.then(() => {
    over = true;
  });
  while (!over) {
    const head = await headOfLog(ground.sql);
    const seen = performance.now();
    while ((await position(ground)) < head) await Bun.sleep(2);
    lags.push(performance.now() - seen);
    await Bun.sleep(10);
  }
  lags.sort((a, b) => a - b);
  return lags[Math.floor(lags.length * 0.99)] ?? 0;
}
