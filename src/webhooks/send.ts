import { beforeAbort } from '../lib/before-abort.ts';
import { codeOf, messageOf } from '../lib/errors.ts';
import {
  Forbidden,
  nameOf,
  type Policy,
  type Resolve,
  resolveBySystem,
  Unresolved,
  vettedAddresses,
} from './destination.ts';
import { createWatch, tooLate } from './watch.ts';

/** How an attempt ended, for the metrics. */
export type Outcome = 'delivered' | 'refused' | 'timeout' | 'unreachable' | 'forbidden';

/** What came back. */
export interface Attempt {
  outcome: Outcome;
  ms: number;
  /** Of the answer, when there was one. */
  status: number | null;
  /** The first KiB of the answer. */
  answer: string | null;
  /** What went wrong, in words for the account. */
  error: string | null;
  retryAfter: string | null;
}

export interface Message {
  url: string;
  body: string;
  headers: Record<string, string>;
}

/** `abort` lets whoever sends end it early; then it rejects. Until it is aborted, it may be used again. */
export type Send = (message: Message, abort?: AbortController) => Promise<Attempt>;

export interface SenderOptions {
  policy: Policy;
  resolve?: Resolve;
  /** From looking up the name to the last byte of the answer. */
  timeoutMs?: number;
  /** Certificates to trust instead of the system's. */
  ca?: string;
}

export const sendTimeoutMs = 15_000;
const read = { most: 64 * 1024, kept: 1024 };
/** For how long a vetted address is used again without asking for it anew. */
const addressMs = 10_000;

/** A URL, with the addresses in place of its name that may be called. */
interface Way {
  addresses: string[];
  host: string;
  tls: { tls?: BunFetchRequestInitTLS };
  until: number;
}

/**
 * Sends one POST to the very address that was vetted: the name is resolved once, here, and the connection is made to
 * what came back, under the URL's own Host and TLS name. Whatever name servers say a moment later changes nothing.
 */
export function createSender(options: SenderOptions): Send {
  const { policy, resolve = resolveBySystem, timeoutMs = sendTimeoutMs, ca } = options;
  const known = new Map<string, Way>();
  const watch = createWatch(timeoutMs);

  async function findWay(text: string): Promise<Way> {
    const url = new URL(text);
    const name = nameOf(url);
    const vetted = await vettedAddresses(url, policy, resolve);
    const addresses = vetted.map((address) => {
      const place = address.includes(':') ? `[${address}]` : address;
      return `${url.protocol}//${place}${url.port === '' ? '' : `:${url.port}`}${url.pathname}${url.search}`;
    });
    const tls = { ...(name === undefined ? {} : { servername: name }), ...(ca === undefined ? {} : { ca }) };
    const until = performance.now() + addressMs;
    const way = { addresses, host: url.host, tls: url.protocol === 'https:' ? { tls } : {}, until };
    if (known.size >= 1_000) known.clear();
    known.set(text, way);
    return way;
  }

  async function post({ url, body, headers }: Message, signal: AbortSignal): Promise<Response> {
    const before = known.get(url);
    const isFresh = before !== undefined && before.until > performance.now();
    const { addresses, host, tls } = isFresh ? before : await beforeAbort(signal, findWay(url));
    const request: BunFetchRequestInit = {
      method: 'POST',
      body,
      headers: { ...headers, host, 'content-type': 'application/json', 'user-agent': 'Scanlog-Webhooks/1' },
      redirect: 'manual',
      // An answer of a few bytes must not unpack into gigabytes.
      decompress: false,
      signal,
      ...tls,
    };
    for (const address of addresses.slice(0, -1)) {
      try {
        return await fetch(address, request);
      } catch (error) {
        // Nothing was sent yet: the next address of the same name may be the one that listens.
        if (codeOf(error) !== 'ECONNREFUSED') throw error;
      }
    }
    return fetch(addresses.at(-1) as string, request);
  }

  return async (message, abort = new AbortController()) => {
    const started = performance.now();
    watch.begin(abort, started);
    let status: number | null = null;
    let answer: string | null = null;
    let retryAfter: string | null = null;
    const ended = (outcome: Outcome, error: string | null): Attempt => {
      const ms = Math.round(performance.now() - started);
      return { outcome, ms, status, answer, error, retryAfter };
    };
    try {
      const response = await post(message, abort.signal);
      status = response.status;
      // The usual answer is short, and read in one step.
      if (Number(response.headers.get('content-length') ?? Number.NaN) <= read.kept)
        answer = printable(await response.text());
      else for await (const text of beginningOf(response)) answer = text;
      if (response.ok) return ended('delivered', null);
      retryAfter = response.headers.get('retry-after');
      return ended('refused', wordsOfStatus(status));
    } catch (error) {
      if (abort.signal.reason === tooLate) return ended('timeout', wordsOfSilence(status, timeoutMs));
      if (abort.signal.aborted) throw error;
      if (error instanceof Forbidden) return ended('forbidden', error.message);
      return ended('unreachable', error instanceof Unresolved ? error.message : wordsOf(error));
    } finally {
      watch.end(abort);
    }
  };
}

/** Reads an answer to its end or limit; tells what it has of the first KiB, should the rest never come. */
async function* beginningOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += textOf(decoder, chunk.subarray(0, Math.max(0, read.kept - size)));
    yield text;
    size += chunk.byteLength;
    if (size >= read.most) break;
  }
  yield text;
}

/** Without its end, the last character may be half: the decoder keeps it back. */
const textOf = (decoder: TextDecoder, bytes: Uint8Array) => printable(decoder.decode(bytes, { stream: true }));

/** Postgres keeps no NUL in a text. */
const printable = (text: string) => text.replaceAll('\u0000', '\uFFFD');

function wordsOfStatus(status: number): string {
  if (status >= 300 && status < 400) return `The answer was a redirect (${status}), which is not followed.`;
  return `The answer had status ${status}; only 2xx means that it was received.`;
}

const wordsOfSilence = (status: number | null, timeoutMs: number) =>
  status === null
    ? `No answer within ${timeoutMs / 1000} s.`
    : `The answer, with status ${status}, did not end within ${timeoutMs / 1000} s.`;

const reasons: Record<string, string> = {
  ECONNREFUSED: 'The connection was refused: nothing listens there.',
  ECONNRESET: 'The connection was closed before an answer came.',
  ETIMEDOUT: 'The connection could not be made in time.',
  EHOSTUNREACH: 'There is no way to that address.',
  ENETUNREACH: 'There is no way to that address.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another name.',
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is signed by nobody we trust (self-signed).',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate is signed by nobody we trust (self-signed in its chain).',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate is signed by nobody we trust (is its chain complete?).',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate is signed by nobody we trust (is its chain complete?).',
  ResponseHeadersTooLarge: 'The headers of the answer were too large.',
};

function wordsOf(error: unknown): string {
  const code = codeOf(error);
  const known = reasons[code];
  if (known !== undefined) return known;
  if (/TLS|CERT|SSL/.test(code)) return `No secure connection could be made (${code}).`;
  return `No answer that could be read came back (${code === '' ? messageOf(error).slice(0, 100) : code}).`;
}
