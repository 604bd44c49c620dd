/** Every error code an answer can carry, and its HTTP status. */
export const statusOf = {
  invalid_request: 400,
  destination_blocked: 400,
  unauthorized: 401,
  quota_exceeded: 403,
  plan_required: 403,
  account_suspended: 403,
  live_key_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  short_code_taken: 409,
  conflict: 409,
  idempotency_conflict: 409,
  gone: 410,
  disabled: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof statusOf;

export interface Fault {
  /** Which item of a bulk request. */
  index?: number;
  field: string;
  message: string;
}

/** What a caller is told: thrown anywhere, turned into an answer in one place. */
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

  get status(): number {
    return statusOf[this.code];
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
