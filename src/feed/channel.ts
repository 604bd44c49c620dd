import type { Owner } from '../../events/owner.ts';
import type { Frame } from './frame.ts';

/** A reader of a channel. */
export interface Subscriber {
  /** Everything up to this position has been read. */
  position: number;
  /** The key whose revocation ends it. */
  key: string | null;
  /** The person whose removal from the account ends it. */
  user: string | undefined;
  /** The console session whose end ends it. */
  session: string | undefined;
  /** Wakes it, because there are new events, or because it is ended. */
  wake(): void;
  /** Why it was ended. */
  ended: string | undefined;
}

/**
 * The latest events of one account and mode, which all of its readers share. Events that every reader has read are removed;
 * a reader that falls behind the first event here reads the log.
 */
export class Channel {
  readonly owner: Owner;
  readonly subscribers = new Set<Subscriber>();
  readonly #frames: Frame[] = [];
  /** All events after this position are here; undefined until the tail has started. */
  #completeAfter: number | undefined;
  #bytes = 0;
  #end = 0;
  #lastChunk: { key: string; bytes: Uint8Array } | undefined;

  constructor(owner: Owner) {
    this.owner = owner;
  }

  /** About how much memory its events take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the tail has started: it ends subscribers from then on. */
  get hasBegun(): boolean {
    return this.#completeAfter !== undefined;
  }

  /** The tail has started after `position`. */
  begin(position: number): void {
    this.#completeAfter = position;
    this.#end = position;
  }

  /** Adds events; `to` is the position up to which they are complete. Does not wake subscribers. */
  add(frames: Frame[], to: number): void {
    this.#end = to;
    for (const frame of frames) {
      this.#frames.push(frame);
      this.#bytes += frame.bytes;
    }
  }

  /** Removes events that all subscribers have read. */
  trim(): void {
    if (this.#frames.length === 0 || this.#completeAfter === undefined) return;
    let readTo = Number.POSITIVE_INFINITY;
    for (const { position } of this.subscribers) readTo = Math.min(readTo, position);
    const kept = this.#indexAfter(readTo);
    if (kept === 0) return;
    this.#completeAfter = Math.max(this.#completeAfter, this.#frames[kept - 1]?.position ?? 0);
    this.#drop(kept);
  }

  /** Removes the oldest events, so that `maxBytes` are left. Readers that have not read them read the log. */
  keepBytes(maxBytes: number): void {
    let [count, left] = [0, this.#bytes];
    for (; left > maxBytes && count < this.#frames.length; count++) left -= this.#frames[count]?.bytes ?? 0;
    const last = this.#drop(count).at(-1);
    if (last !== undefined) this.#completeAfter = last.position;
  }

  /**
   * Events after `position`, at most `limit`, and no more than the first that reach `maxBytes`; undefined if they are not all
   * here.
   */
  after(
    position: number,
    limit: number,
    maxBytes: number,
  ): { frames: Frame[]; to: number; isAtEnd: boolean } | undefined {
    if (this.#completeAfter === undefined || position < this.#completeAfter) return undefined;
    const from = this.#indexAfter(position);
    let to = from;
    for (let bytes = 0; to < this.#frames.length && to - from < limit && bytes < maxBytes; to++)
      bytes += this.#frames[to]?.bytes ?? 0;
    const frames = this.#frames.slice(from, to);
    if (to < this.#frames.length) return { frames, to: frames.at(-1)?.position ?? position, isAtEnd: false };
    return { frames, to: Math.max(position, this.#end), isAtEnd: true };
  }

  #drop(count: number): Frame[] {
    const dropped = this.#frames.splice(0, count);
    for (const { bytes } of dropped) this.#bytes -= bytes;
    return dropped;
  }

  /** The chunk that `make` returns, made once for all readers that are at the same place. */
  sharedChunk(key: string, make: () => Uint8Array): Uint8Array {
    if (this.#lastChunk?.key !== key) this.#lastChunk = { key, bytes: make() };
    return this.#lastChunk.bytes;
  }

  /** The index of the first event after `position`. */
  #indexAfter(position: number): number {
    let low = 0;
    let high = this.#frames.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#frames[middle]?.position ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
