import { Worker } from 'node:worker_threads';

/** A worker thread that answers requests. */
export interface Thread<Q, A> {
  /** Rejects with a `RangeError` if the thread threw one, else with an `Error` of the same message. */
  ask(request: Q): Promise<A>;
  close(): Promise<void>;
}

type Answered<A> = { id: number } & ({ answer: A } | { error: { isRange: boolean; message: string } });

interface Running<A> {
  worker: Worker;
  /** Pending requests by id. */
  jobs: Map<number, { resolve(answer: A): void; reject(error: unknown): void }>;
}

interface ThreadOptions {
  /** Ends a thread without requests after this time, which frees its memory. By default it stays. */
  idleMs?: number;
}

/**
 * Starts the thread with the first request. If it fails or exits, its pending requests are rejected and the next request
 * starts a new one. The script calls `answerRequests` (thread-script.ts).
 *
 * @example
 * const thread = createThread<Picture, Uint8Array>(new URL('./draw-worker.ts', import.meta.url));
 * await thread.ask(picture);
 */
export function createThread<Q, A>(script: URL, { idleMs }: ThreadOptions = {}): Thread<Q, A> {
  let current: Running<A> | undefined;
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;

  function endWhenIdle(running: Running<A>): void {
    clearTimeout(idle);
    if (idleMs === undefined || running.jobs.size > 0) return;
    idle = setTimeout(() => {
      if (current === running) current = undefined;
      void running.worker.terminate();
    }, idleMs);
    idle.unref();
  }

  function start(): Running<A> {
    const worker = new Worker(script);
    const running: Running<A> = { worker, jobs: new Map() };
    // An idle thread must not keep the process alive.
    worker.unref();
    worker.on('message', (answered: Answered<A>) => {
      const job = running.jobs.get(answered.id);
      running.jobs.delete(answered.id);
      if ('answer' in answered) job?.resolve(answered.answer);
      else job?.reject(new (answered.error.isRange ? RangeError : Error)(answered.error.message));
      endWhenIdle(running);
    });
    const end = (error: Error) => {
      if (current === running) current = undefined;
      for (const { reject } of running.jobs.values()) reject(error);
      running.jobs.clear();
    };
    worker.on('error', end);
    // A thread can also exit without an error, for example when it runs out of memory.
    worker.on('exit', (code) => end(new Error(`the worker thread exited with code ${code}`)));
    return running;
  }

  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        clearTimeout(idle);
        current ??= start();
        const id = ++lastId;
        current.jobs.set(id, { resolve, reject });
        current.worker.postMessage({ id, request });
      }),
    async close() {
      clearTimeout(idle);
      await current?.worker.terminate();
    },
  };
}
