import { systemTimers, type Timers } from '../lib/timers.ts';

/** The abort reason of a request that exceeded its timeout. */
export const timedOut = new Error('the request timed out');

/** Checks 100 times per timeout, so a request overruns by at most 1 %. */
const checksPerTimeout = 100;

/** Aborts requests after a timeout. They share one timer, because there are thousands of requests per second. */
export class RequestTimeouts {
  readonly #timeoutMs: number;
  readonly #timers: Timers;
  /** In the order of their start, which is the order of their deadlines. */
  readonly #startTimes = new Map<AbortController, number>();
  #isChecking = false;

  constructor(timeoutMs: number, timers: Timers = systemTimers) {
    this.#timeoutMs = timeoutMs;
    this.#timers = timers;
  }

  start(request: AbortController): void {
    this.#startTimes.set(request, this.#timers.now());
    if (!this.#isChecking) this.#checkLater();
  }

  end(request: AbortController): void {
    this.#startTimes.delete(request);
  }

  #checkLater(): void {
    this.#isChecking = true;
    this.#timers.after(this.#timeoutMs / checksPerTimeout, () => this.#check());
  }

  #check(): void {
    const now = this.#timers.now();
    for (const [request, startedAt] of this.#startTimes) {
      if (now - startedAt < this.#timeoutMs) break;
      this.#startTimes.delete(request);
      request.abort(timedOut);
    }
    if (this.#startTimes.size > 0) this.#checkLater();
    else this.#isChecking = false;
  }
}
