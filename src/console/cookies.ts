import { sessionHours } from '../accounts/console-sessions.ts';
import { stepMinutes } from '../people/steps.ts';

const isHttps = (publicUrl: string) => publicUrl.startsWith('https:');

/** Over HTTPS, the `__Host-` prefix makes browsers reject this cookie from a subdomain or over plain HTTP. */
const sessionCookieName = (publicUrl: string) => (isHttps(publicUrl) ? '__Host-scanlog_session' : 'scanlog_session');
const oidcCookieName = (publicUrl: string) => (isHttps(publicUrl) ? '__Host-scanlog_oidc' : 'scanlog_oidc');
const deviceCookieName = (publicUrl: string) => (isHttps(publicUrl) ? '__Host-scanlog_device' : 'scanlog_device');
/** Set by the console's script and read by the server, so a page is rendered in the chosen theme from the start. */
const themeCookieName = 'scanlog_theme';

function cookieOf(headers: Headers, name: string): string | undefined {
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}

/** The session token in the request's cookie; undefined when it is missing or malformed. */
export function sessionTokenOf(headers: Headers, publicUrl: string): string | undefined {
  const token = cookieOf(headers, sessionCookieName(publicUrl));
  return token !== undefined && /^[0-9A-Za-z]{43}$/.test(token) ? token : undefined;
}

export type Theme = 'light' | 'dark';

export function themeOf(headers: Headers): Theme | undefined {
  const theme = cookieOf(headers, themeCookieName);
  return theme === 'light' || theme === 'dark' ? theme : undefined;
}

/** The device in the request's cookie, as `readDevice` takes it. */
export const deviceOf = (headers: Headers, publicUrl: string): string | undefined =>
  cookieOf(headers, deviceCookieName(publicUrl));

/** The longest that browsers keep a cookie. The session itself ends earlier, which only the database knows. */
const longestSeconds = 400 * 86_400;

/** The `Set-Cookie` value that stores the token of a session. */
export const sessionCookie = (token: string, isOwnDevice: boolean, publicUrl: string): string =>
  cookieWith(sessionCookieName(publicUrl), token, isOwnDevice ? longestSeconds : sessionHours * 3_600, publicUrl);

/** The `Set-Cookie` value that deletes the cookie. */
export const noSessionCookie = (publicUrl: string): string =>
  cookieWith(sessionCookieName(publicUrl), '', 0, publicUrl);

/** The `Set-Cookie` value that tells who signed in on this device before. It outlives the sessions, and signs no one in. */
export const deviceCookie = (device: string, publicUrl: string): string =>
  cookieWith(deviceCookieName(publicUrl), device, longestSeconds, publicUrl);

/** The step of a sign-in at the OpenID provider. */
export const oidcStepOf = (headers: Headers, publicUrl: string): string | undefined =>
  cookieOf(headers, oidcCookieName(publicUrl));

/** The `Set-Cookie` value that keeps the step. A browser must send it when the provider sends the person back. */
export const oidcCookie = (step: string, publicUrl: string): string =>
  cookieWith(oidcCookieName(publicUrl), step, stepMinutes * 60, publicUrl, 'Lax');

export const noOidcCookie = (publicUrl: string): string =>
  cookieWith(oidcCookieName(publicUrl), '', 0, publicUrl, 'Lax');

function cookieWith(
  name: string,
  value: string,
  maxAge: number,
  publicUrl: string,
  sameSite: 'Strict' | 'Lax' = 'Strict',
): string {
  // The __Host- prefix requires the path /.
  const scope = isHttps(publicUrl) ? 'Path=/; Secure' : 'Path=/console';
  return `${name}=${value}; ${scope}; Max-Age=${maxAge}; HttpOnly; SameSite=${sameSite}`;
}
