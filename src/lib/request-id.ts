import { newId } from './ids.ts';

/** The client's own id for the request when it is well-formed: it lets both sides speak of the same one. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get('x-request-id');
  return given !== null && /^[\w.-]{1,128}$/.test(given) ? given : newId('req', Date.now());
}
