/**
 * Admits at most `max` calls at a time for each key, and throws the error of `refusal` for more.
 *
 * @example
 * const clients = new LimitPerKey(64, () => retryLater('Too many requests at once.'));
 * await clients.run(address, () => answer(request));
 */
export class LimitPerKey {
  readonly #max: number;
  readonly #refusal: () => Error;
  readonly #running = new Map<string, number>();

  constructor(max: number, refusal: () => Error) {
    this.#max = max;
    this.#refusal = refusal;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const leave = this.admit(key);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Like `run`, for work that ends when the returned function is called. */
  admit(key: string): () => void {
    if ((this.#running.get(key) ?? 0) >= this.#max) throw this.#refusal();
    return this.enter(key);
  }

  /**
   * Counts a response from its first piece to its last, however many there are. If the client is gone before the first one, none of
   * it runs, so the count cannot begin with the request.
   */
  async *counted<T>(key: string, pieces: AsyncGenerator<T>): AsyncGenerator<T> {
    const leave = this.enter(key);
    try {
      yield* pieces;
    } finally {
      leave();
    }
  }

  /** Counts work that was admitted elsewhere until the returned function is called, however many there are. */
  enter(key: string): () => void {
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
    return () => {
      const left = (this.#running.get(key) as number) - 1;
      if (left === 0) this.#running.delete(key);
      else this.#running.set(key, left);
    };
  }
}
