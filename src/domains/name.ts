import { domainToASCII } from 'node:url';
import { parse } from 'tldts';
import { parseAddress } from '../lib/ip-address.ts';

/** The name whose TXT record proves a claim. */
export const proofNameOf = (name: string): string => `_scanlog.${name}`;

/** A name in the DNS has at most 253 characters, and the proof is at a name before it. */
const maxLength = 253 - proofNameOf('').length;

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Reads the name of a domain as people type it: in lower case and punycode, without a dot at the end. `ownHosts` are the hosts
 * of the service. Returns what is wrong with any other text ("must …").
 *
 * @example
 * readDomainName('Go.Bücher.example.', []); // { name: 'go.xn--bcher-kva.example' }
 */
export function readDomainName(text: string, ownHosts: readonly string[]): { name: string } | { problem: string } {
  const typed = text.trim().replace(/[.。．｡]$/u, '');
  if (parseAddress(typed.replace(/^\[|\]$/g, '')) !== null)
    return { problem: 'must be the name of a domain, not an address' };
  // `domainToASCII` reads a URL, and ignores what follows the host.
  const name = /[/?#@\\:%\s]/.test(typed) ? '' : domainToASCII(typed);
  const labels = name.split('.');
  if (parseAddress(name) !== null || !labels.every((one) => label.test(one)))
    return { problem: 'must be the name of a domain, such as go.example.com, without scheme, port and path' };
  if (labels.length === 1) return { problem: 'must have a dot, as in go.example.com' };
  if (name.length > maxLength)
    return { problem: `must have at most ${maxLength} characters, because ${proofNameOf('…')} must be a name, too` };
  if (parse(name, { allowPrivateDomains: true }).publicSuffix === name)
    return { problem: `must be a domain of yours: under ${name}, anyone can register one` };
  if (ownHosts.includes(name)) return { problem: `must not be ${name}, a host of this service` };
  return { name };
}
