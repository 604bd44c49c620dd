import type { GivenRule } from '../../events/targeting/rule-ids.ts';

/** A link of another service, as far as its export or its API describes it. */
export interface SourceLink {
  /** The short link without its scheme, such as `bit.ly/3xYz`; if there is none, a hash of what is known of it. */
  id: string;
  /** The host of the short link; undefined if it is not known. */
  host?: string | undefined;
  /** The path of the short link; undefined if the code gets a new one. */
  shortCode?: string | undefined;
  destination: string;
  title?: string | undefined;
  note?: string | undefined;
  tags: string[];
  /** Timestamps as written: see `readTime`. */
  createdAt?: unknown;
  startsAt?: unknown;
  expiresAt?: unknown;
  fallback?: string | undefined;
  forwardQuery?: boolean | undefined;
  /** How often the link may be opened, what was opened so far included. */
  maxScans?: number | undefined;
  /** How often it was opened. */
  scans?: number | undefined;
  rules: GivenRule[];
  /** What Scanlog has no equivalent for, each as the reason for which the link is not taken. */
  unsupported: string[];
  /** Why the link is not taken at all, even without its unsupported parts. */
  closed?: string | undefined;
}

/** Links that were read together, and how many there are in all, if the source names it. */
export interface LinkPage {
  links: SourceLink[];
  total?: number | undefined;
}

/** An object of JSON whose fields are not known to be what they should be. */
export type Item = Record<string, unknown>;

export const isItem = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The list in a value; empty if it is none. */
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A text that is not empty, or a number as text; undefined for everything else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? undefined : text;
}

/** A count, also one that is written as "6,409"; undefined if it is none. */
export function countOf(value: unknown): number | undefined {
  const text = textOf(value)?.replaceAll(/(?<=\d)[,\s](?=\d{3}\b)/g, '');
  const count = text === undefined ? Number.NaN : Number(text);
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** Host and path of a short link, with or without its scheme; undefined if it has no host. */
export function partsOf(shortUrl: string | undefined): { host: string; shortCode: string } | undefined {
  const match = /^(?:https?:\/\/)?([^/\s?#]+\.[^/\s?#]+|localhost(?::\d+)?)\/([^?#]*)/i.exec(shortUrl ?? '');
  const [, host, path] = match ?? [];
  if (host === undefined || path === undefined) return undefined;
  return { host: host.toLowerCase(), shortCode: path.replace(/\/+$/, '') };
}

/** What identifies a short link at its service, in one form for its export and its API. */
export const idOf = (host: string | undefined, shortCode: string): string =>
  host === undefined ? shortCode : `${host}/${shortCode}`;

/** How an entry of an API names its link: the whole short link, and its parts where the API has them apart. */
interface Named {
  shortUrl: unknown;
  host?: unknown;
  shortCode: unknown;
}

/** Id, host and short code of an entry of an API. */
export function identityOf(named: Named): { id: string; host: string | undefined; shortCode: string } {
  const parts = partsOf(textOf(named.shortUrl));
  const host = textOf(named.host)?.toLowerCase() ?? parts?.host;
  const shortCode = textOf(named.shortCode) ?? parts?.shortCode ?? '';
  return { id: idOf(host, shortCode), host, shortCode };
}

/** Rules that lead visitors of a kind of device elsewhere. */
export const deviceRules = (urls: { ios?: string | undefined; android?: string | undefined }): GivenRule[] =>
  (['ios', 'android'] as const).flatMap((device) => {
    const url = urls[device];
    return url === undefined ? [] : [{ when: { devices: [device] }, destination_url: url }];
  });
