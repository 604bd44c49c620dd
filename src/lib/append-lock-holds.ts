const windowMs = 60_000;

/** The largest of the values observed in the last one to two windows of 60 s, so that any scraper sees each value. */
export class RecentMaximum {
  readonly #nowMs: () => number;
  #window = 0;
  #current = 0;
  #previous = 0;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  observe(value: number): void {
    this.#advance();
    this.#current = Math.max(this.#current, value);
  }

  get value(): number {
    this.#advance();
    return Math.max(this.#current, this.#previous);
  }

  #advance(): void {
    const window = Math.floor(this.#nowMs() / windowMs);
    if (window === this.#window) return;
    this.#previous = window === this.#window + 1 ? this.#current : 0;
    this.#current = 0;
    this.#window = window;
  }
}

/** For how many seconds appends of this process have held the append lock. */
export const appendLockHolds = new RecentMaximum();
