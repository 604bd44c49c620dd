import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { isAlive, type ProcessMark, readMark } from '../lib/process-mark.ts';

export { isAlive, markOf, readMark, writeMark } from '../lib/process-mark.ts';

export async function until(condition: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Asks a process to end, and makes it end when it does not within `graceMs`. */
export async function end(mark: ProcessMark, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  const send = (name: NodeJS.Signals) => {
    try {
      process.kill(mark.pid, name);
    } catch {
      // It ended by itself in the meantime.
    }
  };
  if (!isAlive(mark)) return;
  send(signal);
  if (await until(() => !isAlive(mark), graceMs)) return;
  send('SIGKILL');
  await until(() => !isAlive(mark), 5_000);
}

/** Ends what an earlier run, killed before it could clean up, has left behind. */
export async function endLeftover(pidFile: string, signal: NodeJS.Signals): Promise<void> {
  const mark = readMark(pidFile);
  if (mark !== undefined) await end(mark, signal, 10_000);
  rmSync(pidFile, { force: true });
}

/** A port on loopback that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
