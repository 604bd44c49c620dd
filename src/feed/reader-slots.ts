import { Refusal, retryLater } from '../lib/errors.ts';

/** Open streams and waiting requests of all accounts at this process. */
const maxReaders = 1_000;

/** Counts open streams and waiting requests of an account, of both modes together. */
export class ReaderSlots {
  readonly #maxPerAccount: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(maxPerAccount: number) {
    this.#maxPerAccount = maxPerAccount;
  }

  /** Takes a slot, which the returned function frees. Throws if the account, or this process, has none left. */
  take(account: string): () => void {
    const taken = this.#taken.get(account) ?? 0;
    if (taken >= this.#maxPerAccount) {
      const message = `The account has ${taken} open event streams and waiting requests, which is the limit: close one, or ask the operator to raise MAX_EVENT_STREAMS.`;
      throw new Refusal('rate_limited', message, undefined, { 'retry-after': '10' });
    }
    if (this.#total >= maxReaders)
      throw retryLater('The service has too many open event streams and waiting requests: try again in 10 s.', 10);
    this.#taken.set(account, taken + 1);
    this.#total++;
    return () => this.#free(account);
  }

  #free(account: string): void {
    const left = (this.#taken.get(account) ?? 0) - 1;
    if (left > 0) this.#taken.set(account, left);
    else this.#taken.delete(account);
    this.#total--;
  }
}
