import { currentMode } from './router.ts';

/** What the service refused, in its own words. */
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

  /** Whether the same request may work in a moment: out of reach, too many, away. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status === 503;
  }
}

interface ErrorBody {
  code: string;
  message: string;
  details?: ApiError['details'];
}

type Query = Record<string, string | number | undefined>;

/** The address of an operation, for requests and for links to files. */
export function apiUrl(path: string, query: Query = {}): string {
  const search = new URLSearchParams({ mode: currentMode() });
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `/console/api${path}?${search}`;
}

async function send<T>(method: string, url: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      // A request that another site could make has no header of its own.
      headers: { 'x-scanlog-console': '1', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { code: 'offline', message: 'The service cannot be reached. Check your connection.' });
  }
  if (response.ok) return response.json();
  const answer = await response.json().catch(() => undefined);
  const error: ErrorBody = answer?.error ?? { code: 'unknown', message: `The service answered ${response.status}.` };
  // The session has ended: the page that the server makes now asks to sign in, and leads back here.
  if (response.status === 401) location.reload();
  throw new ApiError(response.status, error);
}

export const api = {
  get: <T>(path: string, query?: Query, signal?: AbortSignal) => send<T>('GET', apiUrl(path, query), undefined, signal),
  post: <T>(path: string, body?: unknown) => send<T>('POST', apiUrl(path), body),
  put: <T>(path: string, body: unknown) => send<T>('PUT', apiUrl(path), body),
  patch: <T>(path: string, body: unknown) => send<T>('PATCH', apiUrl(path), body),
  delete: <T>(path: string) => send<T>('DELETE', apiUrl(path)),
};

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
