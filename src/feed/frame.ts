import type { LogEntry } from '../../events/entry.ts';
import type { Owner } from '../../events/owner.ts';
import { type PublicEvent, publicEventOf } from '../../events/public-event.ts';
import { mapInTurns } from '../lib/map-in-turns.ts';
import type { Cursors } from './cursor.ts';

/** Of a scan, with its texts. */
const frameBytes = 1_000;
/** They take about a quarter of a millisecond, and a redirect takes some turns. */
const eventsPerTurn = 50;

/** An event of the feed, with its texts, which all readers of an account share. */
export class Frame {
  readonly position: number;
  readonly event: PublicEvent;
  readonly #owner: Owner;
  readonly #cursors: Cursors;
  #json: string | undefined;
  #sse: string | undefined;

  constructor(position: number, event: PublicEvent, owner: Owner, cursors: Cursors) {
    this.position = position;
    this.event = event;
    this.#owner = owner;
    this.#cursors = cursors;
  }

  /** About how much memory it takes with its texts. The texts of a scan are short; the texts of a change of rules take 130 kB. */
  get bytes(): number {
    return frameBytes + (this.event.type === 'scan.created' ? 0 : 3 * this.json.length);
  }

  /** The event as JSON. */
  get json(): string {
    this.#json ??= JSON.stringify(presentEvent(this.event));
    return this.#json;
  }

  /** The event as a message of a `text/event-stream`. */
  get sse(): string {
    this.#sse ??= `id: ${this.#cursors.seal(this.#owner, this.position)}\ndata: ${this.json}\n\n`;
    return this.#sse;
  }
}

/** The event as the API returns it. */
export const presentEvent = ({ id, type, timestamp, actor, qr_id, data }: PublicEvent) => ({
  id,
  type,
  timestamp: timestamp.toISOString(),
  actor,
  ...(qr_id === undefined ? {} : { qr_id }),
  data,
});

/** Undefined for an entry that owners do not see. */
export function frameOf(entry: LogEntry, owner: Owner, cursors: Cursors): Frame | undefined {
  const event = publicEventOf(entry);
  return event === undefined ? undefined : new Frame(entry.position, event, owner, cursors);
}

/** The frames of the entries that owners see. */
export async function framesOf(entries: readonly LogEntry[], owner: Owner, cursors: Cursors): Promise<Frame[]> {
  const frames = await mapInTurns(entries, eventsPerTurn, (entry) => frameOf(entry, owner, cursors));
  return frames.filter((frame) => frame !== undefined);
}

/** Each event as JSON. */
export const textsOf = (frames: readonly Frame[]): Promise<string[]> =>
  mapInTurns(frames, eventsPerTurn, ({ json }) => json);
