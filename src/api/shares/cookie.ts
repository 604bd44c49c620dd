import type { OpenedShare } from '../../accounts/shares.ts';
import type { SecretBox } from '../../lib/secret-box.ts';

const cookieName = 'scanlog_share';
const validSeconds = 86_400;

type Opened = Pick<OpenedShare, 'id' | 'password_hash' | 'frame_origins'>;

/** Bound to the password: another one ends it. */
const signatureOf = (box: SecretBox, { id, password_hash }: Opened, until: string) =>
  box.tokenOf(`share ${id} ${password_hash} ${until}`);

/** The `Set-Cookie` values that keep a share open in a browser for a day, one for the page and one for its JSON. */
export function openCookies(box: SecretBox, share: Opened, path: string, publicUrl: string, now: Date): string[] {
  const until = String(now.getTime() + validSeconds * 1000);
  const isHttps = publicUrl.startsWith('https:');
  // In a frame of another site, browsers send only cookies that are made for this.
  const scope = share.frame_origins.length > 0 && isHttps ? 'SameSite=None; Partitioned' : 'SameSite=Lax';
  const value = `${cookieName}=${until}.${signatureOf(box, share, until)}`;
  return [path, `${path}.json`].map(
    (one) => `${value}; Path=${one}; Max-Age=${validSeconds}; HttpOnly; ${scope}${isHttps ? '; Secure' : ''}`,
  );
}

/** Whether a request has a cookie that opens the share. */
export function isOpened(box: SecretBox, share: Opened, headers: Headers, now: Date): boolean {
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const [name, value = ''] = pair.trim().split('=', 2);
    const [until = '', signature] = value.split('.', 2);
    if (name === cookieName && Number(until) > now.getTime() && signature === signatureOf(box, share, until))
      return true;
  }
  return false;
}
