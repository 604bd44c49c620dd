/** Hosts that the operator can block, in canonical form: lower case, punycode, no trailing dot. */

/** The canonical host of an http or https URL. */
export const hostOf = (url: string): string => new URL(url).hostname.replace(/\.$/, '');

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
