import { errorOf, ScanlogError } from './errors.ts';
import { idempotentPaths } from './generated/idempotent.gen.ts';
import { backoffMs, type Sleep, sleep } from './sleep.ts';

/** Windows of rate limits are 60 s: a longer pause is left to the caller. */
const maxRetryAfterMs = 60_000;

export interface ScanlogOptions {
  /** An API key, `sk_live_…` or `sk_test_…`. */
  key: string;
  /** Where the service is: `https://qr.example.com`. */
  baseUrl: string;
  /** How often a request is repeated after a rate limit, an overload or a lost connection. Default: 3. */
  maxRetries?: number;
  /** The time to wait for a response to begin. Default: 60,000. */
  timeoutMs?: number;
  /** Replaces the `fetch` of the platform. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Replaces the pauses before repeated requests, for tests. */
  sleep?: Sleep;
}

/** The parts of a request that an operation can have. */
export interface TDataShape {
  body?: unknown;
  headers?: unknown;
  path?: unknown;
  query?: unknown;
  url: string;
}

/** The options of an operation: its body, path, query and headers. */
export type Options<Data extends TDataShape = TDataShape, _ThrowOnError = boolean> = Omit<Data, 'url'> & {
  client: Scanlog;
  headers?: Record<string, string | undefined>;
  /** Cancels the request, and the pause before it is repeated. */
  signal?: AbortSignal;
};

/** An operation resolves with its response, and rejects with a `ScanlogError`. */
export type RequestResult<Responses, _Errors = unknown, _ThrowOnError = boolean> = Promise<Responses[keyof Responses]>;

export interface RequestOptions {
  url: string;
  signal?: AbortSignal;
  body?: unknown;
  headers?: unknown;
  path?: unknown;
  query?: unknown;
  /** Null if the generator knows that the body is no JSON, which the body shows by itself. */
  bodySerializer?: null;
}

type Method = <Responses, Errors = unknown, ThrowOnError = boolean>(
  options: RequestOptions,
) => RequestResult<Responses, Errors, ThrowOnError>;

/**
 * A connection to a service, which operations are called with.
 *
 * @example
 * const client = new Scanlog({ key: 'sk_live_…', baseUrl: 'https://qr.example.com' });
 * const code = await createQrCode({ client, body: { name: 'Menu', destination_url: 'https://example.com' } });
 */
export class Scanlog {
  readonly #options: Required<ScanlogOptions>;
  readonly get: Method = (options) => this.#call('GET', options);
  readonly post: Method = (options) => this.#call('POST', options);
  readonly put: Method = (options) => this.#call('PUT', options);
  readonly patch: Method = (options) => this.#call('PATCH', options);
  readonly delete: Method = (options) => this.#call('DELETE', options);

  constructor({ key, baseUrl, maxRetries = 3, timeoutMs = 60_000, ...replaced }: ScanlogOptions) {
    this.#options = {
      key,
      baseUrl: baseUrl.replace(/\/+$/, ''),
      maxRetries,
      timeoutMs,
      fetch: replaced.fetch ?? ((url, init) => fetch(url, init)),
      sleep: replaced.sleep ?? sleep,
    };
  }

  /** Pauses as this client does before repeated requests. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#options.sleep(ms, signal);
  }

  async #call<Responses>(method: string, options: RequestOptions): Promise<Responses[keyof Responses]> {
    const response = await this.send(method, options);
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    try {
      return (await (isJson ? response.json() : response.blob())) as Responses[keyof Responses];
    } catch (cause) {
      options.signal?.throwIfAborted();
      throw this.#connectionFailed('gave no complete response', cause);
    }
  }

  #connectionFailed(what: string, cause: unknown): ScanlogError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new ScanlogError({
      code: 'connection_failed',
      message: `${this.#options.baseUrl} ${what}: ${reason}`,
      cause,
    });
  }

  /** Sends a request until it succeeds or must not be repeated, and resolves with the response, whose body is not read. */
  async send(method: string, options: RequestOptions): Promise<Response> {
    const headers = this.#headersOf(method, options);
    const isRepeatable = method !== 'POST' || headers.has('idempotency-key');
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#sendOnce(method, options, headers);
      if (!(outcome instanceof ScanlogError)) return outcome;
      if (attempt >= this.#options.maxRetries || !mayRepeat(outcome, isRepeatable)) throw outcome;
      await this.#options.sleep(outcome.retryAfterMs ?? backoffMs(attempt), options.signal);
    }
  }

  #headersOf(method: string, { url, headers, body }: RequestOptions): Headers {
    const sent = new Headers(definedOf(headers));
    sent.set('authorization', `Bearer ${this.#options.key}`);
    // The media type that the generator has chosen is one of several that the operation accepts.
    if (body instanceof Blob && body.type !== '') sent.set('content-type', body.type);
    if (method === 'POST' && idempotentPaths.includes(url) && !sent.has('idempotency-key'))
      sent.set('idempotency-key', randomText());
    return sent;
  }

  async #sendOnce(method: string, options: RequestOptions, headers: Headers): Promise<Response | ScanlogError> {
    const { body, signal } = options;
    const url = this.#options.baseUrl + pathOf(options);
    signal?.throwIfAborted();
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), this.#options.timeoutMs);
    try {
      const response = await this.#options.fetch(url, {
        method,
        headers,
        signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
        ...(body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) }),
      });
      return response.ok ? response : await errorOf(response);
    } catch (cause) {
      signal?.throwIfAborted();
      return this.#connectionFailed('gave no response', cause);
    } finally {
      // A body may take longer, and the signal of the caller still cancels it.
      clearTimeout(timer);
    }
  }
}

/** A rate limit refuses a request before anything is done; after any other failure it may have been done. */
const mayRepeat = ({ code, status = 500, retryAfterMs = 0 }: ScanlogError, isRepeatable: boolean): boolean =>
  retryAfterMs <= maxRetryAfterMs && (code === 'rate_limited' || (isRepeatable && status >= 500));

const isRaw = (body: unknown): body is Blob | FormData | Uint8Array<ArrayBuffer> =>
  body instanceof Blob || body instanceof FormData || body instanceof Uint8Array;

const entriesOf = (values: unknown): [string, unknown][] =>
  Object.entries((values ?? {}) as Record<string, unknown>).filter(([, value]) => value !== undefined);

const definedOf = (headers: unknown): [string, string][] =>
  entriesOf(headers).map(([name, value]) => [name, String(value)]);

/** `/v1/qrcodes/{id}?tag=a&tag=b` with the values of the request. */
function pathOf({ url, path, query }: RequestOptions): string {
  let filled = url;
  for (const [name, value] of entriesOf(path)) {
    const text = String(value);
    // These would make it the path of another operation, also if they were encoded.
    if (/^\.{0,2}$/.test(text))
      throw new ScanlogError({ code: 'invalid_request', message: `${name} must not be ${JSON.stringify(text)}.` });
    filled = filled.replace(`{${name}}`, encodeURIComponent(text));
  }
  const pairs = entriesOf(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)] as [string, string]),
  );
  return pairs.length === 0 ? filled : `${filled}?${new URLSearchParams(pairs)}`;
}

/** `crypto.randomUUID` is missing in browsers on pages without TLS. */
const randomText = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
