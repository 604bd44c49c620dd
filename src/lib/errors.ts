/** The error codes of the API. src/api/http/error-status.ts maps each to an HTTP status. */
export const errorCodes = [
  'invalid_request',
  'destination_blocked',
  'unreadable_style',
  'unsupported_characters',
  'unauthorized',
  'quota_exceeded',
  'plan_required',
  'account_suspended',
  'live_key_required',
  'insufficient_scope',
  'insufficient_role',
  'reauthentication_required',
  'wider_key',
  'address_not_allowed',
  'origin_not_allowed',
  'not_found',
  'method_not_allowed',
  'short_code_taken',
  'domain_taken',
  'conflict',
  'idempotency_conflict',
  'logo_in_use',
  'replay_running',
  'account_changed',
  'last_owner',
  'already_member',
  'gone',
  'disabled',
  'version_mismatch',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal_error',
  'unavailable',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** An invalid field of a request. */
export interface FieldError {
  /** Index of the item in a bulk request. */
  index?: number;
  field: string;
  message: string;
}

/** A request or command is refused. src/api/http/responses.ts turns it into a response. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly details: FieldError[] | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, details?: FieldError[], headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

/**
 * A 400 with every invalid field in `details` and the first one in the message.
 *
 * @example
 * throw invalid([{ field: 'name', message: 'name must not be empty' }]);
 */
export function invalid(errors: [FieldError, ...FieldError[]]): Refusal {
  const [first, ...rest] = errors;
  const where = first.index === undefined ? '' : `qrcodes[${first.index}]: `;
  const more = rest.length > 0 ? ` (and ${rest.length} more, see details)` : '';
  return new Refusal('invalid_request', `${where}${first.message}${more}`, errors);
}

/** Throws a 400 with every invalid field, if there is one. */
export function refuseInvalid([first, ...rest]: readonly FieldError[]): void {
  if (first !== undefined) throw invalid([first, ...rest]);
}

/** A 503 that asks the client to retry. */
export const retryLater = (message: string, seconds = 5) =>
  new Refusal('unavailable', message, undefined, { 'retry-after': String(seconds) });

/** For a client that has closed the connection, and does not get it. */
export const requestClosed = () => retryLater('The request was closed.');

/** Ends work of which nothing would be left but a response. */
export function throwIfClosed(signal: AbortSignal): void {
  if (signal.aborted) throw requestClosed();
}

/**
 * A 404.
 *
 * @example throw notFound('webhook'); // "There is no such webhook."
 */
export const notFound = (what: string) => new Refusal('not_found', `There is no such ${what}.`);

/** The service cannot start. The message is one sentence for the operator, printed without a stack. */
export class StartError extends Error {}

/** The message of a thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The `code` of a thrown value, such as `ECONNREFUSED`, or an empty string. */
export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
