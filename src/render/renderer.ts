import { QueueFull } from '../lib/semaphore.ts';
import { timeouts } from '../lib/timeouts.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { ExpensiveAccounts } from './expensive-accounts.ts';
import { FairQueue } from './fair-queue.ts';
import type { Job, JobKind, JobMessage, JobResult, Pace } from './jobs.ts';
import { JobTimeout, ProcessLost, RenderProcess } from './render-process.ts';

export { JobTimeout, ProcessLost } from './render-process.ts';

/** Whom a job is for. */
export interface RenderedFor {
  account: string;
  /** Whether strangers look at it. Such jobs of an account take turns with its others, and run in place of them. */
  isPublic?: boolean;
  /** A job that waits is dropped when it aborts. */
  signal?: AbortSignal | undefined;
}

/**
 * An account has one job at a time, public images included, and accounts whose jobs are expensive have one together: they never
 * stop the jobs of others.
 */
const maxProcesses = 2;
/** Frees about 100 MB each. */
const idleMs = 60_000;
const maxWaiting = 512;

/**
 * Jobs that one account may have waiting, and as many public ones, and the deadline of each. A waiting logo takes up to 1 MiB,
 * the others little.
 */
const kinds: Record<JobKind, { maxWaiting: number; deadlineMs(): number }> = {
  image: { maxWaiting: 128, deadlineMs: () => timeouts.imageMs },
  logo: { maxWaiting: 8, deadlineMs: () => timeouts.logoMs },
  proof: { maxWaiting: 32, deadlineMs: () => timeouts.proofJobMs },
  page: { maxWaiting: 16, deadlineMs: () => timeouts.sheetPageMs },
  report: { maxWaiting: 8, deadlineMs: () => timeouts.sheetPageMs },
};

/** Nothing waits for the job any more. */
export class JobDropped extends Error {}

/** Whether a job can be tried again: it got no turn, or its process did not finish it. */
export const isUnfinished = (error: unknown): boolean =>
  error instanceof QueueFull || error instanceof JobTimeout || error instanceof ProcessLost;

interface Waiting {
  kind: JobKind;
  load(): unknown;
  account: string;
  /** The account, or its public jobs. */
  lane: string;
  /** When nothing waits for the result any more. */
  until: number;
  /** Ends the wait for a turn. */
  begin(): void;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

interface RendererOptions {
  start?(pace: Pace): RenderProcess;
  timers?: Timers;
}

/**
 * Decodes, draws, proofs and lays out what tenants upload and design, in processes of its own: a job that takes too long or
 * too much memory ends its process, and the next job starts another one. The first jobs start the processes, which end after
 * a minute without a job.
 */
export class Renderer {
  readonly #start: (pace: Pace) => RenderProcess;
  readonly #timers: Timers;
  readonly #queue = new FairQueue<Waiting>();
  /** With the account whose job it did last, and the function that cancels its end. */
  readonly #idle = new Map<RenderProcess, { lastAccount: string; keep(): void }>();
  readonly #busy = new Set<RenderProcess>();
  /** Accounts with a running job. */
  readonly #served = new Map<string, Pace>();
  readonly #expensive: ExpensiveAccounts;

  constructor({ timers = systemTimers, start = (pace) => new RenderProcess(pace, { timers }) }: RendererOptions = {}) {
    this.#timers = timers;
    this.#start = start;
    this.#expensive = new ExpensiveAccounts(timers);
  }

  /**
   * Does a job, which is loaded when its turn comes. Rejects with a `RangeError` if the job itself is at fault, with `QueueFull`, `JobTimeout` or `ProcessLost` if it can be
   * tried again, and with `JobDropped` if the signal aborts before its turn.
   */
  run<Kind extends JobKind>(
    kind: Kind,
    load: () => Job<Kind> | Promise<Job<Kind>>,
    { account, isPublic = false, signal }: RenderedFor,
  ): Promise<JobResult<Kind>> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) throw new JobDropped('the request was closed');
      const lane = isPublic ? `${account} public` : account;
      this.#makeRoom(lane, kind);
      const drop = () => {
        this.#queue.remove(lane, waiting);
        reject(new JobDropped('the request was closed'));
      };
      const waiting: Waiting = {
        kind,
        load,
        account,
        lane,
        until: this.#timers.now() + timeouts.apiMs,
        begin: () => signal?.removeEventListener('abort', drop),
        resolve: resolve as (result: unknown) => void,
        reject,
      };
      this.#queue.push(lane, waiting);
      signal?.addEventListener('abort', drop, { once: true });
      this.#startNext();
    });
  }

  /** Throws if too many jobs of the lane wait. If too many of all do, the lane with most of them loses its last one. */
  #makeRoom(lane: string, kind: JobKind): void {
    const waiting = this.#queue.itemsOf(lane);
    const ofKind = waiting.filter((other) => other.kind === kind).length;
    if (ofKind >= kinds[kind].maxWaiting) throw new QueueFull(`${ofKind} jobs of the account are waiting already`);
    if (this.#queue.size < maxWaiting) return;
    const { longest } = this.#queue;
    const last = longest.at(-1);
    if (last === undefined || waiting.length + 1 >= longest.length)
      throw new QueueFull(`${this.#queue.size} jobs are waiting already`);
    this.#queue.remove(last.lane, last);
    last.begin();
    last.reject(new QueueFull('jobs of accounts with fewer of them go first'));
  }

  /** Ends the processes; running jobs are rejected. */
  close(): void {
    for (const process of [...this.#idle.keys(), ...this.#busy]) this.#end(process);
  }

  #end(process: RenderProcess): void {
    this.#idle.get(process)?.keep();
    this.#idle.delete(process);
    process.kill();
  }

  #startNext(): void {
    while (this.#served.size < maxProcesses) {
      const next = this.#queue.take(({ account }) => this.#mayRun(account));
      if (next === undefined) return;
      next.begin();
      if (next.until < this.#timers.now()) next.reject(new QueueFull('the job waited too long'));
      else void this.#serve(next);
    }
  }

  #paceOf(account: string): Pace {
    return this.#expensive.has(account) ? 'slow' : 'quick';
  }

  #mayRun(account: string): boolean {
    if (this.#served.has(account)) return false;
    return this.#paceOf(account) === 'quick' || ![...this.#served.values()].includes('slow');
  }

  async #serve({ kind, load, account, resolve, reject }: Waiting): Promise<void> {
    const pace = this.#paceOf(account);
    this.#served.set(account, pace);
    try {
      const message = { kind, job: await load() } as JobMessage;
      resolve(await this.#runOn(this.#processFor(account, pace), account, message));
    } catch (error) {
      reject(error);
    }
    this.#served.delete(account);
    this.#startNext();
  }

  async #runOn(process: RenderProcess, account: string, message: JobMessage): Promise<unknown> {
    const deadlineMs = kinds[message.kind].deadlineMs();
    this.#busy.add(process);
    // What a job takes that never ends.
    let cpuMs = deadlineMs;
    try {
      const response = await process.run(message, deadlineMs);
      cpuMs = response.cpuMs;
      if ('result' in response) return response.result;
      throw new (response.error.isRange ? RangeError : Error)(response.error.message);
    } finally {
      this.#expensive.add(account, cpuMs);
      this.#busy.delete(process);
      if (!process.hasEnded) this.#endWhenIdle(process, account);
    }
  }

  #processFor(account: string, pace: Pace): RenderProcess {
    const idle = [...this.#idle].filter(([process]) => !process.hasEnded);
    const suitable = idle.filter(([process]) => process.pace === pace);
    // The one that the account had last, if it is idle: what a job leaves in memory is freed before the next one.
    const taken = suitable.find(([, { lastAccount }]) => lastAccount === account) ?? suitable[0];
    if (taken === undefined) {
      if (idle[0] !== undefined && idle.length + this.#busy.size >= maxProcesses) this.#end(idle[0][0]);
      return this.#start(pace);
    }
    const [process, { keep }] = taken;
    keep();
    this.#idle.delete(process);
    return process;
  }

  #endWhenIdle(process: RenderProcess, lastAccount: string): void {
    const keep = this.#timers.after(idleMs, () => this.#end(process));
    this.#idle.set(process, { lastAccount, keep });
  }
}
