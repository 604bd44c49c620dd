import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { end, isAlive, markOf, until } from '../stack/processes.ts';

/** `./scanlog serve` as a process of its own, always on the same port. */
export interface ServiceProcess {
  port: number;
  logFile: string;
  /** Resolves when it answers; with `ready`, when it has reached Postgres and NATS too. */
  start(ready?: boolean): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** As an operator would. Resolves with its exit code when it has ended, or nothing where it had to be killed. */
  stop(): Promise<number | undefined>;
}

const program = fileURLToPath(new URL('../cli.ts', import.meta.url));
const startWithinMs = 60_000;

export function serviceProcess(
  port: number,
  environment: Record<string, string>,
  logFile: string,
  flags: string[] = [],
): ServiceProcess {
  let child: ChildProcess | undefined;
  const pid = () => {
    if (child?.pid === undefined) throw new Error(`no service runs on port ${port}`);
    return child.pid;
  };
  const answers = async (path: string): Promise<Response | undefined> =>
    fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(3_000) }).catch(() => undefined);

  async function isReady(): Promise<boolean> {
    const answer = await answers('/readyz');
    const { parts } = ((await answer?.json().catch(() => ({}))) ?? {}) as Record<
      string,
      Record<string, { status: string }>
    >;
    return parts?.['postgres']?.status === 'ok' && parts['nats']?.status === 'ok';
  }

  return {
    port,
    logFile,
    async start(ready = true) {
      const output = openSync(logFile, 'a', 0o600);
      const env = { ...process.env, ...environment, PORT: String(port), METRICS_PORT: '0' };
      const started = spawn(process.execPath, [program, 'serve', ...flags], { stdio: ['ignore', output, output], env });
      closeSync(output);
      child = started;
      const up = async () => (ready ? await isReady() : (await answers('/healthz'))?.ok === true);
      const ended = () => started.exitCode !== null || started.signalCode !== null;
      await until(async () => ended() || (await up()), startWithinMs);
      if (ended()) throw new Error(`the service on port ${port} ended: see ${logFile}`);
    },
    async kill() {
      const mark = markOf(pid());
      process.kill(mark.pid, 'SIGKILL');
      await until(() => !isAlive(mark), startWithinMs);
    },
    pause: () => void process.kill(pid(), 'SIGSTOP'),
    resume: () => void process.kill(pid(), 'SIGCONT'),
    async stop() {
      const ending = child;
      if (ending?.pid === undefined) return undefined;
      const mark = markOf(ending.pid);
      if (isAlive(mark)) await end(mark, 'SIGTERM', 20_000);
      await until(() => ending.exitCode !== null || ending.signalCode !== null, startWithinMs);
      return ending.exitCode ?? undefined;
    },
  };
}
