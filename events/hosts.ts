/**
 * Hosts in canonical form, so that all spellings of one host are equal: as `URL` writes them (lower case, punycode, IPv4 in
 * four decimal parts, IPv6 compressed), without dots at the end, and IPv4 addresses inside IPv6 ones as IPv4.
 */

/** IPv4-mapped addresses and addresses of NAT64 (RFC 6052), which networks without IPv4 translate, in the spelling of `URL`. */
const embeddedIpv4 = /^\[(?:::ffff|64:ff9b:):([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

/** The canonical form of a host in the spelling of `URL`, or of an earlier version of this function. */
export function canonicalHost(hostname: string): string {
  const embedded = embeddedIpv4.exec(hostname);
  if (embedded !== null) {
    const [high, low] = embedded.slice(1).map((group) => Number.parseInt(group, 16)) as [number, number];
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  if (!hostname.endsWith('.')) return hostname;
  const host = hostname.replace(/\.+$/, '');
  // `URL` reads a number with two dots after it as a name, and without them as an address.
  const url = `http://${host}/`;
  return URL.canParse(url) ? new URL(url).hostname : host;
}

/** The canonical host of an http or https URL. */
export const hostOf = (url: string): string => canonicalHost(new URL(url).hostname);

/** The canonical form of a host as typed; undefined if it is not a host. */
export function readHost(text: string): string | undefined {
  const url = `https://${text.trim()}/`;
  if (/[/?#@\\:\s]/.test(text.trim().replace(/^\[[0-9a-f:.]+\]$/i, '')) || !URL.canParse(url)) return undefined;
  return hostOf(url) || undefined;
}

/** The host and all its parent domains: blocking any of them blocks the host. */
export function coveringHosts(host: string): string[] {
  if (/^[\d.]+$|^\[/.test(host)) return [host];
  const labels = host.split('.');
  return labels.map((_, i) => labels.slice(i).join('.'));
}
