import { type BenchStack, startPeer } from './bench-stack.ts';
import { createAccounts, mixedLoad } from './leaks-load.ts';
import { openSampler, type ProcessName, processNames, type Sample, type Table } from './leaks-sample.ts';
import { type BenchRow, boundedRow, unboundedRow } from './row.ts';

const slices = 9;

/**
 * The sum of the service's connection pools: API and edge, then in the background process its own, one for each of four
 * leaders, and webhooks.
 */
const maxConnections = 20 + 5 + (20 + 4 + 6);

/**
 * ClickHouse keeps as many threads as ever worked at once: 50 for queries, merges and Node, and 128 that remove old
 * parts, for the first time about two minutes after the start.
 */
const maxClickHouseThreads = 250;

interface Options {
  seconds?: number;
  onStep?(step: string): void;
}

/**
 * Repeats the same load in equal slices and samples memory, handles and disk after each. The first third warms up; the
 * last third must not use more than the second.
 */
export async function benchLeaks(
  stack: BenchStack,
  { seconds = 12, onStep = () => {} }: Options = {},
): Promise<BenchRow[]> {
  const receiver = await startPeer('webhook-receiver.ts');
  const accounts = await createAccounts(stack, `http://127.0.0.1:${receiver.port}/fast`);
  const settings = { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' };
  const service = await stack.serve({ settings });
  const sampler = await openSampler(stack, service.pid);
  try {
    const samples: Sample[] = [];
    for (let slice = 1; slice <= slices; slice++) {
      await mixedLoad(stack, `http://127.0.0.1:${service.port}`, accounts, seconds);
      const sample = await sampler.take();
      samples.push(sample);
      onStep(`slice ${slice} of ${slices}: ${describe(sample)}`);
    }
    const third = slices / 3;
    const [second, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
    return [
      ...processNames.map((name) => memoryRow(name, second, last)),
      ...processNames.map((name) => handlesRow(name, second, last)),
      ...postgresRows(samples),
      streamRow(samples),
      ...clickhouseRows(samples),
      ...costRows(samples),
    ];
  } finally {
    await sampler.close();
    await service.stop();
    await receiver.stop();
  }
}

const names: Record<ProcessName, string> = {
  serving: 'the API and edge process',
  background: 'the relay and projections process',
  nats: 'NATS',
  clickhouse: 'ClickHouse',
};

const mb = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(bytes < 10_485_760 ? 1 : 0)} MB`;

const describe = ({ processes, scans }: Sample) =>
  `${scans.count.toLocaleString('en')} scans, ${processNames
    .map((name) => {
      const { memory, handles, threads } = processes[name];
      return `${name} ${memory.toFixed(0)} MB ${handles} handles ${threads} threads`;
    })
    .join(', ')}`;

/** Compares minimums, because memory above them is garbage that was not collected yet. */
function memoryRow(name: ProcessName, second: Sample[], last: Sample[]): BenchRow {
  const min = (samples: Sample[]) => Math.min(...samples.map(({ processes }) => processes[name].memory));
  return boundedRow(
    {
      what: `memory of ${names[name]}, last third`,
      figure: `${min(last).toFixed(0)} MB`,
      against: `second third: ${min(second).toFixed(0)} MB`,
      ratio: min(last) / min(second),
    },
    { target: 1.3, goal: 1.1, kind: 'max', unit: ' ×' },
  );
}

/** Compares minimums, because a connection that is being closed is not a leak. */
function handlesRow(name: ProcessName, second: Sample[], last: Sample[]): BenchRow {
  const min = (samples: Sample[]) => Math.min(...samples.map(({ processes }) => processes[name].handles));
  return boundedRow(
    {
      what: `open files and sockets of ${names[name]}, last third`,
      figure: String(min(last)),
      against: `second third: ${min(second)}`,
      ratio: min(last) / min(second),
      value: min(last) - min(second),
    },
    { target: 2, goal: 0, kind: 'max', unit: ' more' },
  );
}

const lastOf = (samples: Sample[]) => samples.at(-1) as Sample;
const maxOf = (samples: Sample[], of: (sample: Sample) => number) => Math.max(...samples.map(of));

function postgresRows(samples: Sample[]): BenchRow[] {
  const connections = maxOf(samples, (sample) => sample.connections);
  const walLimit = lastOf(samples).wal.limit;
  const wal = maxOf(samples, (sample) => sample.wal.onDisk);
  return [
    boundedRow(
      {
        what: 'connections to Postgres, maximum',
        figure: String(connections),
        against: `sum of the pools: ${maxConnections}`,
        ratio: connections / maxConnections,
        value: connections,
      },
      { target: maxConnections, goal: maxConnections, kind: 'max' },
    ),
    ...tableRows(lastOf(samples).tables),
    boundedRow(
      {
        what: 'WAL on disk, maximum',
        figure: mb(wal),
        against: `max_wal_size: ${mb(walLimit)}`,
        ratio: wal / walLimit,
      },
      { target: 1.5, goal: 1, kind: 'max', unit: ' ×' },
    ),
  ];
}

/** Autovacuum removes the dead rows of large tables; in smaller ones, writes prune each page. */
const minRowsOfLargeTable = 1_000;

function tableRows(tables: Table[]): BenchRow[] {
  const isLarge = ({ live }: Table) => live >= minRowsOfLargeTable;
  const [large] = tables.filter(isLarge).sort((a, b) => b.dead / b.live - a.dead / a.live);
  const [small] = tables.filter((table) => !isLarge(table)).sort((a, b) => b.bytes - a.bytes);
  const rows: BenchRow[] = [];
  if (large !== undefined)
    rows.push(
      boundedRow(
        {
          what: `dead rows of ${large.name}, the large table with the highest share of them`,
          figure: large.dead.toLocaleString('en'),
          against: `live rows: ${large.live.toLocaleString('en')}`,
          ratio: large.dead / large.live,
        },
        // Autovacuum starts at 0.2 and checks once a minute.
        { target: 0.5, goal: 0.25, kind: 'max' },
      ),
    );
  if (small !== undefined)
    rows.push(
      boundedRow(
        {
          what: `size of ${small.name}, the largest updated table with under ${minRowsOfLargeTable.toLocaleString('en')} rows`,
          figure: mb(small.bytes),
          against: `live rows: ${small.live}`,
          ratio: null,
          value: small.bytes / 1024 / 1024,
        },
        { target: 4, goal: 1, kind: 'max', unit: ' MB' },
      ),
    );
  return rows;
}

function streamRow(samples: Sample[]): BenchRow {
  const { bytes, limit } = lastOf(samples).stream;
  return boundedRow(
    { what: 'JetStream on disk', figure: mb(bytes), against: `its limit: ${mb(limit)}`, ratio: bytes / limit },
    { target: 1, goal: 1, kind: 'max', unit: ' ×' },
  );
}

function clickhouseRows(samples: Sample[]): BenchRow[] {
  const active = maxOf(samples, ({ parts }) => parts.active);
  const inactive = maxOf(samples, ({ parts }) => parts.inactive);
  const threads = maxOf(samples, ({ processes }) => processes.clickhouse.threads);
  return [
    boundedRow(
      {
        what: 'active parts in ClickHouse, maximum',
        figure: String(active),
        against: '–',
        ratio: null,
        value: active,
      },
      { target: 100, goal: 30, kind: 'max' },
    ),
    boundedRow(
      {
        what: 'threads of ClickHouse, maximum',
        figure: String(threads),
        against: `its thread pools: ${maxClickHouseThreads}`,
        ratio: threads / maxClickHouseThreads,
        value: threads,
      },
      { target: maxClickHouseThreads, goal: maxClickHouseThreads, kind: 'max' },
    ),
    boundedRow(
      {
        what: 'merged parts not yet removed from ClickHouse, maximum',
        figure: String(inactive),
        against: '–',
        ratio: null,
        value: inactive,
      },
      // ClickHouse keeps them for 8 minutes.
      { target: 1_000, goal: 300, kind: 'max' },
    ),
  ];
}

/** The cost per scan, for sizing. Measured from the first sample on, which excludes what a start costs. */
function costRows(samples: Sample[]): BenchRow[] {
  const [first, last] = [samples[0] as Sample, lastOf(samples)];
  const scans = last.scans.count - first.scans.count;
  const bytes = (of: (sample: Sample) => number) => `${Math.round((of(last) - of(first)) / scans)} bytes`;
  const cpu = (name: ProcessName) =>
    `${Math.round(((last.processes[name].cpuSeconds - first.processes[name].cpuSeconds) / scans) * 1e6)} µs`;
  const costs: [what: string, figure: string][] = [
    ['in Postgres, including indexes and visitors', bytes(({ scans }) => scans.postgresBytes)],
    ['WAL of the whole load', bytes(({ wal }) => wal.written)],
    ['in JetStream', bytes(({ stream }) => stream.bytes)],
    ['in ClickHouse, including projections', bytes(({ scans }) => scans.warehouseBytes)],
    ...processNames.map((name): [string, string] => [`CPU of ${names[name]} for the whole load`, cpu(name)]),
  ];
  return costs.map(([what, figure]) => unboundedRow({ what: `per scan: ${what}`, figure, against: '–', ratio: null }));
}
