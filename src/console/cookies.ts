const isHttps = (publicUrl: string) => publicUrl.startsWith('https:');

/**
 * The session's token. Never readable by script, never sent with a request that another site has caused. Over TLS its
 * name makes browsers refuse it from a neighbour under the same domain, or from plain HTTP.
 */
const sessionCookie = (publicUrl: string) => (isHttps(publicUrl) ? '__Host-scanlog_session' : 'scanlog_session');
/** Light or dark, where a person has chosen: set by the console's script, read when a page is made, so it never flickers. */
const themeCookie = 'scanlog_theme';

function cookieOf(headers: Headers, name: string): string | undefined {
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}

/** The token that a request carries, unless it cannot be one. */
export function tokenOf(headers: Headers, publicUrl: string): string | undefined {
  const token = cookieOf(headers, sessionCookie(publicUrl));
  return token !== undefined && /^[0-9A-Za-z]{43}$/.test(token) ? token : undefined;
}

export type Theme = 'light' | 'dark';

export function themeOf(headers: Headers): Theme | undefined {
  const theme = cookieOf(headers, themeCookie);
  return theme === 'light' || theme === 'dark' ? theme : undefined;
}

/** A `Set-Cookie` for a token; without one, the end of it. `publicUrl` tells whether the browser comes over TLS. */
export function setSession(token: string | undefined, seconds: number, publicUrl: string): string {
  const lasting = token === undefined ? 0 : seconds;
  // A name with __Host- needs the path /.
  const where = isHttps(publicUrl) ? 'Path=/; Secure' : 'Path=/console';
  return `${sessionCookie(publicUrl)}=${token ?? ''}; ${where}; Max-Age=${lasting}; HttpOnly; SameSite=Strict`;
}
