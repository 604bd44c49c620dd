/** Thrown if `maxWaiting` callers are waiting for a permit already. */
export class QueueFull extends Error {}

/**
 * Admits at most `permits` callers at a time; up to `maxWaiting` others wait, first come, first served.
 *
 * @example
 * const pages = new Semaphore(2, 128);
 * const page = await pages.run(() => readPage(sql));
 */
export class Semaphore {
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(permits: number, maxWaiting = Number.POSITIVE_INFINITY) {
    this.#free = permits;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Resolves to the function that releases the permit, to be called once. Rejects with `QueueFull`, or with the reason of
   * `signal` if that aborts first.
   */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    return () => this.#release();
  }

  /** Runs `work` with a permit. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting)
      throw new QueueFull(`${this.#maxWaiting} callers are waiting already`);
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(enter);
    });
  }

  /** Passes the permit to the first waiting caller directly, so that a new caller cannot overtake it. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}

/**
 * A semaphore for each key, such as an account: callers with one key never wait for callers with another.
 *
 * @example
 * const reads = new SemaphorePerKey(3, 64);
 * const rows = await reads.run(account, () => query(), signal);
 */
export class SemaphorePerKey {
  readonly #permits: number;
  readonly #maxWaiting: number;
  /** Only of keys with callers. */
  readonly #inUse = new Map<string, { semaphore: Semaphore; callers: number }>();

  constructor(permits: number, maxWaiting: number) {
    this.#permits = permits;
    this.#maxWaiting = maxWaiting;
  }

  /** The callers with the key that run or wait. */
  callersOf(key: string): number {
    return this.#inUse.get(key)?.callers ?? 0;
  }

  /** Runs `work` with a permit of the key. Rejects like `Semaphore.acquire` if there is none. */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const used = this.#inUse.get(key) ?? { semaphore: new Semaphore(this.#permits, this.#maxWaiting), callers: 0 };
    this.#inUse.set(key, used);
    used.callers++;
    try {
      const release = await used.semaphore.acquire(signal);
      return await work().finally(release);
    } finally {
      if (--used.callers === 0) this.#inUse.delete(key);
    }
  }
}
