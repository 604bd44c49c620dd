/** As many callers wait for a permit as may wait. */
export class QueueFull extends Error {}

/** At most `permits` callers at a time; up to `maxWaiting` others wait, in the order in which they came. */
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
   * a signal that aborts before the permit is there.
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
    if (this.#waiting.length >= this.#maxWaiting) throw new QueueFull(`${this.#maxWaiting} callers wait already`);
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

  /** Hands the permit to the first caller that waits, so that a later one cannot overtake it. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
