import { problemWithShortCodeFormat } from './fields.ts';

/**
 * What identifies a code to those who scan it: its short code, or on a custom domain the name of the domain, a slash and the
 * short code. One text for both, so that links are unique, found and reserved in one way. Neither part can contain a slash.
 *
 * @example 'menu', 'go.example.com/menu'
 */
export type Link = string;

export const linkOf = (domain: string | undefined, shortCode: string): Link =>
  domain === undefined ? shortCode : `${domain}/${shortCode}`;

/** The domain of a link; undefined if it has none. */
export function domainOf(link: Link): string | undefined {
  const slash = link.indexOf('/');
  return slash === -1 ? undefined : link.slice(0, slash);
}

export const shortCodeOf = (link: Link): string => link.slice(link.indexOf('/') + 1);

/** The public address of a link. A link on a domain has the scheme and the port of `shortBaseUrl`. */
export function urlOfLink(link: Link, shortBaseUrl: string): string {
  const domain = domainOf(link);
  if (domain === undefined) return `${shortBaseUrl}/${link}`;
  const { protocol, port } = new URL(shortBaseUrl);
  return `${protocol}//${domain}${port === '' ? '' : `:${port}`}/${shortCodeOf(link)}`;
}

/** Whether a code may have this link: what is requested at random is neither looked up nor cached. */
export const isPossibleLink = (link: Link): boolean => problemWithShortCodeFormat(shortCodeOf(link)) === undefined;
