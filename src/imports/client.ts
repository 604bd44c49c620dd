import { backoff } from '../lib/backoff.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { type Item, isItem } from './link.ts';

/** Requests to the API of another service. */
export interface ApiClient {
  /** The URL that the operator gave, with its query. */
  base: URL;
  key: string | undefined;
  /** Resolves to the JSON of the response; undefined for a 404 if `mayBeMissing`. */
  get(url: URL, headers: Record<string, string>, options?: { mayBeMissing?: boolean }): Promise<unknown>;
}

const requestTimeoutMs = 60_000;
const maxAttempts = 8;
/** A rate limit of an hour is waited for; a longer one ends the import, which can be continued later. */
const maxPauseMs = 3_600_000;
const maxResponseBytes = 32 * 1024 * 1024;

interface ClientOptions {
  url: string;
  key: string | undefined;
  /** Called before a pause. */
  onPause(seconds: number, reason: string): void;
  timers?: Timers;
}

/** A client that pauses as `Retry-After` of a response says, and retries what may work later. */
export function createClient({ url, key, onPause, timers = systemTimers }: ClientOptions): ApiClient {
  const base = new URL(url);
  return {
    base,
    key,
    async get(target, headers, { mayBeMissing = false } = {}) {
      const pauses = backoff({ firstMs: 1_000, maxMs: 60_000, resetAfterMs: Number.POSITIVE_INFINITY });
      for (let attempt = 1; ; attempt++) {
        const outcome = await send(target, headers);
        if ('body' in outcome) return outcome.body;
        if (outcome.status === 404 && mayBeMissing) return undefined;
        const pauseMs = outcome.pauseMs ?? pauses.nextMs(0);
        if (!outcome.mayRetry || attempt === maxAttempts || pauseMs > maxPauseMs)
          throw new StartError(`${target.origin}${target.pathname} ${outcome.problem}.`);
        onPause(Math.ceil(pauseMs / 1_000), outcome.problem);
        await timers.sleep(pauseMs);
      }
    },
  };
}

type Outcome =
  | { body: unknown }
  | { problem: string; mayRetry: boolean; status?: number; pauseMs?: number | undefined };

async function send(target: URL, headers: Record<string, string>): Promise<Outcome> {
  try {
    // Not followed: the next host would get the key.
    const response = await fetch(target, {
      headers: { accept: 'application/json', ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    const text = await limitedText(response);
    if (response.ok) return parsed(text);
    const { status } = response;
    const place = response.headers.get('location');
    const problem =
      place === null ? `answered ${status}${hintOf(status, text)}` : `redirects to ${place}: use that URL`;
    const mayRetry = status === 429 || status >= 500;
    return { problem, mayRetry, status, pauseMs: retryAfterMs(response.headers.get('retry-after')) };
  } catch (error) {
    if (error instanceof StartError) throw error;
    return { problem: `did not answer: ${messageOf(error)}`, mayRetry: true };
  }
}

function parsed(text: string): Outcome {
  try {
    return { body: JSON.parse(text) };
  } catch {
    return { problem: 'did not answer with JSON: check the URL', mayRetry: false };
  }
}

async function limitedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > maxResponseBytes) throw new StartError('A response of the API is larger than 32 MB.');
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

function hintOf(status: number, text: string): string {
  if (status === 401 || status === 403) return ': check --key or IMPORT_KEY';
  const said = text.replaceAll(/\s+/g, ' ').slice(0, 200).trim();
  return said === '' ? '' : `: ${said}`;
}

/** The pause that a response asks for, in seconds or until a date; undefined if it asks for none. */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** The body of a response as an object; throws if it is none, which another service at this URL would cause. */
export function objectOf(body: unknown, url: URL): Item {
  if (isItem(body)) return body;
  throw new StartError(`${url.origin}${url.pathname} did not answer as expected: check the source and the URL.`);
}

/** A URL below the base, with more parameters in its query. */
export function urlBelow(base: URL, path: string, query: Record<string, string | number | undefined> = {}): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`;
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}
