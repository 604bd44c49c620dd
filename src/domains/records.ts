import type { Domain } from '../../events/domain.ts';
import { isIPv4, parseAddress } from '../lib/ip-address.ts';
import { proofNameOf } from './name.ts';

/** A record that the owner of a domain adds to the DNS. */
export interface DnsRecord {
  type: 'TXT' | 'CNAME' | 'A' | 'AAAA';
  name: string;
  value: string;
}

/** The value of the TXT record that proves a claim. */
export const txtValueOf = (token: string): string => `scanlog-verify=${token}`;

/** The record that leads the domain to the service. */
function leadingRecord(name: string, target: string): DnsRecord {
  const address = parseAddress(target);
  const type = address === null ? 'CNAME' : isIPv4(address) ? 'A' : 'AAAA';
  return { type, name, value: target };
}

/** The records that prove a claim and lead the domain to the service. */
export const recordsOf = ({ name, token }: Pick<Domain, 'name' | 'token'>, target: string): DnsRecord[] => [
  { type: 'TXT', name: proofNameOf(name), value: txtValueOf(token) },
  leadingRecord(name, target),
];

/** The record that leads the domain to the service, in a sentence. */
export function expectedRecord(name: string, target: string): string {
  const { type, value } = leadingRecord(name, target);
  return `a ${type} record with the value ${value}, or any other that ends at the same address`;
}
