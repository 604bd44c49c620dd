import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';
import { systemTimers, type Timers } from '../lib/timers.ts';
import type { JobMessage, JobResponse, Pace } from './jobs.ts';

/** A job took longer than its deadline; its process was killed. */
export class JobTimeout extends Error {}

/** The process ended during a job, for example because it reached its memory limit. */
export class ProcessLost extends Error {}

/**
 * The largest images take 300 MB. Watched by this process: with a limit of the kernel on memory (`ulimit -d`), JavaScript
 * and WebAssembly are not compiled, and take six times as long.
 */
const maxResidentKib = 500 * 1024;
const watchMs = 50;

const defaultScript = fileURLToPath(new URL('./main.ts', import.meta.url));

interface Pending {
  resolve(response: JobResponse): void;
  reject(error: Error): void;
}

/**
 * A child process that does one job at a time. It has no settings of the service, thus no secrets, and can be killed at any
 * moment: its jobs have no side effects.
 */
export class RenderProcess {
  readonly pace: Pace;
  readonly #child: Subprocess;
  readonly #timers: Timers;
  #pending: Pending | undefined;
  #hasEnded = false;

  constructor(
    pace: Pace,
    { script = defaultScript, timers = systemTimers }: { script?: string; timers?: Timers } = {},
  ) {
    this.pace = pace;
    this.#timers = timers;
    this.#child = Bun.spawn([process.execPath, script, pace], {
      // Returns what is freed to the system at once.
      env: { MIMALLOC_PURGE_DELAY: '0' },
      // In its own session, so that its CPU is not taken from the share of redirects: src/lib/lower-priority.ts.
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: (response: JobResponse) => this.#settle(response),
      onExit: (_, code, signal) => this.#end(new ProcessLost(`the render process ended (${signal ?? code})`)),
    });
    this.#child.unref();
  }

  get pid(): number {
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Rejects with `JobTimeout` or `ProcessLost`. */
  run(message: JobMessage, timeoutMs: number): Promise<JobResponse> {
    return new Promise((resolve, reject) => {
      const deadline = this.#timers.after(timeoutMs, () =>
        this.#abandon(new JobTimeout(`the job took longer than ${timeoutMs} ms`)),
      );
      const stopWatching = this.#watchMemory();
      const ended = () => {
        deadline();
        stopWatching();
      };
      this.#pending = {
        resolve: (response) => {
          ended();
          resolve(response);
        },
        reject: (error) => {
          ended();
          reject(error);
        },
      };
      // While a job runs, the process that waits for it must not exit.
      this.#child.ref();
      try {
        this.#child.send(message);
      } catch {
        this.#end(new ProcessLost('the render process has ended'));
      }
    });
  }

  /** Ends the process when it takes too much memory; returns what stops watching. */
  #watchMemory(): () => void {
    let cancel = () => {};
    const check = () => {
      if (residentKib(this.pid) > maxResidentKib)
        this.#abandon(new ProcessLost(`the job took more than ${maxResidentKib / 1024} MiB of memory`));
      else cancel = this.#timers.after(watchMs, check);
    };
    cancel = this.#timers.after(watchMs, check);
    return () => cancel();
  }

  #abandon(error: Error): void {
    this.#end(error);
    this.kill();
  }

  kill(): void {
    this.#hasEnded = true;
    this.#child.kill('SIGKILL');
  }

  #settle(response: JobResponse): void {
    const pending = this.#pending;
    this.#pending = undefined;
    this.#child.unref();
    pending?.resolve(response);
  }

  #end(error: Error): void {
    this.#hasEnded = true;
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(error);
  }
}

/** Memory of a process; 0 where it cannot be read, or if the process has ended. */
function residentKib(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
