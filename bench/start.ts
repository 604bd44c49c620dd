import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../src/stack/processes.ts';
import { untilReady } from './ground.ts';
import { type BenchRow, boundedRow, median } from './row.ts';

/** How long `./scanlog up` takes to become ready, after the first start has installed everything. */
export async function benchStart({ repetitions = 3, onStep = (_: string) => {} } = {}): Promise<BenchRow[]> {
  const data = mkdtempSync(join(tmpdir(), 'scanlog-bench-'));
  try {
    const times: number[] = [];
    for (let i = 0; i <= repetitions; i++) {
      onStep(i === 0 ? 'first start' : `start ${i} of ${repetitions}`);
      times.push(await secondsToReady(data));
    }
    const seconds = median(times.slice(1));
    return [
      boundedRow(
        {
          what: './scanlog up until /readyz answers 200',
          figure: `${seconds.toFixed(1)} s`,
          against: '–',
          ratio: null,
          value: seconds,
        },
        { target: 10, goal: 4, kind: 'max', unit: ' s' },
      ),
    ];
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

async function secondsToReady(data: string): Promise<number> {
  const port = await freePort();
  const started = performance.now();
  const up = Bun.spawn(
    [join(import.meta.dir, '../scanlog'), 'up', '--data', data, '--port', String(port), '--log-level', 'error'],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, METRICS_PORT: '0' } },
  );
  await untilReady(`http://127.0.0.1:${port}/readyz`);
  const seconds = (performance.now() - started) / 1000;
  up.kill();
  await up.exited;
  return seconds;
}
