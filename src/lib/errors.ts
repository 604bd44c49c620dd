/** Every reason for a refusal. The API gives each an HTTP status (src/api/error-status.ts). */
export const errorCodes = [
  'invalid_request',
  'destination_blocked',
  'unauthorized',
  'quota_exceeded',
  'plan_required',
  'account_suspended',
  'live_key_required',
  'not_found',
  'method_not_allowed',
  'short_code_taken',
  'conflict',
  'idempotency_conflict',
  'gone',
  'disabled',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal_error',
  'unavailable',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

export interface Fault {
  /** Which item of a bulk request. */
  index?: number;
  field: string;
  message: string;
}

/** A request or command that is refused, with its reason. The API turns it into an answer in one place, src/api/answers.ts. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly details: Fault[] | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, details?: Fault[], headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

/** A 400 that says all that is wrong, the first of it in the message. */
export function invalid(faults: [Fault, ...Fault[]]): Refusal {
  const [first, ...rest] = faults;
  const where = first.index === undefined ? '' : `qrcodes[${first.index}]: `;
  const more = rest.length > 0 ? ` (and ${rest.length} more, see details)` : '';
  return new Refusal('invalid_request', `${where}${first.message}${more}`, faults);
}

export const notFound = (what: string) => new Refusal('not_found', `There is no such ${what}.`);

/** What went wrong before anything started, in one sentence for the person at the terminal. */
export class StartError extends Error {}

/** The message of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The code that the system or a library gave it, if any. */
export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
