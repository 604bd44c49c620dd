import { beforeAbort } from '../lib/before-abort.ts';
import { parseAddress } from '../lib/ip-address.ts';
import { inRanges } from '../lib/ip-range.ts';
import { fetchPinned, urlsAt } from '../lib/pinned-fetch.ts';
import { timeouts } from '../lib/timeouts.ts';
import { Forbidden, nameOf, type Policy, type Resolve, Unresolved, vettedAddresses } from '../webhooks/destination.ts';
import { connectionError } from '../webhooks/send.ts';
import type { Problem } from './problems.ts';

/** What a check of a destination has found. */
export type Probed =
  | { state: 'up' }
  /** `isAnswered`: a server has answered, so that the network of this service works. */
  | { state: 'down'; problem: Problem; isAnswered: boolean }
  /** It cannot be checked from here, which says nothing about it. */
  | { state: 'unknown' };

export interface ProbeOptions {
  /** Whose addresses may be called. */
  policy: Policy;
  resolve: Resolve;
  /** Names this service to the owners of websites. */
  userAgent: string;
  stopping: AbortSignal;
}

const maxRedirects = 5;
const maxAddresses = 4;
/** On other ports, only what the operator allows is requested: else anyone could have us try all ports of a server. */
const webPorts = new Set(['', '80', '443', '8000', '8080', '8443']);
const redirects = new Set([301, 302, 303, 307, 308]);
const gone = new Set([404, 410]);

/**
 * Requests a URL as a visitor would: HEAD, then GET where HEAD does not succeed, following redirects. Only public addresses are
 * called, each on the address that was checked. No body is read.
 */
export async function probe(url: string, options: ProbeOptions): Promise<Probed> {
  const signal = AbortSignal.any([options.stopping, AbortSignal.timeout(timeouts.destinationCheckMs)]);
  let next = new URL(url);
  try {
    for (let hop = 0; hop <= maxRedirects; hop++) {
      const { status, location } = await request(next, options, signal);
      const target = redirects.has(status) && location !== null ? URL.parse(location, next.href) : null;
      if (target === null) return judge(status, next);
      if (!/^https?:$/.test(target.protocol)) return { state: 'up' };
      next = target;
    }
    return { state: 'down', problem: { kind: 'circles', host: next.host }, isAnswered: true };
  } catch (error) {
    options.stopping.throwIfAborted();
    if (error instanceof Forbidden) return { state: 'unknown' };
    return { state: 'down', problem: problemOf(error, next.host), isAnswered: false };
  }
}

interface ProbeResponse {
  status: number;
  location: string | null;
}

async function request(url: URL, options: ProbeOptions, signal: AbortSignal): Promise<ProbeResponse> {
  const { policy, resolve } = options;
  const vetted = await beforeAbort(signal, vettedAddresses(url, policy, resolve));
  const addresses = webPorts.has(url.port) ? vetted : vetted.filter((address) => isAllowed(address, policy));
  if (addresses.length === 0) throw new Forbidden(`Port ${url.port} is not one of websites.`);
  const urls = urlsAt(url, addresses.slice(0, maxAddresses));
  const name = nameOf(url);
  const tls = url.protocol === 'https:' && name !== undefined ? { tls: { servername: name } } : {};
  const send = async (method: 'HEAD' | 'GET'): Promise<ProbeResponse> => {
    const headers = { host: url.host, 'user-agent': options.userAgent, accept: '*/*' };
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeouts.destinationRequestMs)]);
    const response = await fetchPinned(urls, { method, headers, signal: limited, ...tls });
    await response.body?.cancel();
    return { status: response.status, location: response.headers.get('location') };
  };
  const head = await send('HEAD').catch(() => undefined);
  return head !== undefined && head.status < 400 ? head : send('GET');
}

function isAllowed(text: string, { allowed }: Policy): boolean {
  const address = parseAddress(text);
  return address !== null && inRanges(allowed, address);
}

/** Other errors of a request, such as 403 or 429, are of a website that is there and does not like to be asked. */
function judge(status: number, { host }: URL): Probed {
  if (gone.has(status)) return { state: 'down', problem: { kind: 'missing', host, status }, isAnswered: true };
  if (status >= 500) return { state: 'down', problem: { kind: 'failing', host, status }, isAnswered: true };
  return { state: 'up' };
}

function problemOf(error: unknown, host: string): Problem {
  if (error instanceof Unresolved) return { kind: 'unknownHost', host };
  if (error instanceof DOMException && error.name === 'TimeoutError') return { kind: 'noAnswer', host };
  return { kind: 'unreachable', host, detail: connectionError(error) };
}
