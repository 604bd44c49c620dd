import { type Ground, startPeer } from './ground.ts';
import { makeAccounts, ordinaryLoad } from './leaks-load.ts';
import { openSampler, type ProcessName, processNames, type Sample } from './leaks-sample.ts';
import { type BenchRow, rowOf, toldRow } from './row.ts';

const slices = 9;
/**
 * Connections that the service may have open, by its pools: the API's and the edge's; in the process behind, its own, one
 * for each of four leaders, and those of webhooks.
 */
const pools = 20 + 5 + (20 + 4 + 6);

/**
 * Threads that ClickHouse may have. They do not end when they are idle, so it keeps as many as ever worked at once: 50
 * for queries, merges and Node, and 128 that remove old parts, for the first time about two minutes after the start.
 */
const clickhouseThreads = 250;

interface Options {
  seconds?: number;
  onStep?(step: string): void;
}

/**
 * An hour of ordinary load in minutes, in equal slices, and what everything holds after each. The first third warms up;
 * what is the same work over and over must hold no more in the last third than in the second.
 */
export async function benchLeaks(
  ground: Ground,
  { seconds = 12, onStep = () => {} }: Options = {},
): Promise<BenchRow[]> {
  const receiver = await startPeer('webhook-receiver.ts');
  const accounts = await makeAccounts(ground, `http://127.0.0.1:${receiver.port}/fast`);
  const settings = { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' };
  const service = await ground.serve({ settings });
  const sampler = await openSampler(ground, service.pid);
  try {
    const samples: Sample[] = [];
    for (let slice = 1; slice <= slices; slice++) {
      await ordinaryLoad(ground, `http://127.0.0.1:${service.port}`, accounts, seconds);
      const sample = await sampler.take();
      samples.push(sample);
      onStep(`slice ${slice} of ${slices}: ${describe(sample)}`);
    }
    const third = slices / 3;
    const [second, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
    return [
      ...processNames.map((name) => memoryRow(name, second, last)),
      ...processNames.map((name) => handlesRow(name, second, last)),
      ...boundRows(samples),
      ...costRows(samples),
    ];
  } finally {
    await sampler.close();
    await service.stop();
    await receiver.stop();
  }
}

const names: Record<ProcessName, string> = {
  front: 'the process in front',
  behind: 'the process behind',
  nats: 'NATS',
  clickhouse: 'ClickHouse',
};

const mb = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(bytes < 10_485_760 ? 1 : 0)} MB`;

const describe = ({ processes, scans }: Sample) =>
  `${scans.count.toLocaleString('en')} scans, ${processNames
    .map(
      (name) =>
        `${name} ${processes[name].memory.toFixed(0)} MB ${processes[name].handles} handles ${processes[name].threads} threads`,
    )
    .join(', ')}`;

/** The least of each third: what is above it, a collection would have freed. */
function memoryRow(name: ProcessName, second: Sample[], last: Sample[]): BenchRow {
  const least = (samples: Sample[]) => Math.min(...samples.map(({ processes }) => processes[name].memory));
  const ratio = least(last) / least(second);
  return rowOf(
    {
      what: `memory of ${names[name]}, last third`,
      figure: `${least(last).toFixed(0)} MB`,
      against: `second third: ${least(second).toFixed(0)} MB`,
      ratio,
      value: ratio,
    },
    { target: 1.3, goal: 1.1, kind: 'most', unit: ' ×' },
  );
}

/** The least, too: a connection that is just being closed is none that stays. */
function handlesRow(name: ProcessName, second: Sample[], last: Sample[]): BenchRow {
  const least = (samples: Sample[]) => Math.min(...samples.map(({ processes }) => processes[name].handles));
  return rowOf(
    {
      what: `open files and sockets of ${names[name]}, last third`,
      figure: String(least(last)),
      against: `second third: ${least(second)}`,
      ratio: least(last) / least(second),
      value: least(last) - least(second),
    },
    { target: 2, goal: 0, kind: 'most', unit: ' more' },
  );
}

/** From here on, rows are many, and autovacuum sees to the dead ones; below, each page is cleared as it is written to. */
const manyRows = 1_000;

function boundRows(samples: Sample[]): BenchRow[] {
  const end = samples.at(-1) as Sample;
  const most = (of: (sample: Sample) => number) => Math.max(...samples.map(of));
  const large = end.tables.filter(({ live }) => live >= manyRows).sort((a, b) => b.dead / b.live - a.dead / a.live)[0];
  const small = end.tables.filter(({ live }) => live < manyRows).sort((a, b) => b.bytes - a.bytes)[0];
  const connections = most((sample) => sample.connections);
  const wal = most((sample) => sample.wal.onDisk) / end.wal.most;
  const stream = end.stream.bytes / end.stream.most;
  const parts = most(({ parts }) => parts.active);
  const inactive = most(({ parts }) => parts.inactive);
  const threads = most(({ processes }) => processes.clickhouse.threads);
  return [
    rowOf(
      {
        what: 'connections to Postgres, most',
        figure: String(connections),
        against: `pools: ${pools}`,
        ratio: connections / pools,
        value: connections,
      },
      { target: pools, goal: pools, kind: 'most' },
    ),
    ...(large === undefined
      ? []
      : [
          rowOf(
            {
              what: `dead rows of ${large.name}, the table that has the largest share of them`,
              figure: large.dead.toLocaleString('en'),
              against: `live: ${large.live.toLocaleString('en')}`,
              ratio: large.dead / large.live,
              value: large.dead / large.live,
            },
            // Autovacuum comes at 0.2, and looks once a minute.
            { target: 0.5, goal: 0.25, kind: 'most' },
          ),
        ]),
    ...(small === undefined
      ? []
      : [
          rowOf(
            {
              what: `size of ${small.name}, the largest of the tables with few rows that change all the time`,
              figure: mb(small.bytes),
              against: `rows: ${small.live}`,
              ratio: null,
              value: small.bytes / 1024 / 1024,
            },
            { target: 4, goal: 1, kind: 'most', unit: ' MB' },
          ),
        ]),
    rowOf(
      {
        what: 'WAL on disk, most',
        figure: mb(wal * end.wal.most),
        against: `max_wal_size: ${mb(end.wal.most)}`,
        ratio: wal,
        value: wal,
      },
      { target: 1.5, goal: 1, kind: 'most', unit: ' ×' },
    ),
    rowOf(
      {
        what: 'JetStream',
        figure: mb(end.stream.bytes),
        against: `its limit: ${mb(end.stream.most)}`,
        ratio: stream,
        value: stream,
      },
      { target: 1, goal: 1, kind: 'most', unit: ' ×' },
    ),
    rowOf(
      { what: 'active parts in ClickHouse, most', figure: String(parts), against: '–', ratio: null, value: parts },
      { target: 100, goal: 30, kind: 'most' },
    ),
    rowOf(
      {
        what: 'threads of ClickHouse, most',
        figure: String(threads),
        against: `pools: ${clickhouseThreads}`,
        ratio: threads / clickhouseThreads,
        value: threads,
      },
      { target: clickhouseThreads, goal: clickhouseThreads, kind: 'most' },
    ),
    rowOf(
      {
        what: 'parts that were merged and are not removed yet, most',
        figure: String(inactive),
        against: '–',
        ratio: null,
        value: inactive,
      },
      // ClickHouse keeps them for 8 minutes.
      { target: 1_000, goal: 300, kind: 'most' },
    ),
  ];
}

/** What a scan costs in this load, for whoever has to buy disks. From the first sample on: what is there once is no scan's. */
function costRows(samples: Sample[]): BenchRow[] {
  const [first, last] = [samples[0] as Sample, samples.at(-1) as Sample];
  const scans = last.scans.count - first.scans.count;
  const bytes = (of: (sample: Sample) => number) => `${Math.round((of(last) - of(first)) / scans)} bytes`;
  const cpu = (name: ProcessName) =>
    `${Math.round(((last.processes[name].cpu - first.processes[name].cpu) / scans) * 1e6)} µs`;
  const costs: [what: string, figure: string][] = [
    ['in Postgres, indexes and visitors included', bytes(({ scans }) => scans.postgresBytes)],
    ['WAL, that of the whole load', bytes(({ wal }) => wal.written)],
    ['in JetStream', bytes(({ stream }) => stream.bytes)],
    ['in ClickHouse, projections included', bytes(({ scans }) => scans.warehouseBytes)],
    ...processNames.map((name): [string, string] => [`CPU of ${names[name]}, that of the whole load`, cpu(name)]),
  ];
  return costs.map(([what, figure]) => toldRow({ what: `a scan: ${what}`, figure, against: '–', ratio: null }));
}
