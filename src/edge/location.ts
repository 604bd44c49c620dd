import { domainToASCII } from 'node:url';

const ascii = /^[\x21-\x7e]*$/;

/** The destination as a `Location` header: unchanged if it is ASCII, else percent-encoded, with the host in Punycode. */
export function toLocation(destination: string): string {
  if (ascii.test(destination)) return destination;
  const [, scheme = '', authority = '', rest = ''] = /^([a-z]+:\/\/)([^/\\?#]*)(.*)$/is.exec(destination) ?? [];
  const at = authority.lastIndexOf('@') + 1;
  const [, host = '', port = ''] = /^(.*?)(:\d*)?$/s.exec(authority.slice(at)) ?? [];
  return (
    scheme +
    percentEncoded(authority.slice(0, at)) +
    (ascii.test(host) ? host : domainToASCII(host)) +
    port +
    percentEncoded(rest)
  );
}

const percentEncoded = (text: string) => text.replace(/[^\x21-\x7e]+/gu, encodeURIComponent);
