import { join } from 'node:path';
import { type Domain, type DomainSettings, evolveDomain, isDomainEvent, isServing } from '../../events/domain.ts';
import { type Change, isScan } from '../../events/entry.ts';
import type { Sql } from '../lib/sql.ts';
import { readSaved, writeDurably } from './saved-file.ts';

/** A domain whose links this edge serves. Its app links are not in memory: see app-links.ts. */
export interface ServedDomain extends Omit<DomainSettings, 'app_links'> {
  id: string;
  name: string;
  account: string;
}

/** A domain as of the last of its events. */
interface KnownDomain {
  domain: Domain;
  position: number;
}

interface SavedDomains {
  /** Version of the file format. */
  version: 1;
  /** The position of the log up to which they are. */
  position: number;
  domains: Stored[];
  /** Names of all domains that have codes. */
  names: string[];
}

const fileName = 'domains.json';
/** Removed domains that are remembered, so that an event that arrives again does not bring one back. */
const maxRemoved = 10_000;

/** The custom domains of all accounts: read from Postgres as a whole, updated by events, saved to disk for a start without it. */
export class Domains {
  readonly #sql: Sql;
  readonly #known = new Map<string, KnownDomain>();
  readonly #served = new Map<string, ServedDomain>();
  readonly #removed = new Set<string>();
  /** Names that were served once; those that are served now can be among them. */
  #former: ReadonlySet<string> = new Set();
  #isLoaded: boolean;
  #firstLoad: Promise<void> | undefined;
  #position = 0;
  #savedText = '';

  constructor(sql: Sql, saved: SavedDomains | undefined) {
    this.#sql = sql;
    this.#isLoaded = saved !== undefined;
    if (saved !== undefined) this.#keepAll(saved.domains.map(withTimes), saved.position, saved.names);
  }

  /** Whether the domains are known, from Postgres or from disk. Until then no result of `find` is final. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Whether there is and was no domain. */
  get isEmpty(): boolean {
    return this.#served.size === 0 && this.#former.size === 0;
  }

  /** The domain with this name, in lower case and punycode; `former` if its links were served once and are not now. */
  find(name: string): ServedDomain | 'former' | undefined {
    return this.#served.get(name) ?? (this.#former.has(name) ? 'former' : undefined);
  }

  /** Resolves once the domains have been read from Postgres at least once. */
  loaded(): Promise<void> {
    this.#firstLoad ??= this.refresh().catch((error) => {
      this.#firstLoad = undefined;
      throw error;
    });
    return this.#firstLoad;
  }

  /** Reads all domains from Postgres. */
  async refresh(): Promise<void> {
    const [row] = await this.#sql<[{ position: number; domains: Stored[]; names: string[] }]>`
      WITH RECURSIVE names (name) AS (
        SELECT min(split_part(short_code, '/', 1)) FROM codes WHERE strpos(short_code, '/') > 0
        UNION ALL
        SELECT (
          SELECT min(split_part(short_code, '/', 1)) FROM codes
          WHERE strpos(short_code, '/') > 0 AND split_part(short_code, '/', 1) > names.name
        ) FROM names WHERE names.name IS NOT NULL
      )
      SELECT (SELECT coalesce(max(position), 0) FROM events) AS position,
        ARRAY(SELECT name FROM names WHERE name IS NOT NULL)::text[] AS names,
        coalesce((SELECT jsonb_agg(to_jsonb(d) - 'app_links') FROM domains d WHERE status <> 'removed'), '[]') AS domains`;
    this.#keepAll(row.domains.map(withTimes), row.position, row.names);
    this.#isLoaded = true;
  }

  /** Like `refresh`, and also replaces newer state: the log may have lost events that are applied. */
  reload(): Promise<void> {
    for (const known of this.#known.values()) known.position = 0;
    return this.refresh();
  }

  /** Applies events, which may arrive in any order and more than once. */
  apply(entries: Change[]): void {
    for (const entry of entries) {
      if (isScan(entry)) continue;
      if (entry.type === 'account_deleted') this.#removeAccount(entry.stream);
      if (!isDomainEvent(entry)) continue;
      const known = this.#known.get(entry.data.domain);
      // An event before its claim: the log follower applies both in order.
      if (known === undefined && entry.type !== 'domain_added') continue;
      if (known !== undefined && known.position >= entry.position) continue;
      this.#keep(evolveDomain(known?.domain, entry), entry.position);
    }
  }

  /** Writes the domains to `folder` if they have changed, so that an edge can start without Postgres. */
  async save(folder: string): Promise<void> {
    if (!this.#isLoaded) return;
    const domains = [...this.#known.values()].map(({ domain }) => domain).filter(({ status }) => status !== 'removed');
    const text = `"names":${JSON.stringify([...this.#former])},"domains":${JSON.stringify(domains)}`;
    if (text === this.#savedText) return;
    const head = { version: 1, position: this.#position } satisfies Omit<SavedDomains, 'domains' | 'names'>;
    await writeDurably(join(folder, fileName), `${JSON.stringify(head).slice(0, -1)},${text}}`);
    this.#savedText = text;
  }

  /** Takes the state of a read; domains that events have changed since then keep theirs. */
  #keepAll(domains: Domain[], position: number, names: readonly string[]): void {
    this.#position = Math.max(this.#position, position);
    this.#former = new Set(names);
    const read = new Set(domains.map(({ id }) => id));
    for (const [id, known] of this.#known)
      if (known.position <= position && !read.has(id)) this.#keep({ ...known.domain, status: 'removed' }, position);
    for (const domain of domains)
      if ((this.#known.get(domain.id)?.position ?? 0) <= position) this.#keep(domain, position);
  }

  #keep(domain: Domain, position: number): void {
    this.#position = Math.max(this.#position, position);
    const before = this.#known.get(domain.id)?.domain;
    this.#known.set(domain.id, { domain: { ...domain, app_links: null }, position });
    const { id, name, account, root_url, not_found_url, expired_url } = domain;
    if (isServing(domain)) this.#served.set(name, { id, name, account, root_url, not_found_url, expired_url });
    // Another claim of the name may be served since then.
    else if (this.#served.get(name)?.id === id) this.#served.delete(name);
    // A claim that was never proved served nothing. One that must be proved again, after its account was moved, can have codes.
    const provedAt = domain.status === 'removed' ? domain.verified_at : (before?.verified_at ?? null);
    if (!isServing(domain) && provedAt !== null) this.#former = new Set([...this.#former, name]);
    if (domain.status === 'removed') this.#remember(id);
  }

  #remember(id: string): void {
    this.#removed.add(id);
    const [oldest] = this.#removed;
    if (this.#removed.size <= maxRemoved || oldest === undefined) return;
    this.#removed.delete(oldest);
    this.#known.delete(oldest);
  }

  #removeAccount(account: string): void {
    for (const { domain, position } of this.#known.values())
      if (domain.account === account) this.#keep({ ...domain, status: 'removed' }, position);
  }
}

type TimeField = 'created_at' | 'verified_at' | 'removed_at';
type Stored = Omit<Domain, TimeField | 'app_links'> & {
  created_at: string;
  verified_at: string | null;
  removed_at: string | null;
};

const timeOf = (text: string | null) => (text === null ? null : new Date(text));

const withTimes = ({ created_at, verified_at, removed_at, ...domain }: Stored): Domain => ({
  ...domain,
  app_links: null,
  created_at: new Date(created_at),
  verified_at: timeOf(verified_at),
  removed_at: timeOf(removed_at),
});

/** The newest domains that edges below `parent` have saved; undefined if none has. */
export async function readSavedDomains(parent: string): Promise<SavedDomains | undefined> {
  const all = await readSaved<SavedDomains>(parent, fileName, 1);
  return all.toSorted((a, b) => b.position - a.position)[0];
}
