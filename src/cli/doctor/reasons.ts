import { codeOf, messageOf } from '../../lib/errors.ts';

interface Server {
  /** Display name. */
  name: string;
  url: string;
  variable: string;
}

const unreachable = new Set(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ConnectionRefused']);
const untrusted = /certificate|self.signed|UNABLE_TO_(?:GET_ISSUER|VERIFY)/i;

/** Says why a server could not be queried and what to change, without its password. */
export function reasonOf({ name, url, variable }: Server, error: unknown): string {
  const host = hostsOf(url);
  const causes = [error, ...(error instanceof AggregateError ? error.errors : []), (error as Error)?.cause];
  const code = causes.map(codeOf).find((found) => found !== '') ?? '';
  const message = firstLine(messageOf(error)) || code;
  if (unreachable.has(code) || /ECONNREFUSED|CONNECTION_REFUSED|Unable to connect/.test(`${code} ${message}`))
    return `${name} at ${host} does not accept connections: start it, or correct ${variable}.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `The host name in ${variable} (${host}) cannot be resolved: correct it.`;
  if (/TIMEOUT|TIMEDOUT/.test(code) || /timeout|did not answer/i.test(message))
    return `${name} at ${host} did not answer before the timeout: check its firewall and its load, or correct ${variable}.`;
  if (['28P01', '28000', 'AUTHORIZATION_VIOLATION', '516', '193', '194'].includes(code))
    return `${name} rejects the user or the password in ${variable}: correct them.`;
  if (code === '3D000') return `The database that ${variable} names does not exist: create it with createdb.`;
  if (code === '53300') return `${name} has no connection left: raise max_connections, or run fewer processes.`;
  if (untrusted.test(`${code} ${message}`))
    return `The certificate of ${name} at ${host} is not trusted: set NODE_EXTRA_CA_CERTS to the certificate file of your private CA.`;
  return `${name} at ${host} answers: ${message}`;
}

/** NATS_URL may contain several URLs. */
const hostsOf = (urls: string) =>
  urls
    .split(/,(?=\s*[a-z]+:\/\/)/)
    .map((url) => new URL(url).host)
    .join(', ');

const firstLine = (text: string) => text.trim().split('\n')[0] ?? '';
