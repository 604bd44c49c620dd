import { currentMode } from './router.ts';

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

type Query = Record<string, string | number | undefined>;

/** The URL of an API operation in the current mode: `apiUrl('/qrcodes', { page: 2 })`. */
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
      // Other sites cannot set a custom header without a CORS preflight; the server requires it on writes.
      headers: { 'x-scanlog-console': '1', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { code: 'offline', message: 'Cannot reach the service. Check your connection.' });
  }
  if (response.ok) return response.json();
  const errorResponse = await response.json().catch(() => undefined);
  const error: ErrorBody = errorResponse?.error ?? {
    code: 'unknown',
    message: `The service responded with status ${response.status}.`,
  };
  // The session has ended: reloading shows the sign-in page, which returns here afterwards.
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

export const errorMessage = (error: unknown) => (error instanceof Error ? error.message : String(error));
