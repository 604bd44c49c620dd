import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';
import { systemTimers, type Timers } from '../lib/timers.ts';
import type { JobAnswer, JobMessage } from './jobs.ts';

/** A job took longer than its deadline; its process was killed. */
export class JobTimeout extends Error {}

/** The process ended during a job, for example because it reached its memory limit. */
export class ProcessLost extends Error {}

/**
 * Heap, stacks and WebAssembly memory together, enforced by the kernel. Bun reserves about 460 MB of it at the start; the
 * largest pictures take 300 MB. An allocation beyond fails, which ends the job or the process.
 */
const maxDataKib = 1_000_000;

const defaultScript = fileURLToPath(new URL('./main.ts', import.meta.url));

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/**
 * A child process that does one job at a time. It has no settings of the service, thus no secrets, and can be killed at any
 * moment: its jobs have no side effects.
 */
export class RenderProcess {
  readonly #child: Subprocess;
  readonly #timers: Timers;
  #pending: Pending | undefined;
  #hasEnded = false;

  constructor({ script = defaultScript, timers = systemTimers }: { script?: string; timers?: Timers } = {}) {
    this.#timers = timers;
    this.#child = Bun.spawn(['sh', '-c', `ulimit -d ${maxDataKib}; exec "$0" "$1"`, process.execPath, script], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: (answer: JobAnswer) => this.#settle(answer),
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

  /** Rejects with a `RangeError` if the job itself is at fault, with `JobTimeout`, or with `ProcessLost`. */
  run(message: JobMessage, timeoutMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const cancel = this.#timers.after(timeoutMs, () => {
        this.#end(new JobTimeout(`the job took longer than ${timeoutMs} ms`));
        this.kill();
      });
      this.#pending = {
        resolve: (result) => {
          cancel();
          resolve(result);
        },
        reject: (error) => {
          cancel();
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

  kill(): void {
    this.#hasEnded = true;
    this.#child.kill('SIGKILL');
  }

  #settle(answer: JobAnswer): void {
    const pending = this.#pending;
    this.#pending = undefined;
    this.#child.unref();
    if ('result' in answer) pending?.resolve(answer.result);
    else pending?.reject(new (answer.error.isRange ? RangeError : Error)(answer.error.message));
  }

  #end(error: Error): void {
    this.#hasEnded = true;
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(error);
  }
}
