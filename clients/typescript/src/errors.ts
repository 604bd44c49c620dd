import type { Error as ErrorResponse } from './generated/types.gen.ts';

/** The error codes of the API, and `connection_failed` for a request that got no response. */
export type ErrorCode = ErrorResponse['error']['code'] | 'connection_failed';

export type ErrorDetail = NonNullable<ErrorResponse['error']['details']>[number];

interface ErrorFields {
  code: ErrorCode;
  message: string;
  status?: number | undefined;
  details?: ErrorDetail[] | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/**
 * A request that failed.
 *
 * @example
 * if (isScanlogError(error, 'short_code_taken')) chooseAnother();
 */
export class ScanlogError extends Error {
  override readonly name = 'ScanlogError';
  readonly code: ErrorCode;
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** Every invalid field of the request, and what it must be. */
  readonly details: ErrorDetail[];
  /** Identifies the request in the log of the service. */
  readonly requestId: string | undefined;
  /** What the service asks to wait for before the request is repeated. */
  readonly retryAfterMs: number | undefined;

  constructor({ code, message, status, details = [], requestId, retryAfterMs, cause }: ErrorFields) {
    super(message, { cause });
    this.code = code;
    this.status = status;
    this.details = details;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether an error is one of the service, and has one of the codes if any are given. */
export const isScanlogError = <C extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: C[]
): error is ScanlogError & { code: C } =>
  error instanceof ScanlogError && (codes.length === 0 || (codes as ErrorCode[]).includes(error.code));

/** The error that a response reports. A proxy before the service may answer with something else than its JSON. */
export async function errorOf(response: Response): Promise<ScanlogError> {
  const text = await response.text();
  const { status, headers } = response;
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN);
  const fields = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfter >= 0 ? retryAfter * 1_000 : undefined,
  };
  const error = readError(text);
  if (error !== undefined) return new ScanlogError({ ...fields, ...error });
  const code = status === 429 ? 'rate_limited' : status >= 500 ? 'unavailable' : 'invalid_request';
  return new ScanlogError({ ...fields, code, message: `HTTP ${status}: ${text.slice(0, 200)}` });
}

function readError(text: string): ErrorResponse['error'] | undefined {
  try {
    return (JSON.parse(text) as Partial<ErrorResponse>).error;
  } catch {
    return undefined;
  }
}
