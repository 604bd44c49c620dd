/** The abort reason of a request that exceeded its timeout. */
export const timedOut = new Error('the request timed out');

/** Checks 100 times per timeout, so a request overruns by at most 1 %. */
const checksPerTimeout = 100;

/** Aborts requests after a timeout. They share one timer, because there are thousands of requests per second. */
export class RequestTimeouts {
  readonly #timeoutMs: number;
  /** In the order of their start, which is the order of their deadlines. */
  readonly #startTimes = new Map<AbortController, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  start(request: AbortController, now: number): void {
    this.#startTimes.set(request, now);
    this.#timer ??= setInterval(() => this.#check(), this.#timeoutMs / checksPerTimeout);
  }

  end(request: AbortController): void {
    this.#startTimes.delete(request);
  }

  #check(): void {
    const now = performance.now();
    for (const [request, startedAt] of this.#startTimes) {
      if (now - startedAt < this.#timeoutMs) break;
      this.#startTimes.delete(request);
      request.abort(timedOut);
    }
    if (this.#startTimes.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
