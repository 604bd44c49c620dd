import { cancelled, EngineError } from './errors.ts';

/** Lets a bounded number of queries in at once and the others wait in the order they came. */
export class Admission {
  readonly #places: number;
  readonly #mostWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(places: number, mostWaiting: number) {
    this.#places = places;
    this.#mostWaiting = mostWaiting;
  }

  /** Resolves to what gives the place back. */
  async enter(gone: AbortSignal): Promise<() => void> {
    if (gone.aborted) throw cancelled();
    if (this.#inside < this.#places) this.#inside += 1;
    else await this.#wait(gone);
    return () => this.#leave();
  }

  #wait(gone: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.#mostWaiting) {
      throw new EngineError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many simultaneous queries');
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        gone.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(cancelled());
      };
      gone.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(enter);
    });
  }

  /** The place goes straight to the next one, so that nobody who comes now gets in before. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inside -= 1;
    else next();
  }
}
