import { newId } from './ids.ts';

/** The client's `X-Request-Id` if it is well-formed, so that both sides log the same id; otherwise a new id. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get('x-request-id');
  return given !== null && /^[\w.-]{1,128}$/.test(given) ? given : newId('req', Date.now());
}
