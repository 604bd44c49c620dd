import { proveAgain } from './reauthentication.ts';
import { currentMode } from './router.ts';
import { currentSession, loseSession, sessionRestored } from './session.ts';
import { bootstrap } from './welcome.ts';

/** An error response of the service, or status 0 when the service cannot be reached. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: { index?: number; field: string; message: string }[];

  constructor(status: number, { code, message, details = [] }: ErrorBody) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }

  /** Whether a retry may succeed: offline, rate limited or unavailable. */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 429 || this.status === 503;
  }
}

interface ErrorBody {
  code: string;
  message: string;
  details?: ApiError['details'];
}

/** A list is sent as one parameter for each item. */
export type Query = Record<string, string | number | string[] | undefined>;

/** The URL of an API operation in the current mode and the account of this page: `apiUrl('/qrcodes', { page: 2 })`. */
export function apiUrl(path: string, query: Query = {}): string {
  const search = new URLSearchParams({ mode: currentMode(), account: bootstrap.account.id });
  for (const [name, value] of Object.entries(query))
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== undefined) search.append(name, String(item));
  return `/console/api${path}?${search}`;
}

interface Options {
  body?: unknown;
  accept?: string | undefined;
  headers?: Record<string, string>;
  /** Sent as it is, instead of a JSON body. */
  file?: Blob | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The response; throws an `ApiError` for an error, and reports a session that no longer fits this page. What asks for a new
 * proof of who the user is was not done, and is repeated when the user has given one.
 */
async function request(method: string, url: string, options: Options): Promise<Response> {
  for (;;) {
    const session = currentSession();
    try {
      return await send(method, url, options);
    } catch (error) {
      if (isSessionError(error)) {
        // Refused because of the session before the last sign-in: nothing was done.
        if (currentSession() !== session) continue;
        loseSession(error.status === 401 ? 'ended' : 'other_account', error.message);
      }
      if (!(error instanceof ApiError && error.code === 'reauthentication_required')) throw error;
      if (!(await proveAgain()))
        throw new ApiError(error.status, {
          code: 'not_proven',
          message: 'Nothing was done, because you did not confirm that it is you.',
        });
    }
  }
}

async function send(method: string, url: string, { body, file, headers, accept, signal }: Options): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      // Other sites cannot set a custom header without a CORS preflight; the server requires it on writes.
      headers: {
        'x-scanlog-console': '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(file === undefined ? {} : { 'content-type': file.type }),
        ...(accept === undefined ? {} : { accept }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(file === undefined ? {} : { body: file }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { code: 'offline', message: 'Cannot reach the service. Check your connection.' });
  }
  if (response.ok) return response;
  const errorResponse = await response.json().catch(() => undefined);
  const error: ErrorBody = errorResponse?.error ?? {
    code: 'unknown',
    message: `The service responded with status ${response.status}.`,
  };
  throw new ApiError(response.status, error);
}

/** Whether the page shows the error already, by asking the user to sign in. */
export const isSessionError = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 401 || error.code === 'account_changed');

/** Reads wait for the user to sign in again, and are repeated then. Writes fail: only the user repeats them. */
async function read(url: string, { signal, accept }: Omit<Options, 'body'> = {}): Promise<Response> {
  for (;;) {
    try {
      return await request('GET', url, { signal, accept });
    } catch (error) {
      if (!isSessionError(error)) throw error;
      await sessionRestored(signal);
    }
  }
}

const write = async <T>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<T> => (await request(method, apiUrl(path), { body, headers })).json();

async function* linesOf<T>(response: Promise<Response>): AsyncGenerator<T[]> {
  const { body } = await response;
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; reader !== undefined; ) {
    const { done, value } = await reader.read().catch(() => {
      throw new ApiError(0, { code: 'interrupted', message: 'The connection was closed before the end.' });
    });
    const lines = `${rest}${value ?? ''}`.split('\n');
    rest = lines.pop() ?? '';
    if (lines.length > 0) yield lines.map((line) => JSON.parse(line) as T);
    if (done) return;
  }
}

export const api = {
  get: async <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
    (await read(apiUrl(path, query), { signal })).json(),
  file: async (path: string, query?: Query, accept?: string): Promise<Blob> =>
    (await read(apiUrl(path, query), { accept })).blob(),
  fileFrom: async (path: string, body: unknown): Promise<Blob> =>
    (await request('POST', apiUrl(path), { body })).blob(),
  post: <T>(path: string, body?: unknown, headers?: Record<string, string>) => write<T>('POST', path, body, headers),
  upload: async <T>(path: string, file: Blob): Promise<T> => (await request('POST', apiUrl(path), { file })).json(),
  /** Uploads a file, and yields the JSON lines of the response as they arrive. */
  lines: <T>(path: string, query: Query, file: Blob, signal: AbortSignal) =>
    linesOf<T>(request('POST', apiUrl(path, query), { file, signal })),
  put: <T>(path: string, body: unknown) => write<T>('PUT', path, body),
  patch: <T>(path: string, body: unknown) => write<T>('PATCH', path, body),
  delete: <T>(path: string) => write<T>('DELETE', path),
};

/** Whether the session of the browser can be used by this page again: the user may have signed in in another tab. */
export const hasSession = () =>
  request('GET', apiUrl('/account'), {}).then(
    () => true,
    (error) => !isSessionError(error) && !(error instanceof ApiError && error.isTransient),
  );

export const errorMessage = (error: unknown) => (error instanceof Error ? error.message : String(error));
