import { systemTimers, type Timers } from './timers.ts';

/**
 * Runs steps of long work, and before each one waits as long as the step before has taken: half of the time is left to others.
 *
 * @example
 * const steps = new EvenSteps();
 * for (const codes of chunks) await steps.run(() => store(codes));
 */
export class EvenSteps {
  readonly #timers: Timers;
  #pauseMs = 0;

  constructor(timers: Timers = systemTimers) {
    this.#timers = timers;
  }

  async run<T>(step: () => Promise<T>): Promise<T> {
    if (this.#pauseMs > 0) await this.#timers.sleep(this.#pauseMs);
    const startedAt = this.#timers.now();
    try {
      return await step();
    } finally {
      this.#pauseMs = this.#timers.now() - startedAt;
    }
  }
}
