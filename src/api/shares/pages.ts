import type { OpenedShare } from '../../accounts/shares.ts';
import { ByteLru } from '../../lib/byte-lru.ts';
import type { Clock } from '../../lib/clock.ts';
import type { SharedFigures, SharePeriod } from './figures.ts';

/** Any number of visitors cost one read of analytics in this time for each share and period. */
const freshMs = 60_000;
const maxFiguresBytes = 8 * 1024 * 1024;
const maxPagesBytes = 16 * 1024 * 1024;

type ReadFigures = (share: OpenedShare, period: SharePeriod, now: Date) => Promise<SharedFigures>;

interface KnownFigures {
  figures: SharedFigures;
  readAtMs: number;
  byteLength: number;
}

/** Reads the figures of shares at most once a minute, and keeps what is made of them. */
export class SharePages {
  readonly #clock: Clock;
  readonly #readFigures: ReadFigures;
  readonly #figures = new ByteLru<KnownFigures>(maxFiguresBytes);
  readonly #reading = new Map<string, Promise<KnownFigures>>();
  readonly #pages = new ByteLru<Uint8Array<ArrayBuffer>>(maxPagesBytes);

  constructor(clock: Clock, read: ReadFigures) {
    this.#clock = clock;
    this.#readFigures = read;
  }

  /** What `render` makes of the figures of a share; `kind` tells what it makes apart. */
  async get(
    share: OpenedShare,
    period: SharePeriod,
    kind: string,
    render: (figures: SharedFigures) => string,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const key = keyOf(share, period);
    const { figures, readAtMs } = await this.#read(key, share, period);
    const pageKey = `${key} ${readAtMs} ${kind}`;
    const known = this.#pages.get(pageKey);
    if (known !== undefined) return known;
    const page = new TextEncoder().encode(render(figures));
    this.#pages.set(pageKey, page);
    return page;
  }

  async #read(key: string, share: OpenedShare, period: SharePeriod): Promise<KnownFigures> {
    const known = this.#figures.get(key);
    if (known !== undefined && this.#clock().getTime() - known.readAtMs < freshMs) return known;
    const reading = this.#reading.get(key) ?? this.#readAnew(key, share, period);
    this.#reading.set(key, reading);
    return reading;
  }

  async #readAnew(key: string, share: OpenedShare, period: SharePeriod): Promise<KnownFigures> {
    try {
      const now = this.#clock();
      const figures = await this.#readFigures(share, period, now);
      const read = { figures, readAtMs: now.getTime(), byteLength: JSON.stringify(figures).length };
      this.#figures.set(key, read);
      return read;
    } finally {
      this.#reading.delete(key);
    }
  }
}

/** With everything that figures depend on: a change of the share or of the account's time zone is seen at once. */
const keyOf = ({ id, name, codes, tags, bots, timezone }: OpenedShare, period: SharePeriod) =>
  JSON.stringify([id, name, codes, tags, bots, timezone, period]);
