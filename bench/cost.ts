import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../src/stack/processes.ts';
import { load, untilReady } from './ground.ts';
import { cpuSecondsOfTree, memoryOfTree } from './process.ts';
import { type BenchRow, boundedRow } from './row.ts';

const rate = 200;
const seconds = 20;

/** What `./scanlog up` costs, with Postgres, NATS and ClickHouse: idle, and at a rate that few instances exceed. */
export async function benchCost({ onStep = (_: string) => {} } = {}): Promise<BenchRow[]> {
  const data = mkdtempSync(join(tmpdir(), 'scanlog-bench-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const up = Bun.spawn(
    [join(import.meta.dir, '../scanlog'), 'up', '--data', data, '--port', String(port), '--log-level', 'error'],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, METRICS_PORT: '0' } },
  );
  try {
    await untilReady(`${url}/readyz`);
    const link = await createCode(data, url);
    onStep('warm up');
    await load(link, { connections: 16, seconds: 5, rate });
    await Bun.sleep(10_000);
    onStep(`idle for ${seconds} s`);
    const idle = await cpuShare(up.pid, () => Bun.sleep(seconds * 1000));
    const memory = memoryOfTree(up.pid);
    onStep(`${rate} scans/s for ${seconds} s`);
    const busy = await cpuShare(up.pid, () => load(link, { connections: 16, seconds, rate }));
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
    const row = (what: string, share: number, target: number, goal: number) =>
      boundedRow(
        { what, figure: percent(share), against: 'one core', ratio: null, value: share * 100 },
        { target, goal, kind: 'max', unit: ' %' },
      );
    return [
      row('CPU of ./scanlog up, idle', idle, 2, 1),
      row(`CPU of ./scanlog up at ${rate} scans/s`, busy, 25, 10),
      boundedRow(
        {
          what: 'memory of ./scanlog up, idle',
          figure: `${Math.round(memory)} MB`,
          against: '–',
          ratio: null,
          value: memory,
        },
        { target: 600, goal: 400, kind: 'max', unit: ' MB' },
      ),
    ];
  } finally {
    up.kill();
    await up.exited;
    rmSync(data, { recursive: true, force: true });
  }
}

async function cpuShare(pid: number, work: () => Promise<unknown>): Promise<number> {
  const [cpuBefore, started] = [cpuSecondsOfTree(pid), performance.now()];
  await work();
  return (cpuSecondsOfTree(pid) - cpuBefore) / ((performance.now() - started) / 1000);
}

async function createCode(data: string, url: string): Promise<string> {
  const command = [
    join(import.meta.dir, '../scanlog'),
    'account',
    'create',
    '--name',
    'Bench',
    '--plan',
    'enterprise',
    '--data',
    data,
    '--json',
  ];
  const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'inherit'] });
  const { live_key: key } = JSON.parse(await new Response(child.stdout).text()) as { live_key: string };
  const response = await fetch(`${url}/v1/qrcodes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Bench', destination_url: 'https://example.com/menu' }),
  });
  const { short_code } = (await response.json()) as { short_code: string };
  return `${url}/${short_code}`;
}
