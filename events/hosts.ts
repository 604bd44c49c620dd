/** Hosts that the operator can block, as URLs spell them: lower case, punycode, without a dot at the end. */

/** The host of an http or https URL. */
export const hostOf = (url: string): string => new URL(url).hostname.replace(/\.$/, '');

/** A host as it was typed, in that spelling; undefined when it is none. */
export function readHost(text: string): string | undefined {
  const url = `https://${text.trim()}/`;
  if (/[/?#@\\:\s]/.test(text.trim().replace(/^\[[0-9a-f:.]+\]$/i, '')) || !URL.canParse(url)) return undefined;
  return hostOf(url) || undefined;
}

/** The host itself and every domain that it is below: what could be blocked to block it. */
export function coveringHosts(host: string): string[] {
  if (/^[\d.]+$|^\[/.test(host)) return [host];
  const labels = host.split('.');
  return labels.map((_, i) => labels.slice(i).join('.'));
}
