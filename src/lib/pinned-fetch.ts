import { codeOf } from './errors.ts';

/** The URL with its host name replaced by each of these addresses. */
export const urlsAt = ({ protocol, port, pathname, search }: URL, addresses: string[]): string[] =>
  addresses.map((address) => {
    const host = address.includes(':') ? `[${address}]` : address;
    return `${protocol}//${host}${port === '' ? '' : `:${port}`}${pathname}${search}`;
  });

/**
 * Sends a request to the first of these URLs that does not refuse the connection. The URLs name addresses that were checked,
 * so a DNS change after the check has no effect: the `host` header of the request names the host. Redirects are not followed.
 *
 * @example
 * await fetchPinned(urlsAt(url, ['203.0.113.7']), { headers: { host: url.host }, signal });
 */
export async function fetchPinned(urls: string[], request: BunFetchRequestInit): Promise<Response> {
  // A response of a few bytes must not decompress to gigabytes.
  const pinned: BunFetchRequestInit = { ...request, redirect: 'manual', decompress: false };
  for (const url of urls.slice(0, -1)) {
    try {
      return await fetch(url, pinned);
    } catch (error) {
      // Nothing was sent yet, so the next address of the name can be tried.
      if (codeOf(error) !== 'ECONNREFUSED') throw error;
    }
  }
  return fetch(urls.at(-1) as string, pinned);
}
