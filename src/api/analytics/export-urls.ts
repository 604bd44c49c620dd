import { leadKey } from '../../analytics/series.ts';
import { destinationsOfCodes } from '../../codes/destinations.ts';
import type { Queryable } from '../../lib/sql.ts';

/** Scans that are completed before the event loop gets a turn: about 1 ms, or 5 ms if each is of another code. */
const sliceRows = 500;
/** What is kept of the URLs of codes: a code can have had many, of 2 kB each. */
const maxKnownBytes = 16 * 1024 * 1024;
const overheadBytes = 200;

/** Adds the URL that each scan led to, which only the log has, to the lines of a CSV export. */
export class LeadUrls {
  readonly #sql: Queryable;
  /** The URLs of a code by `leadKey`. */
  readonly #known = new Map<string, Map<string, string>>();
  #knownBytes = 0;

  constructor(sql: Queryable) {
    this.#sql = sql;
  }

  /** Completes the text of a chunk that was read `withLeads`. */
  async *complete(text: Buffer[]): AsyncGenerator<Uint8Array> {
    const parts = Buffer.concat(text).toString().split('\0');
    for (let at = 0; at < parts.length; at += 2 * sliceRows) {
      const slice = parts.slice(at, at + 2 * sliceRows);
      const leads = slice.filter((_, i) => i % 2 === 0).map(splitLead);
      await this.#load(new Set(leads.map(({ code }) => code)));
      const lines = leads.map(({ code, key }, i) => {
        const url = this.#known.get(code)?.get(key) ?? '';
        return `${slice[2 * i + 1]},${cell(url)}\r\n`;
      });
      yield Buffer.from(lines.join(''));
    }
  }

  async #load(codes: Set<string>): Promise<void> {
    if (this.#knownBytes > maxKnownBytes) {
      this.#known.clear();
      this.#knownBytes = 0;
    }
    const unknown = [...codes].filter((code) => !this.#known.has(code));
    if (unknown.length === 0) return;
    const found = await destinationsOfCodes(this.#sql, unknown);
    for (const code of unknown) {
      const urls = (found.get(code) ?? []).map(
        ({ url, revision, rule, variant }) => [leadKey(revision, rule, variant), url] as const,
      );
      this.#known.set(code, new Map(urls));
      this.#knownBytes += overheadBytes + urls.reduce((sum, [, url]) => sum + url.length + overheadBytes, 0);
    }
  }
}

function splitLead(text: string): { code: string; key: string } {
  const end = text.indexOf(' ');
  return { code: text.slice(0, end), key: text.slice(end + 1) };
}

/** A URL as a CSV cell, quoted by RFC 4180. It begins with `http`, so no spreadsheet takes it for a formula. */
const cell = (url: string) => (/[",\r\n]/.test(url) ? `"${url.replaceAll('"', '""')}"` : url);
