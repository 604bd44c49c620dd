import { parentPort, type Transferable, Worker } from 'node:worker_threads';

/** A thread that does one kind of work, apart from the event loop of the service. */
export interface WorkerThread<Job, Result> {
  /**
   * Rejects with a `RangeError` if the job itself is at fault. A job that takes longer than `timeoutMs` ends the thread, and
   * with it all pending jobs.
   */
  run(job: Job, timeoutMs?: number): Promise<Result>;
  close(): Promise<void>;
}

type Done<Result> = { id: number } & ({ result: Result } | { error: { isRange: boolean; message: string } });

interface Thread<Result> {
  worker: Worker;
  /** Pending jobs by id. */
  jobs: Map<number, { resolve(result: Result): void; reject(error: unknown): void }>;
}

/** A job took longer than its timeout. */
export class JobTimeout extends Error {}

/**
 * Starts the thread with the first job. If the thread fails or exits, its pending jobs are rejected, and the next job
 * starts a new thread. With `idleMs`, a thread without jobs ends after that time, which frees its memory. The script calls
 * `serveJobs`.
 */
export function createWorkerThread<Job, Result>(
  script: URL,
  { idleMs }: { idleMs?: number } = {},
): WorkerThread<Job, Result> {
  let current: Thread<Result> | undefined;
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;

  function endWhenIdle(thread: Thread<Result>) {
    if (idleMs === undefined || thread.jobs.size > 0) return;
    idle = setTimeout(() => {
      if (current === thread) current = undefined;
      thread.worker.terminate();
    }, idleMs);
    idle.unref();
  }

  function start(): Thread<Result> {
    const worker = new Worker(script);
    const thread: Thread<Result> = { worker, jobs: new Map() };
    // An idle thread must not keep the process alive.
    worker.unref();
    worker.on('message', (done: Done<Result>) => {
      const job = thread.jobs.get(done.id);
      thread.jobs.delete(done.id);
      if ('result' in done) job?.resolve(done.result);
      else job?.reject(new (done.error.isRange ? RangeError : Error)(done.error.message));
      endWhenIdle(thread);
    });
    worker.on('error', (error: Error) => end(thread, error));
    // A thread can also exit without an error, for example when it runs out of memory.
    worker.on('exit', (code) => end(thread, new Error(`the worker thread exited with code ${code}`)));
    return thread;
  }

  function end(thread: Thread<Result>, error: Error) {
    if (current === thread) current = undefined;
    for (const { reject } of thread.jobs.values()) reject(error);
    thread.jobs.clear();
  }

  function send(job: Job): Promise<Result> {
    return new Promise((resolve, reject) => {
      clearTimeout(idle);
      current ??= start();
      const id = ++lastId;
      current.jobs.set(id, { resolve, reject });
      current.worker.postMessage({ id, job });
    });
  }

  return {
    async run(job, timeoutMs) {
      if (timeoutMs === undefined) return send(job);
      const done = send(job);
      const thread = current;
      const timer = setTimeout(() => {
        if (thread === undefined) return;
        end(thread, new JobTimeout(`a job took longer than ${timeoutMs} ms`));
        thread.worker.terminate();
      }, timeoutMs);
      return done.finally(() => clearTimeout(timer));
    },
    async close() {
      clearTimeout(idle);
      await current?.worker.terminate();
    },
  };
}

/** Answers the jobs of `createWorkerThread`, in the script of the thread. */
export function serveJobs<Job, Result>(
  work: (job: Job) => Promise<Result>,
  transferOf: (result: Result) => Transferable[] = () => [],
): void {
  parentPort?.on('message', async ({ id, job }: { id: number; job: Job }) => {
    try {
      const result = await work(job);
      parentPort?.postMessage({ id, result }, transferOf(result));
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      const isRange = name === 'RangeError' || error instanceof RangeError;
      parentPort?.postMessage({ id, error: { isRange, message } });
    }
  });
}
