import { readHost } from '../../events/hosts.ts';
import { type DnsServer, readDnsServer } from './dns.ts';
import { isEmailAddress } from './email.ts';
import { parseAddress } from './ip-address.ts';
import type { IpRanges } from './ip-range.ts';

/** Parses the text of one setting, or returns the requirement that completes "must …". */
export type Reader<T> = (text: string) => { value: T } | { must: string };

/** One of `values`. */
export const wordOf =
  <T extends string>(values: readonly T[]): Reader<T> =>
  (text) =>
    (values as readonly string[]).includes(text) ? { value: text as T } : { must: `be one of ${values.join(', ')}` };

/** A comma-separated list of `values`. */
export const severalOf =
  <T extends string>(values: readonly T[]): Reader<T[]> =>
  (text) => {
    const given = text.split(',').map((word) => word.trim());
    return given.every((word) => (values as readonly string[]).includes(word))
      ? { value: [...new Set(given)] as T[] }
      : { must: `be a comma-separated list of ${values.join(', ')}` };
  };

export const integer =
  (min: number, max: number): Reader<number> =>
  (text) =>
    /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max
      ? { value: Number(text) }
      : { must: `be an integer from ${min} to ${max}` };

export const url =
  (example: string, ...protocols: string[]): Reader<string> =>
  (text) =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol) && new URL(text).host !== ''
      ? { value: text.replace(/\/+$/, '') }
      : { must: `be a URL such as ${example}` };

/** Splits a comma-separated list of URLs. A comma inside a URL, as in a password, is not followed by a scheme. */
export const urlsOf = (text: string): string[] => text.split(/,(?=\s*[a-z]+:\/\/)/).map((one) => one.trim());

export const natsServers: Reader<string> = (text) => {
  const given = urlsOf(text);
  const read = url('nats://host:4222', 'nats:', 'tls:');
  const servers = given.map(read).flatMap((result) => ('value' in result ? [result.value] : []));
  if (servers.length < given.length)
    return { must: 'be a URL such as nats://host:4222, or several, separated by commas' };
  const logins = servers.map((server) => new URL(server)).map((at) => `${at.protocol}${at.username}:${at.password}`);
  return new Set(logins).size === 1
    ? { value: servers.join(',') }
    : { must: 'have the same scheme, user and password for every server' };
};

export const replicas: Reader<number> = (text) =>
  ['1', '3', '5'].includes(text) ? { value: Number(text) } : { must: 'be 1, 3 or 5' };

export const identifier: Reader<string> = (text) =>
  /^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(text)
    ? { value: text }
    : { must: 'have 1 to 63 letters, digits or "_", the first a letter' };

/** A share, such as 0.01. */
export const ratio: Reader<number> = (text) =>
  /^\d*\.?\d+$/.test(text) && Number(text) <= 1 ? { value: Number(text) } : { must: 'be a number from 0 to 1' };

/** `name=value`, separated by commas, with percent-encoded values, as OpenTelemetry writes lists. */
export const keyValues: Reader<Record<string, string>> = (text) => {
  try {
    const pairs = text.split(',').map((pair): [string, string] => {
      const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/s.exec(pair) ?? [];
      if (name === undefined || value === undefined) throw new Error();
      return [name, decodeURIComponent(value)];
    });
    return { value: Object.fromEntries(pairs) };
  } catch {
    return { must: 'be a list such as name=value,name=value, with "," and "%" in values as %2C and %25' };
  }
};

export const text: Reader<string> = (given) => ({ value: given });

export const host: Reader<string> = (text) =>
  /^[0-9A-Za-z.:-]+$/.test(text) ? { value: text } : { must: 'be an address or host name such as 0.0.0.0' };

export const networks =
  (parse: (text: string) => IpRanges | { error: string }): Reader<IpRanges> =>
  (text) => {
    const parsed = parse(text);
    return 'error' in parsed
      ? { must: `be a comma-separated list of networks such as 10.0.0.0/8: ${parsed.error}` }
      : { value: parsed };
  };

/** A comma-separated list of DNS servers. */
export const dnsServers: Reader<DnsServer[]> = (text) => {
  const servers = text.split(',').map((one) => readDnsServer(one.trim()));
  return servers.every((server) => server !== undefined)
    ? { value: servers }
    : { must: 'be a comma-separated list of addresses with or without a port, such as 10.0.0.2:53 or [fd00::2]:53' };
};

/** A host name that others can be led to, or an address; in the spelling of URLs, IPv6 without brackets. */
export const target: Reader<string> = (text) => {
  const host = readHost(parseAddress(text) !== null && text.includes(':') ? `[${text}]` : text);
  return host === undefined
    ? { must: 'be a host name such as links.example.com, or an address, without scheme, port and path' }
    : { value: host.replace(/^\[|\]$/g, '') };
};

export const boolean: Reader<boolean> = (text) =>
  text === 'true' || text === 'false' ? { value: text === 'true' } : { must: 'be true or false' };

export const secret: Reader<string> = (text) =>
  text.length >= 32 && !/\s/.test(text)
    ? { value: text }
    : { must: 'have at least 32 characters and no spaces; make one with: openssl rand -hex 32' };

/** A URL with one of these protocols, or a `mailto:` address. */
export const contact =
  (...protocols: string[]): Reader<string> =>
  (text) => {
    const isMail = /^mailto:[^\s@?]+@[^\s@?]+(\?\S*)?$/i.test(text);
    const isPage = /^\S+$/.test(text) && URL.canParse(text) && protocols.includes(new URL(text).protocol);
    return isMail || isPage
      ? { value: text }
      : { must: 'be a URL such as https://example.com/report, or an address such as mailto:report@example.com' };
  };

/** An SMTP server: `smtp:` begins in plain text, `smtps:` with TLS. */
export const smtpUrl: Reader<string> = (text) => {
  const must = 'be a URL such as smtp://user:password@mail.example.com:587, or smtps://… for TLS from the first byte';
  const read = url('', 'smtp:', 'smtps:')(text);
  if ('must' in read) return { must };
  const { pathname, hash, username, password, searchParams } = new URL(read.value);
  const isPlain = ['', '/'].includes(pathname) && hash === '' && (username === '') === (password === '');
  const options = [...searchParams].map(([name, value]) => `${name}=${value}`);
  return isPlain && options.every((option) => option === 'tls=off') ? { value: read.value } : { must };
};

/** An address with or without a name before it, in angle brackets if with one. */
export const mailbox: Reader<string> = (text) => {
  const [, address = text] = /^[^<>]*<([^<>]+)>$/.exec(text) ?? [];
  return isEmailAddress(address.trim()) && !/[\r\n]/.test(text)
    ? { value: text.trim() }
    : { must: 'be an address such as Scanlog <qr@example.com>' };
};

/** The origin of a web service, without anything after the host and port; `more` ends the sentence about a path. */
export const origin =
  (example: string, more: string): Reader<string> =>
  (text) => {
    const read = baseUrl(example)(text);
    if ('must' in read || new URL(read.value).pathname === '/') return read;
    return { must: `be a URL without a path, such as ${example}: ${more}` };
  };

/** A URL that paths are appended to: with a path of its own or none, but without user, query and fragment. */
export const baseUrl =
  (example: string): Reader<string> =>
  (text) => {
    const read = webUrl(example)(text);
    return 'value' in read && /[?#@]/.test(text)
      ? { must: `be a URL without user, query and fragment, such as ${example}` }
      : read;
  };

export const webUrl = (example: string) => url(example, 'http:', 'https:');
