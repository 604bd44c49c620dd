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
    const running = this.#running.get(key) ?? 0;
    if (running >= this.#max) throw this.#refusal();
    this.#running.set(key, running + 1);
    try {
      return await work();
    } finally {
      const left = (this.#running.get(key) as number) - 1;
      if (left === 0) this.#running.delete(key);
      else this.#running.set(key, left);
    }
  }
}
