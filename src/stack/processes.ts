import { randomInt } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { createServer, type ListenOptions, type Server } from 'node:net';
import { isAlive, type ProcessMark, readMark } from '../lib/process-mark.ts';
import { timeouts } from '../lib/timeouts.ts';

export { isAlive, markOf, readMark, writeMark } from '../lib/process-mark.ts';

/** Polls until the condition holds; false if it does not within `timeoutMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  pauseMs = 25,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
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
  await until(() => !isAlive(mark), timeouts.partStopMs);
}

/** Stops a process that an earlier run left running because it was killed. */
export async function stopLeftover(pidFile: string, signal: NodeJS.Signals): Promise<void> {
  const mark = readMark(pidFile);
  if (mark !== undefined) await stopProcess(mark, signal, timeouts.partStopMs);
  rmSync(pidFile, { force: true });
}

/** None if the process has ended. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

const firstPort = 10_240;
const maxAttempts = 20;

/** The first of the ports that the system gives to outgoing connections, and to listeners that name no port. */
function firstEphemeralPort(): number {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);
  } catch {
    return 32_768;
  }
}

/**
 * A port on loopback that is free now, and that no other process of Scanlog takes while this one runs. Outgoing
 * connections do not take it either, so it is usually still free when a server listens on it, also after a restart.
 */
export async function freePort(): Promise<number> {
  const end = firstEphemeralPort();
  for (let attempt = 0; attempt < maxAttempts && end > firstPort; attempt++) {
    const port = randomInt(firstPort, end);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
  const server = await listenOn({ host: '127.0.0.1', port: 0 });
  const address = server.address();
  await closed(server);
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Whether a port of loopback is free. */
export const isFree = (port: number): Promise<boolean> =>
  listenOn({ host: '127.0.0.1', port }).then(closed, () => false);

/** Keeps other processes of Scanlog from choosing a port until this one ends; false if one of them has chosen it. */
const reserve = (port: number): Promise<boolean> =>
  // A name in the abstract namespace, which is not a file and vanishes with the process.
  listenOn({ path: `\0scanlog-port-${port}` }).then(
    (server) => {
      server.unref();
      return true;
    },
    () => false,
  );

const listenOn = (options: ListenOptions): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(options, () => resolve(server));
  });

const closed = (server: Server): Promise<true> => new Promise((resolve) => server.close(() => resolve(true)));
