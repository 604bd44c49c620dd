import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { environmentWith } from '../../src/lib/secret-file.ts';
import { isAlive, markOf, stopProcess, until } from '../../src/stack/processes.ts';

/** `./scanlog serve` as a child process that keeps its port across restarts. */
export interface ServiceProcess {
  port: number;
  logFile: string;
  /** Throws before the first start. */
  pid(): number;
  /** Resolves when `/healthz` answers or, if `ready`, when `/readyz` reports Postgres and NATS as ok. */
  start(ready?: boolean): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** SIGTERM, then SIGKILL after 20 s. Resolves with the exit code, or undefined if it was killed. */
  stop(): Promise<number | undefined>;
}

const program = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const startTimeoutMs = 60_000;
const stopTimeoutMs = 20_000;

export function serviceProcess(
  port: number,
  environment: Record<string, string>,
  logFile: string,
  flags: string[] = [],
): ServiceProcess {
  let child: ChildProcess | undefined;
  const pid = () => {
    if (child?.pid === undefined) throw new Error(`no service is running on port ${port}`);
    return child.pid;
  };
  const request = async (path: string): Promise<Response | undefined> =>
    fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(3_000) }).catch(() => undefined);

  async function isReady(): Promise<boolean> {
    const response = await request('/readyz');
    const { parts } = ((await response?.json().catch(() => ({}))) ?? {}) as Record<
      string,
      Record<string, { status: string }>
    >;
    return parts?.['postgres']?.status === 'ok' && parts['nats']?.status === 'ok';
  }

  return {
    port,
    logFile,
    pid,
    async start(ready = true) {
      const output = openSync(logFile, 'a', 0o600);
      const env = environmentWith(process.env, { ...environment, PORT: String(port), METRICS_PORT: '0' });
      const started = spawn(process.execPath, [program, 'serve', ...flags], { stdio: ['ignore', output, output], env });
      closeSync(output);
      child = started;
      const up = async () => (ready ? await isReady() : (await request('/healthz'))?.ok === true);
      const ended = () => started.exitCode !== null || started.signalCode !== null;
      await until(async () => ended() || (await up()), startTimeoutMs);
      if (ended()) throw new Error(`the service on port ${port} exited while starting; its log is ${logFile}`);
    },
    async kill() {
      const mark = markOf(pid());
      process.kill(mark.pid, 'SIGKILL');
      await until(() => !isAlive(mark), startTimeoutMs);
    },
    pause: () => void process.kill(pid(), 'SIGSTOP'),
    resume: () => void process.kill(pid(), 'SIGCONT'),
    async stop() {
      const ending = child;
      if (ending?.pid === undefined) return undefined;
      const mark = markOf(ending.pid);
      if (isAlive(mark)) await stopProcess(mark, 'SIGTERM', stopTimeoutMs);
      await until(() => ending.exitCode !== null || ending.signalCode !== null, startTimeoutMs);
      return ending.exitCode ?? undefined;
    },
  };
}
