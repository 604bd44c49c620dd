import { domainOf } from '../../../events/link.ts';
import type { Owner } from '../../../events/owner.ts';
import { spelledTags } from '../../../events/tags.ts';
import type { ExportFormat } from '../../analytics/export.ts';
import { leadKey } from '../../analytics/series.ts';
import { codesWithIds } from '../../codes/codes.ts';
import { eachLead, type Lead, leadsOfCodes } from '../../codes/destinations.ts';
import type { Queryable } from '../../lib/sql.ts';

/** Scans that are completed before the event loop gets a turn: about 1 ms, or 5 ms if each is of another code. */
const sliceRows = 500;
/** What is kept of codes: a code can have had many URLs, of 2 kB each. */
const maxKnownBytes = 16 * 1024 * 1024;
const overheadBytes = 200;

/** What an export says about the code of a scan. */
interface KnownCode {
  name: string;
  tags: string[];
  domain: string | undefined;
  /** The URLs that the code has led to, by `leadKey`. */
  urls: Map<string, string>;
  /** Whether it has led to so many that only those of scans are known. */
  isPartial: boolean;
}

/** The end of a scan in each format: what only Postgres has, name, tags and domain of its code, and the URL that it led to. */
const ends: Record<ExportFormat, (url: string, code: KnownCode) => string> = {
  csv: (url, { name, tags, domain }) => `,${cell(url)},${cell(name)},${cell(tags.join('; '))},${domain ?? ''}\r\n`,
  json: (url, { name, tags, domain }) =>
    `,${JSON.stringify({ destination_url: url, name, tags, domain: domain ?? null }).slice(1)}`,
};
const separators: Record<ExportFormat, string> = { csv: '', json: ',' };

/** Adds URL, name, tags and domain to the scans of an export that was read `withLeads`. */
export class ExportColumns {
  readonly #sql: Queryable;
  readonly #owner: Owner;
  readonly #format: ExportFormat;
  readonly #known = new Map<string, KnownCode>();
  #knownBytes = 0;

  constructor(sql: Queryable, owner: Owner, format: ExportFormat) {
    this.#sql = sql;
    this.#owner = owner;
    this.#format = format;
  }

  /** Completes the text of a chunk. */
  async *complete(text: Buffer[]): AsyncGenerator<Uint8Array> {
    const separator = separators[this.#format];
    const parts = Buffer.concat(text).toString().split('\0');
    for (let at = 0; at < parts.length; at += 2 * sliceRows) {
      const slice = parts.slice(at, at + 2 * sliceRows);
      const leads = slice.filter((_, i) => i % 2 === 0).map(splitLead);
      await this.#load(new Set(leads.map(({ code }) => code)));
      await this.#loadMissing(leads);
      const scans = leads.map(({ code, key }, i) => `${slice[2 * i + 1]}${this.#endOf(code, key)}`);
      yield Buffer.from(`${at === 0 ? '' : separator}${scans.join(separator)}`);
    }
  }

  #endOf(id: string, key: string): string {
    const code = this.#known.get(id) ?? deleted;
    return ends[this.#format](code.urls.get(key) ?? '', code);
  }

  async #load(ids: Set<string>): Promise<void> {
    if (this.#knownBytes > maxKnownBytes) {
      this.#known.clear();
      this.#knownBytes = 0;
    }
    const unknown = [...ids].filter((id) => !this.#known.has(id));
    if (unknown.length === 0) return;
    const [leads, codes] = await Promise.all([
      leadsOfCodes(this.#sql, unknown),
      codesWithIds(this.#sql, this.#owner, unknown),
    ]);
    for (const id of unknown) {
      const code = codes.get(id);
      const [name, tags] = [code?.name ?? '', (code && spelledTags(code)) ?? []];
      const domain = domainOf(code?.short_code ?? '');
      const isPartial = leads.has(id) && leads.get(id) === undefined;
      const known: KnownCode = { name, tags, domain, urls: new Map(), isPartial };
      this.#known.set(id, known);
      this.#knownBytes += overheadBytes + name.length + tags.join().length;
      for (const lead of leads.get(id) ?? []) this.#add(known, keyOf(lead), lead.url);
    }
  }

  #add({ urls }: KnownCode, key: string, url: string): void {
    if (urls.has(key)) return;
    urls.set(key, url);
    this.#knownBytes += url.length + overheadBytes;
  }

  /** Reads the URLs of these scans that are not known yet from the histories of their codes. */
  async #loadMissing(leads: { code: string; key: string }[]): Promise<void> {
    const missing = leads.filter(({ code, key }) => {
      const known = this.#known.get(code);
      return known?.isPartial === true && !known.urls.has(key);
    });
    for (const [id, ofCode] of Map.groupBy(missing, ({ code }) => code)) {
      const known = this.#known.get(id) as KnownCode;
      const keys = new Set(ofCode.map(({ key }) => key));
      await eachLead(this.#sql, { account: this.#owner.account, id }, (lead) => {
        const key = keyOf(lead);
        if (keys.has(key)) this.#add(known, key, lead.url);
      });
    }
  }
}

const keyOf = ({ revision, rule, variant }: Lead) => leadKey(revision, rule, variant);

/** A code that was deleted during the export. */
const deleted: KnownCode = { name: '', tags: [], domain: undefined, urls: new Map(), isPartial: false };

function splitLead(text: string): { code: string; key: string } {
  const end = text.indexOf(' ');
  return { code: text.slice(0, end), key: text.slice(end + 1) };
}

/** A CSV cell, quoted by RFC 4180; an apostrophe keeps a spreadsheet from evaluating it as a formula. */
function cell(text: string): string {
  const notAFormula = /^[-=+@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(text) ? `"${notAFormula.replaceAll('"', '""')}"` : notAFormula;
}
