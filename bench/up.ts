import { join } from 'node:path';
import { freePort } from '../src/stack/processes.ts';
import { untilReady } from './bench-stack.ts';

export const command = join(import.meta.dir, '../scanlog');

export interface Up {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts `./scanlog up` on a data directory; resolves once `/readyz` answers 200. */
export async function startUp(data: string): Promise<Up> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = Bun.spawn([command, 'up', '--data', data, '--port', String(port), '--log-level', 'error'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, METRICS_PORT: '0' },
  });
  const stop = async () => {
    child.kill();
    await child.exited;
  };
  await untilReady(`${url}/readyz`).catch(async (error) => {
    await stop();
    throw error;
  });
  return { url, pid: child.pid, stop };
}
