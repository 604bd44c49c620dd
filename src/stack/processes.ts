import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { isAlive, type ProcessMark, readMark } from '../lib/process-mark.ts';

export { isAlive, markOf, readMark, writeMark } from '../lib/process-mark.ts';

/** Polls until the condition holds; false if it does not within `timeoutMs`. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Sends a signal to a process, and SIGKILL if it has not exited within `graceMs`. */
export async function stopProcess(mark: ProcessMark, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  const send = (name: NodeJS.Signals) => {
    try {
      process.kill(mark.pid, name);
    } catch {
      // It has exited in the meantime.
    }
  };
  if (!isAlive(mark)) return;
  send(signal);
  if (await until(() => !isAlive(mark), graceMs)) return;
  send('SIGKILL');
  await until(() => !isAlive(mark), 5_000);
}

/** Stops a process that an earlier run left running because it was killed. */
export async function stopLeftover(pidFile: string, signal: NodeJS.Signals): Promise<void> {
  const mark = readMark(pidFile);
  if (mark !== undefined) await stopProcess(mark, signal, 10_000);
  rmSync(pidFile, { force: true });
}

/** A port on loopback that is free now. */
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
