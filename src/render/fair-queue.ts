/**
 * Items that wait for their turn. Accounts take turns, however many items each of them has; the items of one account keep
 * their order.
 *
 * @example
 * queue.push('acct_a', first);
 * queue.push('acct_a', second);
 * queue.push('acct_b', third);
 * queue.take(() => true); // first, then third, then second
 */
export class FairQueue<Item> {
  /** In the order of turns: the account that was served last is the last one. */
  readonly #waiting = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  itemsOf(account: string): readonly Item[] {
    return this.#waiting.get(account) ?? [];
  }

  push(account: string, item: Item): void {
    const items = this.#waiting.get(account);
    if (items === undefined) this.#waiting.set(account, [item]);
    else items.push(item);
    this.#size++;
  }

  /** The next item of the first account that `mayRun`. */
  take(mayRun: (account: string) => boolean): Item | undefined {
    for (const [account, items] of this.#waiting) {
      if (!mayRun(account)) continue;
      const item = items.shift() as Item;
      this.#size--;
      this.#waiting.delete(account);
      if (items.length > 0) this.#waiting.set(account, items);
      return item;
    }
    return undefined;
  }

  /** Does nothing if the item does not wait any more. */
  remove(account: string, item: Item): void {
    const items = this.#waiting.get(account) ?? [];
    const at = items.indexOf(item);
    if (at < 0) return;
    items.splice(at, 1);
    this.#size--;
    if (items.length === 0) this.#waiting.delete(account);
  }
}
