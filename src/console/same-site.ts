/**
 * Whether a request was made by our own pages. Every browser of today says where a request comes from
 * (`Sec-Fetch-Site`); older ones name at least the origin of what may change something. A client that says neither is no
 * browser, and so has no cookie that another site could abuse.
 */
export function isOwn({ headers }: Request, publicUrl: string): boolean {
  const site = headers.get('sec-fetch-site');
  // "none" is a person: an address typed in, a bookmark.
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = headers.get('origin');
  if (origin === null) return true;
  const own = [new URL(publicUrl).host, headers.get('host')];
  return URL.canParse(origin) && own.includes(new URL(origin).host);
}

/** What a form of another site can never send: it would need our leave first, which nobody gives. */
export const isFromScript = ({ headers }: Request) =>
  headers.has('x-scanlog-console') || /^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '');
