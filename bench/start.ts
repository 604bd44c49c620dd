import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchRow, boundedRow, median } from './row.ts';
import { startUp } from './up.ts';

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
  const started = performance.now();
  const up = await startUp(data);
  const seconds = (performance.now() - started) / 1000;
  await up.stop();
  return seconds;
}
