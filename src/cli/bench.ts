import { cpus, release } from 'node:os';
import { benchAnalytics } from '../../bench/analytics.ts';
import { benchApi } from '../../bench/api.ts';
import { type BenchStack, startBenchStack, stopBenchStacks } from '../../bench/bench-stack.ts';
import { benchBurst } from '../../bench/burst.ts';
import { benchCost } from '../../bench/cost.ts';
import { benchFeed } from '../../bench/feed.ts';
import { benchGrowth } from '../../bench/growth.ts';
import { benchImages } from '../../bench/images.ts';
import { benchLeaks } from '../../bench/leaks.ts';
import { benchLog } from '../../bench/log.ts';
import { benchNeighbours } from '../../bench/neighbours.ts';
import { benchOperations } from '../../bench/operations.ts';
import { benchRecovery } from '../../bench/recovery.ts';
import { benchRedirect } from '../../bench/redirect.ts';
import { benchReplay } from '../../bench/replay.ts';
import { benchReplica } from '../../bench/replica.ts';
import type { BenchRow } from '../../bench/row.ts';
import { benchStart } from '../../bench/start.ts';
import { benchWebhooks } from '../../bench/webhooks.ts';
import { messageOf } from '../lib/errors.ts';
import { untilStopSignal } from '../service/stopping.ts';
import type { Benchmark } from './benchmarks.ts';
import { bold, dim, print, table } from './terminal.ts';

interface Options {
  json?: boolean;
}

/** Take much more time and disk than all others. */
const notInAll: ReadonlySet<Benchmark> = new Set(['operations', 'replica']);

/** Runs benchmarks, and prints each figure next to a reference from the same run. */
export async function bench(which: Benchmark, { json = false }: Options): Promise<void> {
  const onStep = (step: string) => process.stderr.write(`${step} …\n`);
  const steps = { onStep };
  const onStack = (measure: (stack: BenchStack, options: typeof steps) => Promise<BenchRow[]>) => async () => {
    const stack = await startBenchStack();
    try {
      return await measure(stack, steps);
    } finally {
      await stack.stop();
    }
  };
  const measurements: [Benchmark, () => Promise<BenchRow[]>][] = [
    ['images', () => benchImages()],
    ['images', onStack(benchBurst)],
    ['redirect', onStack(benchRedirect)],
    ['cost', () => benchCost(steps)],
    ['recovery', onStack(benchRecovery)],
    ['log', onStack(benchLog)],
    ['analytics', onStack(benchReplay)],
    ['analytics', onStack(benchAnalytics)],
    ['api', onStack(benchApi)],
    ['api', () => benchStart(steps)],
    ['webhooks', onStack(benchWebhooks)],
    ['feed', onStack(benchFeed)],
    ['neighbours', onStack(benchNeighbours)],
    ['growth', onStack(benchGrowth)],
    ['leaks', onStack(benchLeaks)],
    ['replica', onStack(benchReplica)],
    ['operations', () => benchOperations(steps)],
  ];
  untilStopSignal().then(async () => {
    process.stderr.write('scanlog: interrupted: stopping what this benchmark has started\n');
    await stopBenchStacks();
    process.exit(130);
  });
  const rows: BenchRow[] = [];
  for (const [name, measure] of measurements) {
    if (which !== name && (which !== 'all' || notInAll.has(name))) continue;
    try {
      rows.push(...(await measure()));
    } catch (error) {
      // The figures of the other benchmarks, up to an hour of work, are still printed.
      process.stderr.write(`scanlog: the benchmark ${name} failed: ${messageOf(error)}\n`);
      process.exitCode = 1;
    }
  }

  const machine = `${cpus().length} cores, ${process.platform} ${release()} ${process.arch}, Bun ${Bun.version}`;
  if (json) {
    print(JSON.stringify({ machine, rows }));
    return;
  }
  const sign = (met: boolean | undefined) => (met === undefined ? '' : met ? '✓' : '✗');
  print(dim(machine));
  print(
    table([
      ['WHAT', 'FIGURE', 'AGAINST', 'RATIO', 'TARGET', '', 'GOAL', ''].map(bold),
      ...rows.map(({ what, figure, against, ratio, target, goal, met }) => [
        ...[what, figure, against, ratio === null ? '–' : String(ratio)],
        ...[target, sign(met?.target), goal, sign(met?.goal)],
      ]),
    ]),
  );
}
