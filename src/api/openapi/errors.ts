import type { ErrorCode } from '../../lib/errors.ts';
import { statusOf } from '../http/error-status.ts';
import type { Operation } from '../http/operation.ts';
import { ErrorResponse } from '../http/schemas.ts';
import { header, refTo } from './components.ts';

/** Errors that every operation can return; `invalid_request` at least for an unknown query parameter. */
const commonErrors: ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'account_suspended',
  'insufficient_scope',
  'address_not_allowed',
  'rate_limited',
  'internal_error',
  'unavailable',
];

const causes: Record<ErrorCode, string> = {
  invalid_request: 'The request is invalid; `details` names each invalid field.',
  destination_blocked: 'The operator of the service has blocked the host of the destination.',
  unreadable_style:
    'No decoder reads the code, because of its logo, frame, gradient or quiet zone; `allow_unreadable` creates it all the same.',
  unsupported_characters: 'The font of frames lacks characters of the text; `details` names them, or their script.',
  unauthorized: 'The API key is missing, malformed, unknown, revoked or expired.',
  quota_exceeded:
    'The account has as many QR codes as its plan allows, as many test codes or logos as the operator allows, as many webhooks as a mode can have, as many domains as its plan allows, or 500 valid keys; or it has chosen as many short codes as it may in 30 days.',
  plan_required: 'The plan of the account does not include this operation.',
  account_suspended: 'The operator of the service has suspended the account; the message contains the reason.',
  live_key_required: 'The operation needs a live key, and the request has a test key.',
  insufficient_scope: 'The API key lacks the scope that the message names.',
  insufficient_role: 'In the console only: the role of the person in the account does not allow it.',
  reauthentication_required:
    'In the console only: the person, or the key of the session, must be proven again, because the last proof is older than 15 minutes.',
  wider_key: 'The new key would expire later than the API key of the request, or work from other networks.',
  address_not_allowed: 'The API key does not work from the network of the client (`allowed_cidrs`).',
  origin_not_allowed:
    'At `/mcp` only: a page of another site sent the request, or it names a host that is not the service.',
  not_found: 'It does not exist in this account and mode.',
  method_not_allowed: 'The path does not support this method; `Allow` lists the methods it supports.',
  short_code_taken: 'The short code belongs, or once belonged, to another QR code.',
  domain_taken:
    'The domain is active in another account, was removed by one within the last 30 days, or is claimed by this account already.',
  conflict: 'Other requests changed the same resource at the same time: send the request again.',
  replay_running: 'A replay of the webhook is running: a webhook has one at a time.',
  idempotency_conflict: 'The `Idempotency-Key` was used with a different request.',
  logo_in_use: 'A QR code has the logo in its style: delete that code first.',
  account_changed: 'In the console only: its session belongs to another account than the page.',
  last_owner: 'The account would have no owner.',
  already_member: 'A person with this address is a member of the account already.',
  gone: 'It was deleted.',
  disabled: 'The operator of the service has disabled it.',
  version_mismatch: 'The QR code no longer has the version that `If-Match` names; `ETag` is its version now.',
  payload_too_large: 'The body, or the uploaded image, is larger than 1 MiB.',
  unsupported_media_type:
    'The body is not of a type that the operation takes (`application/json` in UTF-8, or an image), or is compressed.',
  rate_limited: 'Too many requests in this window of 60 s; `Retry-After` is the number of seconds to wait.',
  internal_error: 'Internal error. Report the `X-Request-Id` to the operator of the service, who finds it in the log.',
  unavailable: 'A part of the service is unavailable or busy; try again after `Retry-After` seconds.',
};

const retryAfter = { 'Retry-After': header('Seconds to wait.', 5) };
const errorHeaders: Record<number, object> = {
  401: { 'WWW-Authenticate': header('Authentication scheme.', 'Bearer') },
  412: { ETag: header('The current version of the code.', '"4"') },
  429: retryAfter,
  503: retryAfter,
};

/** Errors that every operation with a body can return besides. */
const bodyErrors: ErrorCode[] = ['payload_too_large', 'unsupported_media_type'];

/** The error responses of an operation, by status. */
export function errorResponses({ errors: own, body, upload }: Operation) {
  const hasBody = body !== undefined || upload !== undefined;
  const all = new Set([...own, ...commonErrors, ...(hasBody ? bodyErrors : [])]);
  const byStatus = Map.groupBy(all, (code) => statusOf[code]);
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, errorOf(status, codes)]));
}

/** Headers that every response has are documented only with the success, to keep the errors readable. */
function errorOf(status: number, codes: ErrorCode[]) {
  const exampleOfCode = (code: ErrorCode) => ({ error: { code, message: causes[code] } });
  const examples =
    codes.length === 1
      ? { example: exampleOfCode(codes[0] as ErrorCode) }
      : { examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOfCode(code) }])) };
  const headers = errorHeaders[status];
  return {
    description: codes.map((code) => `\`${code}\`: ${causes[code]}`).join('\n\n'),
    ...(headers === undefined ? {} : { headers }),
    content: { 'application/json': { schema: refTo(ErrorResponse), ...examples } },
  };
}
