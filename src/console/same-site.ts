/**
 * Whether our own pages or the user made a request. Current browsers send `Sec-Fetch-Site`; older ones send at least
 * `Origin` with requests that may change something. A client that sends neither is not a browser, so it has no cookie
 * that another site could abuse.
 */
export function isSameOrigin({ headers }: Request, publicUrl: string): boolean {
  const site = headers.get('sec-fetch-site');
  // "none": the user typed the address or opened a bookmark.
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = headers.get('origin');
  if (origin === null) return true;
  const ownHosts = [new URL(publicUrl).host, headers.get('host')];
  return URL.canParse(origin) && ownHosts.includes(new URL(origin).host);
}

/** Whether another site could send the request only after a CORS preflight, which this service never approves. */
export const needsCorsPreflight = ({ headers }: Request) =>
  headers.has('x-scanlog-console') || /^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '');
