import { domainToASCII } from 'node:url';

const ascii = /^[\x21-\x7e]*$/;

/** The destination as a header can carry it: the same string, except where it is not ASCII. */
export function toLocation(destination: string): string {
  if (ascii.test(destination)) return destination;
  const [, scheme = '', authority = '', rest = ''] = /^([a-z]+:\/\/)([^/\\?#]*)(.*)$/is.exec(destination) ?? [];
  const at = authority.lastIndexOf('@') + 1;
  const [, host = '', port = ''] = /^(.*?)(:\d*)?$/s.exec(authority.slice(at)) ?? [];
  return (
    scheme + percent(authority.slice(0, at)) + (ascii.test(host) ? host : domainToASCII(host)) + port + percent(rest)
  );
}

const percent = (text: string) => text.replace(/[^\x21-\x7e]+/gu, encodeURIComponent);
