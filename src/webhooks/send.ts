import { beforeAbort } from '../lib/before-abort.ts';
import { codeOf, messageOf } from '../lib/errors.ts';
import { fetchPinned, urlsAt } from '../lib/pinned-fetch.ts';
import { timeouts } from '../lib/timeouts.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import {
  Forbidden,
  nameOf,
  type Policy,
  type Resolve,
  resolveBySystem,
  Unresolved,
  vettedAddresses,
} from './destination.ts';
import { RequestTimeouts, timedOut } from './watch.ts';

/** How an attempt ended, as the label of its metric. */
export type AttemptOutcome = 'delivered' | 'refused' | 'timeout' | 'unreachable' | 'forbidden';

export interface Attempt {
  outcome: AttemptOutcome;
  ms: number;
  /** The HTTP status, if there was a response. */
  status: number | null;
  /** The first KiB of the response. */
  answer: string | null;
  /** The error as a sentence for the account. */
  error: string | null;
  retryAfter: string | null;
}

export interface Message {
  url: string;
  body: string;
  headers: Record<string, string>;
}

/** Sends a message. Rejects only when the caller aborts it. A controller that was not aborted may be reused. */
export type Send = (message: Message, abort?: AbortController) => Promise<Attempt>;

export interface SenderOptions {
  policy: Policy;
  resolve?: Resolve;
  /** For the whole request, from the DNS lookup to the last byte of the response. */
  timeoutMs?: number;
  /** Certificates to trust instead of the system's. */
  ca?: string;
  timers?: Timers;
}

const maxResponseBytes = 64 * 1024;
const maxStoredBytes = 1024;
/** How long a vetted address is reused without another DNS lookup. */
const resolvedUrlMs = 10_000;
const maxResolvedUrls = 1_000;
/** Of one name: its owner could have thousands, each of which becomes a URL of 2 kB. */
const maxAddresses = 8;

/** A URL with its host name replaced by each vetted address. */
interface ResolvedUrl {
  addresses: string[];
  host: string;
  tls: { tls?: BunFetchRequestInitTLS };
  until: number;
}

/**
 * Creates a function that sends one POST to an address that was vetted: the name is resolved once, and the connection is
 * made to that address with the URL's Host and TLS name. A DNS change after the check has no effect.
 */
export function createSender(options: SenderOptions): Send {
  const { timeoutMs = timeouts.webhookSendMs, timers = systemTimers } = options;
  const urls = new UrlResolver(options);
  const requests = new RequestTimeouts(timeoutMs, timers);

  return async (message, abort = new AbortController()) => {
    const started = timers.now();
    requests.start(abort);
    let status: number | null = null;
    let answer: string | null = null;
    let retryAfter: string | null = null;
    const ended = (outcome: AttemptOutcome, error: string | null): Attempt => {
      const ms = Math.round(timers.now() - started);
      return { outcome, ms, status, answer, error, retryAfter };
    };
    try {
      const url = urls.cached(message.url) ?? (await beforeAbort(abort.signal, urls.resolve(message.url)));
      const response = await post(message, url, abort.signal);
      status = response.status;
      if (isShort(response.headers)) answer = withoutNul(await response.text());
      else for await (const text of beginningOf(response)) answer = text;
      if (response.ok) return ended('delivered', null);
      retryAfter = response.headers.get('retry-after');
      return ended('refused', statusError(status));
    } catch (error) {
      if (abort.signal.reason === timedOut) return ended('timeout', timeoutError(status, timeoutMs));
      if (abort.signal.aborted) throw error;
      if (error instanceof Forbidden) return ended('forbidden', error.message);
      return ended('unreachable', error instanceof Unresolved ? error.message : connectionError(error));
    } finally {
      requests.end(abort);
    }
  };
}

/** Resolves URLs to vetted addresses, and caches them. */
class UrlResolver {
  readonly #policy: Policy;
  readonly #resolve: Resolve;
  readonly #ca: string | undefined;
  readonly #cache = new Map<string, ResolvedUrl>();

  constructor({ policy, resolve = resolveBySystem, ca }: SenderOptions) {
    this.#policy = policy;
    this.#resolve = resolve;
    this.#ca = ca;
  }

  cached(text: string): ResolvedUrl | undefined {
    const resolved = this.#cache.get(text);
    return resolved !== undefined && resolved.until > performance.now() ? resolved : undefined;
  }

  async resolve(text: string): Promise<ResolvedUrl> {
    const url = new URL(text);
    const name = nameOf(url);
    const vetted = await vettedAddresses(url, this.#policy, this.#resolve);
    const addresses = urlsAt(url, vetted.slice(0, maxAddresses));
    const ca = this.#ca;
    const tls = { ...(name === undefined ? {} : { servername: name }), ...(ca === undefined ? {} : { ca }) };
    const until = performance.now() + resolvedUrlMs;
    const resolved = { addresses, host: url.host, tls: url.protocol === 'https:' ? { tls } : {}, until };
    if (this.#cache.size >= maxResolvedUrls) this.#cache.clear();
    this.#cache.set(text, resolved);
    return resolved;
  }
}

const post = (
  { body, headers }: Message,
  { addresses, host, tls }: ResolvedUrl,
  signal: AbortSignal,
): Promise<Response> =>
  fetchPinned(addresses, {
    method: 'POST',
    body,
    headers: { ...headers, host, 'content-type': 'application/json', 'user-agent': 'Scanlog-Webhooks/1' },
    signal,
    ...tls,
  });

/** Most responses are short, and are read in one step. With chunks the length means nothing, and the body may be endless. */
const isShort = (headers: Headers) =>
  !headers.has('transfer-encoding') && Number(headers.get('content-length') ?? Number.NaN) <= maxStoredBytes;

/** Reads a response up to its limit, and yields its first KiB as it arrives, in case the rest never does. */
async function* beginningOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    const stored = chunk.subarray(0, Math.max(0, maxStoredBytes - size));
    // `stream` omits a character that is incomplete at the limit.
    text += withoutNul(decoder.decode(stored, { stream: true }));
    yield text;
    size += chunk.byteLength;
    if (size >= maxResponseBytes) break;
  }
  yield text;
}

/** Postgres cannot store NUL in text. */
const withoutNul = (text: string) => text.replaceAll('\u0000', '\uFFFD');

function statusError(status: number): string {
  if (status >= 300 && status < 400) return `The response was a redirect (${status}), which is not followed.`;
  return `The response had status ${status}; only a 2xx status confirms the delivery.`;
}

const timeoutError = (status: number | null, timeoutMs: number) =>
  status === null
    ? `No response within ${timeoutMs / 1000} s.`
    : `The response, with status ${status}, did not end within ${timeoutMs / 1000} s.`;

const connectionErrors: Record<string, string> = {
  ECONNREFUSED: 'The connection was refused: nothing listens there.',
  ECONNRESET: 'The connection was closed before a response arrived.',
  ETIMEDOUT: 'The connection attempt timed out.',
  EHOSTUNREACH: 'The host is unreachable.',
  ENETUNREACH: 'The network of the host is unreachable.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another name.',
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is not signed by a trusted authority (self-signed).',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate is not signed by a trusted authority (self-signed in its chain).',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate is not signed by a trusted authority (is its chain complete?).',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate is not signed by a trusted authority (is its chain complete?).',
  ResponseHeadersTooLarge: 'The headers of the response are too large.',
};

/** Why a connection has failed, as a sentence for the account. */
export function connectionError(error: unknown): string {
  const code = codeOf(error);
  const message = connectionErrors[code];
  if (message !== undefined) return message;
  if (/TLS|CERT|SSL/.test(code)) return `The TLS connection failed (${code}).`;
  return `No valid response was received (${code === '' ? messageOf(error).slice(0, 100) : code}).`;
}
