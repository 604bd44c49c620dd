import { ByteLru } from '../lib/byte-lru.ts';
import type { Queryable } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { decodeLogo, type LogoFile } from '../qr/logo-files.ts';
import { writeVectorLogo } from '../qr/svg.ts';
import type { Brand } from './pages.ts';

const maxKnownBytes = 8 * 1024 * 1024;
/** A change of the account is on its pages after this time at the latest. */
const freshMs = 5_000;

interface Known {
  brand: Brand | undefined;
  readAtMs: number;
  byteLength: number;
}

/** Names and logos of accounts for pages that guests see, read from Postgres when a page needs them. */
export class Brands {
  readonly #sql: Queryable;
  readonly #known = new ByteLru<Known>(maxKnownBytes);
  readonly #reading = new Map<string, Promise<Brand | undefined>>();

  constructor(sql: Queryable) {
    this.#sql = sql;
  }

  /** What the pages of an account show; undefined if it wants nothing there, or Postgres does not answer. */
  async of(account: string): Promise<Brand | undefined> {
    const known = this.#known.get(account);
    if (known !== undefined && performance.now() - known.readAtMs < freshMs) return known.brand;
    const reading = this.#reading.get(account) ?? this.#read(account);
    this.#reading.set(account, reading);
    return reading;
  }

  async #read(account: string): Promise<Brand | undefined> {
    try {
      const brand = await withTimeout(
        readBrand(this.#sql, account),
        timeouts.routeLookupWithSnapshotMs,
        () => undefined,
      );
      return this.#keep(account, brand);
    } catch {
      // A page without a name is better than none.
      return this.#keep(account, undefined);
    } finally {
      this.#reading.delete(account);
    }
  }

  #keep(account: string, brand: Brand | undefined): Brand | undefined {
    const byteLength = brand === undefined ? 0 : brand.name.length + (brand.imageUrl?.length ?? 0);
    this.#known.set(account, { brand, readAtMs: performance.now(), byteLength });
    return brand;
  }
}

async function readBrand(sql: Queryable, account: string): Promise<Brand | undefined> {
  const [row] = await sql<({ name: string } & { [F in keyof LogoFile]: LogoFile[F] | null })[]>`
    SELECT a.name, f.type, f.content FROM accounts a
    LEFT JOIN logos l ON l.id = a.guest_page ->> 'logo' AND l.account = a.id
    LEFT JOIN logo_files f ON f.account = l.account AND f.hash = l.hash
    WHERE a.id = ${account} AND a.guest_page IS NOT NULL`;
  if (row === undefined) return undefined;
  const { name, type, content } = row;
  return { name, imageUrl: type === null || content === null ? undefined : imageUrlOf({ type, content }) };
}

/** An image as a URL that contains it: a page for guests loads nothing. */
function imageUrlOf({ type, content }: LogoFile): string {
  const art = decodeLogo({ type, content: new Uint8Array(content) });
  return art.kind === 'raster'
    ? `data:image/png;base64,${Buffer.from(art.png).toString('base64')}`
    : `data:image/svg+xml;base64,${Buffer.from(writeVectorLogo(art)).toString('base64')}`;
}
