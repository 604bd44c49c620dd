import { byteLength } from '../capacity.ts';
import { problemWithLine } from './characters.ts';
import type { ContentOf, ContentProblem } from './schemas.ts';

type Wifi = ContentOf<'wifi'>;
type Security = NonNullable<Wifi['security']>;

const isHex = (text: string) => /^[0-9A-Fa-f]+$/.test(text);

const securityOf = ({ security, password = '' }: Wifi): Security => security ?? (password === '' ? 'nopass' : 'WPA');

/** The key itself in hexadecimal digits, instead of a password that it is computed from. */
function isRawKey(security: Security, password: string): boolean {
  const lengths = security === 'WEP' ? [10, 26, 32] : [64];
  return isHex(password) && lengths.includes(password.length);
}

export function problemsWithWifi(wifi: Wifi): ContentProblem[] {
  const { ssid, password = '' } = wifi;
  const problems: ContentProblem[] = [];
  const add = (field: string, problem: string | undefined) => {
    if (problem !== undefined && !problems.some((other) => other.field === field)) problems.push({ field, problem });
  };
  add('ssid', problemWithLine(ssid));
  const ssidBytes = byteLength(ssid);
  if (ssidBytes < 1 || ssidBytes > 32) add('ssid', `must have 1 to 32 bytes, and has ${ssidBytes}`);
  add('password', problemWithLine(password));
  add('password', problemWithPassword(securityOf(wifi), password));
  return problems;
}

function problemWithPassword(security: Security, password: string): string | undefined {
  const bytes = byteLength(password);
  switch (security) {
    case 'nopass':
      return password === '' ? undefined : 'must be left out for a network without one (nopass)';
    case 'WEP':
      if (isRawKey(security, password) || [5, 13, 16].includes(bytes)) return undefined;
      return `must have 5, 13 or 16 characters, or 10, 26 or 32 hexadecimal digits, for WEP, and has ${bytes}`;
    default:
      if (isRawKey(security, password) || (bytes >= 8 && bytes <= 63)) return undefined;
      return `must have 8 to 63 bytes, or 64 hexadecimal digits, for ${security}, and has ${bytes}`;
  }
}

/**
 * A network as phones read it, by the convention of ZXing.
 *
 * @example
 * writeWifi({ type: 'wifi', ssid: 'Café; bar', password: 'cafe1234' }); // WIFI:T:WPA;S:Café\; bar;P:"cafe1234";;
 */
export function writeWifi(wifi: Wifi): string {
  const { ssid, password = '', hidden = false } = wifi;
  const security = securityOf(wifi);
  const parts = [`T:${security === 'WPA2' || security === 'WPA3' ? 'WPA' : security}`];
  // The WPA3 specification of the Wi-Fi Alliance: the network has no transition mode for older devices.
  if (security === 'WPA3') parts.push('R:1');
  parts.push(`S:${quoted(ssid)}`);
  if (security !== 'nopass') parts.push(`P:${isRawKey(security, password) ? password : quoted(password)}`);
  if (hidden) parts.push('H:true');
  return `WIFI:${parts.join(';')};;`;
}

/** In quotes, if it could be taken for bytes in hexadecimal digits. */
const quoted = (text: string) => (isHex(text) ? `"${text}"` : text.replaceAll(/[\\;,:"]/g, '\\$&'));
