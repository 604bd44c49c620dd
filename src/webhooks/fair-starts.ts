/** What sends requests for an account. */
export interface Sender {
  readonly account: string;
  /** Starts its next request, if it can; returns whether it can start another one now. */
  startNext(): boolean;
}

const maxPerTurn = 8;

/**
 * Starts the requests of all senders, one of each account in turn, and of each sender of an account in turn. In a turn of the event loop
 * only as many as take a few milliseconds: an account with many webhooks would delay the requests and the statements of all others.
 *
 * @example
 * const starts = new FairStarts();
 * starts.add(session); // calls session.startNext() until it returns false
 */
export class FairStarts {
  readonly #schedule: (turn: () => void) => void;
  /** Senders that can start, by account, the next account first. */
  readonly #waiting = new Map<string, Set<Sender>>();
  #isScheduled = false;

  constructor(schedule: (turn: () => void) => void = setImmediate) {
    this.#schedule = schedule;
  }

  /** Starts the requests of a sender when it is its turn. Does nothing if it waits already. */
  add(sender: Sender): void {
    const others = this.#waiting.get(sender.account);
    if (others === undefined) this.#waiting.set(sender.account, new Set([sender]));
    else others.add(sender);
    this.#scheduleTurn();
  }

  #scheduleTurn(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    this.#schedule(() => {
      for (let n = 0; n < maxPerTurn && this.#waiting.size > 0; n++) this.#startNext();
      this.#isScheduled = false;
      this.#scheduleTurn();
    });
  }

  #startNext(): void {
    const [next] = this.#waiting;
    const [sender] = next?.[1] ?? [];
    if (next === undefined || sender === undefined) return;
    const [account, senders] = next;
    const hasMore = sender.startNext();
    // Both go to the end.
    senders.delete(sender);
    if (hasMore) senders.add(sender);
    this.#waiting.delete(account);
    if (senders.size > 0) this.#waiting.set(account, senders);
  }
}
