import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchRow, ms, unboundedRow } from './row.ts';

/** What the machine does to every program, whatever it is: the tail of a latency cannot be shorter. */
export const machineRows = async (folder: string): Promise<BenchRow[]> => [
  shown('fdatasync of 8 KiB, 200/s (p50, p99, longest)', await syncTimes(folder)),
  shown('1 ms of work in memory, nothing else running (p50, p99, longest)', computingTimes()),
];

const percentiles = [0.5, 0.99, 1];

function shown(what: string, times: number[]): BenchRow {
  times.sort((a, b) => a - b);
  const figure = percentiles.map((share) => ms(times[Math.floor((times.length - 1) * share)] ?? 0)).join(', ');
  return unboundedRow({ what, figure, against: '–', ratio: null });
}

const rate = 200;
const syncs = 600;

/** How long the disk takes to sync 8 KiB: every commit waits for one of these. */
async function syncTimes(folder: string): Promise<number[]> {
  const file = join(folder, 'fsync');
  const handle = openSync(file, 'w');
  const page = Buffer.alloc(8_192, 1);
  const times: number[] = [];
  const started = performance.now();
  while (times.length < syncs) {
    await Bun.sleep(Math.max(0, started + (times.length * 1000) / rate - performance.now()));
    const before = performance.now();
    writeSync(handle, page);
    fdatasyncSync(handle);
    times.push(performance.now() - before);
  }
  closeSync(handle);
  rmSync(file);
  return times;
}

const computeMs = 5_000;

/** The same computation again and again: it takes longer whenever the machine takes the core away or slows it down. */
function computingTimes(): number[] {
  const steps = stepsOf(1);
  const times: number[] = [];
  for (const end = performance.now() + computeMs; performance.now() < end; ) {
    const before = performance.now();
    compute(steps);
    times.push(performance.now() - before);
  }
  return times;
}

/** How many steps take about `takenMs`, after a warm-up. */
function stepsOf(takenMs: number): number {
  const steps = 1_000_000;
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    const before = performance.now();
    compute(steps);
    best = Math.min(best, performance.now() - before);
  }
  return Math.round((steps * takenMs) / best);
}

/** 32 MiB, about what a process of the service uses all the time. */
const memory = new Uint32Array(8 * 1024 * 1024);

/** Changes numbers all over the memory, as programs do. */
function compute(steps: number): void {
  for (let step = 0, at = 0; step < steps; step++) {
    at = (at * 1_664_525 + 1_013_904_223) & (memory.length - 1);
    memory[at] = (memory[at] as number) + step;
  }
}
