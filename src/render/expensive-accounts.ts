import { lru } from '../lib/lru.ts';
import type { Timers } from '../lib/timers.ts';

/** What the image of a code or a page of labels takes, with some reserve. */
const usualMs = 25;
const expensiveMs = 500;
const halfLifeMs = 30_000;
const maxAccounts = 1_024;

/**
 * Accounts whose jobs took more CPU than usual ones, lately. CPU, because time would also count waits for a busy machine; beyond
 * the usual, because many small images are no reason to wait.
 */
export class ExpensiveAccounts {
  readonly #timers: Pick<Timers, 'now'>;
  readonly #excess = lru<string, { ms: number; at: number }>(maxAccounts);

  constructor(timers: Pick<Timers, 'now'>) {
    this.#timers = timers;
  }

  add(account: string, cpuMs: number): void {
    const excess = this.#excessOf(account) + Math.max(0, cpuMs - usualMs);
    if (excess > 0) this.#excess.set(account, { ms: excess, at: this.#timers.now() });
  }

  has(account: string): boolean {
    return this.#excessOf(account) > expensiveMs;
  }

  #excessOf(account: string): number {
    const known = this.#excess.get(account);
    return known === undefined ? 0 : known.ms * 0.5 ** ((this.#timers.now() - known.at) / halfLifeMs);
  }
}
