/**
 * Items that wait for their turn. Lanes, such as the accounts that the items are for, take turns, however many items each of
 * them has; the items of one lane keep their order.
 *
 * @example
 * queue.push('acct_a', first);
 * queue.push('acct_a', second);
 * queue.push('acct_b', third);
 * queue.take(() => true); // first, then third, then second
 */
export class FairQueue<Item> {
  /** In the order of turns: the lane that was served last is the last one. */
  readonly #waiting = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  itemsOf(lane: string): readonly Item[] {
    return this.#waiting.get(lane) ?? [];
  }

  /** The items of the lane that has most of them. */
  get longest(): readonly Item[] {
    let longest: Item[] = [];
    for (const items of this.#waiting.values()) if (items.length > longest.length) longest = items;
    return longest;
  }

  push(lane: string, item: Item): void {
    const items = this.#waiting.get(lane);
    if (items === undefined) this.#waiting.set(lane, [item]);
    else items.push(item);
    this.#size++;
  }

  /** The first item of the first lane whose first item `mayRun`. */
  take(mayRun: (item: Item) => boolean): Item | undefined {
    for (const [lane, items] of this.#waiting) {
      const [item] = items as [Item];
      if (!mayRun(item)) continue;
      items.shift();
      this.#size--;
      this.#waiting.delete(lane);
      if (items.length > 0) this.#waiting.set(lane, items);
      return item;
    }
    return undefined;
  }

  /** Does nothing if the item does not wait any more. */
  remove(lane: string, item: Item): void {
    const items = this.#waiting.get(lane) ?? [];
    const at = items.indexOf(item);
    if (at < 0) return;
    items.splice(at, 1);
    this.#size--;
    if (items.length === 0) this.#waiting.delete(lane);
  }
}
