import { childrenOf } from '../src/stack/processes.ts';
import { type BenchStack, load, startPeer } from './bench-stack.ts';
import { type EdgeUnderTest, startEdge, untilEmpty } from './edge-under-test.ts';
import { farAwayRows } from './far-away.ts';
import { type BenchRow, boundedRow, median, ms, perSecond } from './row.ts';

const connections = 256;
const rate = 4_000;
const frozenMs = 10_000;
const burstSeconds = 10;
const warmUpMs = 2_000;
/** Of one second each, under the load and before the freeze: "as before" is up to twice their median. */
const probesBefore = 5;
/** The load goes on for this long after the thaw. */
const maxRecoverySeconds = 30;

/** How the edge takes in what Postgres does not, and how it comes back. */
export async function benchRecovery(stack: BenchStack, { onStep = (_: string) => {} } = {}): Promise<BenchRow[]> {
  onStep('what one edge commits directly');
  const committed = await committedPerSecond(stack);
  const rows: BenchRow[] = [];
  const service = await startEdge(stack);
  try {
    onStep(`a burst of ${burstSeconds} s`);
    rows.push(await burstRow(service));
    await untilEmpty(service);
    onStep(`Postgres frozen for ${frozenMs / 1000} s at ${perSecond(rate)}`);
    rows.push(...(await frozenRows(stack, service, committed)));
  } finally {
    await service.stop();
  }
  return [...rows, ...(await farAwayRows(stack, { onStep }))];
}

async function committedPerSecond(stack: BenchStack): Promise<number> {
  const { port, stop } = await stack.serve({ settings: { EDGE_DURABILITY: 'log' } });
  const url = `http://127.0.0.1:${port}/${stack.code.short_code}`;
  await load(url, { connections, seconds: 2 });
  const result = await load(url, { connections, seconds: 5 });
  await stop();
  return result.perSecond;
}

async function burstRow(service: EdgeUnderTest): Promise<BenchRow> {
  const bare = await startPeer('bare-elysia.ts');
  await load(service.url, { connections, seconds: 2 });
  await untilEmpty(service);
  const limit = await load(`http://127.0.0.1:${bare.port}/bench`, { connections, seconds: burstSeconds });
  await bare.stop();
  const burst = await load(service.url, { connections, seconds: burstSeconds });
  const drainMs = await untilEmpty(service);
  return boundedRow(
    {
      what: `redirects/s in a burst of ${burstSeconds} s, drained ${ms(drainMs)} later`,
      figure: perSecond(burst.perSecond),
      against: `bare Elysia 302: ${perSecond(limit.perSecond)}`,
      ratio: burst.perSecond / limit.perSecond,
    },
    { target: 0.4, goal: 0.6, kind: 'min' },
  );
}

async function frozenRows(stack: BenchStack, service: EdgeUnderTest, committed: number): Promise<BenchRow[]> {
  const seconds = warmUpMs / 1000 + probesBefore + frozenMs / 1000 + maxRecoverySeconds;
  const loading = load(service.url, { connections, seconds, rate });
  await Bun.sleep(warmUpMs);
  const latencies: number[] = [];
  while (latencies.length < probesBefore) latencies.push(await probe(service));
  const before = median(latencies);
  const thaw = freeze(stack);
  await Bun.sleep(frozenMs);
  const drainedBefore = await service.metric('scanlog_drained_scans_total');
  thaw();
  const thawedAt = performance.now();
  const emptyMs = await untilEmpty(service, maxRecoverySeconds * 1000);
  const drained = ((await service.metric('scanlog_drained_scans_total')) - drainedBefore) / (emptyMs / 1000);
  let latency = await probe(service);
  while (latency > 2 * before && performance.now() - thawedAt < maxRecoverySeconds * 1000)
    latency = await probe(service);
  const recoveredSeconds = (performance.now() - thawedAt) / 1000;
  const { statuses } = await loading;
  const others = Object.entries(statuses).filter(([status]) => status !== '302');
  return [
    boundedRow(
      {
        what: `scans/s drained from the spool while ${perSecond(rate)} arrive`,
        figure: perSecond(drained),
        against: `committed by one edge: ${perSecond(committed)}`,
        ratio: drained / committed,
      },
      { target: 0.5, goal: 1, kind: 'min' },
    ),
    boundedRow(
      {
        what: `Postgres frozen for ${frozenMs / 1000} s at ${perSecond(rate)}, until the spool is empty (${ms(emptyMs)}) and p99 as before (${ms(before)})`,
        figure: `${recoveredSeconds.toFixed(1)} s`,
        against:
          others.length === 0 ? 'all responses 302' : `other responses: ${JSON.stringify(Object.fromEntries(others))}`,
        ratio: null,
        value: recoveredSeconds,
      },
      { target: 10, goal: 3, kind: 'max', unit: ' s' },
    ),
  ];
}

/** The p99 of a few requests beside the load. */
const probe = async (service: EdgeUnderTest): Promise<number> =>
  (await load(service.url, { connections: 4, seconds: 1, rate: 100 })).p99;

/** Stops Postgres and all its processes with SIGSTOP; returns the function that continues them. */
function freeze({ parts }: BenchStack): () => void {
  const postgres = parts.find(({ name }) => name === 'postgres')?.pid();
  if (postgres === undefined) throw new Error('Postgres is not running');
  const processes = [postgres, ...childrenOf(postgres)];
  for (const pid of processes) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of processes) process.kill(pid, 'SIGCONT');
  };
}
