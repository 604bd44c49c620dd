import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from './bench-stack.ts';
import { cpuSecondsOfTree, memoryOfTree } from './process.ts';
import { type BenchRow, boundedRow } from './row.ts';
import { command, startUp, type Up } from './up.ts';

const rate = 200;
const seconds = 20;

/** What `./scanlog up` costs, with Postgres, NATS and ClickHouse: idle, and at a rate that few instances exceed. */
export async function benchCost({ onStep = (_: string) => {} } = {}): Promise<BenchRow[]> {
  const data = mkdtempSync(join(tmpdir(), 'scanlog-bench-'));
  let up: Up | undefined;
  try {
    up = await startUp(data);
    const { pid } = up;
    const link = await createCode(data, up.url);
    onStep('warm up');
    await load(link, { connections: 16, seconds: 5, rate });
    await Bun.sleep(10_000);
    onStep(`idle for ${seconds} s`);
    const idle = await cpuShare(pid, () => Bun.sleep(seconds * 1000));
    const memory = memoryOfTree(pid);
    onStep(`${rate} scans/s for ${seconds} s`);
    const busy = await cpuShare(pid, () => load(link, { connections: 16, seconds, rate }));
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
    const row = (what: string, share: number, target: number, goal: number) =>
      boundedRow(
        { what, figure: percent(share), against: 'one core', ratio: null, value: share * 100 },
        { target, goal, kind: 'max', unit: ' %' },
      );
    return [
      row('CPU of ./scanlog up, idle', idle, 2, 1),
      row(`CPU of ./scanlog up at ${rate} scans/s`, busy, 18, 10),
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
    await up?.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

async function cpuShare(pid: number, work: () => Promise<unknown>): Promise<number> {
  const [cpuBefore, started] = [cpuSecondsOfTree(pid), performance.now()];
  await work();
  return (cpuSecondsOfTree(pid) - cpuBefore) / ((performance.now() - started) / 1000);
}

async function createCode(data: string, url: string): Promise<string> {
  const args = ['account', 'create', '--name', 'Bench', '--plan', 'enterprise', '--data', data, '--json'];
  const child = Bun.spawn([command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { live_key: key } = JSON.parse(await new Response(child.stdout).text()) as { live_key: string };
  const response = await fetch(`${url}/v1/qrcodes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Bench', destination_url: 'https://example.com/menu' }),
  });
  const { short_code } = (await response.json()) as { short_code: string };
  return `${url}/${short_code}`;
}
