/** When the 302 of a scan is sent: once it is synced to the spool (`disk`), or committed by Postgres (`log`). */
export type Durability = 'disk' | 'log';

interface HeldResponse {
  /** The number of records that were ever in the spool, up to and including this one. */
  record: number;
  bytes: number;
  release(): void;
}

/**
 * Responses that wait for the drain. With `log`, each waits for the commit of its own scan. With `disk`, responses wait only
 * while the backlog is too large: one byte is admitted for every two that were committed, so the backlog shrinks.
 */
export class HeldResponses {
  readonly #durability: Durability;
  #held: HeldResponse[] = [];

  constructor(durability: Durability) {
    this.#durability = durability;
  }

  hold(response: Omit<HeldResponse, 'release'>): Promise<void> {
    return new Promise((release) => this.#held.push({ ...response, release }));
  }

  /** Records up to number `record` are committed, the last `bytes` of them just now. */
  committed(record: number, bytes: number): void {
    let budget = bytes / 2;
    const isHeld = (response: HeldResponse) => {
      if (this.#durability === 'log') return response.record > record;
      budget -= response.bytes;
      return budget < 0;
    };
    this.#release(this.#held.findIndex(isHeld));
  }

  releaseAll(): void {
    this.#release(-1);
  }

  /** Releases the responses before index `end`, or all if it is -1. */
  #release(end: number): void {
    for (const { release } of this.#held.splice(0, end < 0 ? this.#held.length : end)) release();
  }
}
