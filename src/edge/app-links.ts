import type { AppLinks } from '../../events/domain.ts';
import { ByteLru } from '../lib/byte-lru.ts';
import type { Queryable } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';

const maxKnownBytes = 4 * 1024 * 1024;
/** A change is served after this time at the latest. */
const freshMs = 5_000;

interface Known {
  links: AppLinks | null;
  readAtMs: number;
  byteLength: number;
}

/** The app links of domains, read from Postgres when a phone asks for them: with 64 KiB each, not all fit into memory. */
export class DomainAppLinks {
  readonly #sql: Queryable;
  readonly #known = new ByteLru<Known>(maxKnownBytes);

  constructor(sql: Queryable) {
    this.#sql = sql;
  }

  /** Throws if Postgres does not answer. */
  async of(domain: string): Promise<AppLinks | null> {
    const known = this.#known.get(domain);
    if (known !== undefined && performance.now() - known.readAtMs < freshMs) return known.links;
    const reading = this.#sql<
      { links: AppLinks | null }[]
    >`SELECT app_links AS links FROM domains WHERE id = ${domain}`;
    const [row] = await withTimeout(reading, timeouts.routeLookupMs, () => {
      throw new Error(`Postgres did not answer within ${timeouts.routeLookupMs} ms`);
    });
    const links = row?.links ?? null;
    const byteLength = JSON.stringify(links).length;
    this.#known.set(domain, { links, readAtMs: performance.now(), byteLength });
    return links;
  }
}
