import type { ErrorCode } from '../../lib/errors.ts';

/** The HTTP status of every error code. */
export const statusOf = {
  invalid_request: 400,
  destination_blocked: 400,
  unreadable_style: 400,
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
  logo_in_use: 409,
  replay_running: 409,
  account_changed: 409,
  gone: 410,
  disabled: 410,
  version_mismatch: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>;
