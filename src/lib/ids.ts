import { randomFillSync } from 'node:crypto';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Without letters and digits that look alike in any case. */
const readable = 'abcdefghjkmnpqrstuvwxyz23456789';
const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export type IdPrefix =
  | 'qr'
  | 'scan'
  | 'acct'
  | 'key'
  | 'logo'
  | 'dom'
  | 'sess'
  | 'shr'
  | 'alr'
  | 'rpt'
  | 'usr'
  | 'inv'
  | 'whd'
  | 'wh'
  | 'whr'
  | 'evt'
  | 'req'
  | 'batch'
  | 'pk';

// Filled in advance: a system call for the id of each scan would cost more than the rest of the id.
const pool = Buffer.alloc(8192);
let unused = pool.length;

function randomByte(): number {
  if (unused === pool.length) {
    randomFillSync(pool);
    unused = 0;
  }
  const byte = pool[unused] as number;
  pool[unused++] = 0;
  return byte;
}

/** `length` characters with a uniform distribution over `alphabet`. */
function randomText(alphabet: string, length: number): string {
  // Larger bytes are rejected, because the modulo would make the first characters more frequent.
  const limit = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    const byte = randomByte();
    if (byte < limit) text += alphabet[byte % alphabet.length];
  }
  return text;
}

let lastTime = -1;
let timeText = '';

/** Milliseconds as eight base62 digits, which sort by time until the year 8888. */
function timeDigits(now: number): string {
  if (now === lastTime) return timeText;
  let digits = '';
  for (let rest = now, i = 0; i < 8; i++, rest = Math.floor(rest / 62)) digits = base62[rest % 62] + digits;
  lastTime = now;
  timeText = digits;
  return digits;
}

/**
 * An id that sorts by time of creation: the time, then 83 random bits.
 *
 * @example newId('qr', Date.now()) // 'qr_0VMNcq2hE3kx0dTtWq8LbY'
 */
export function newId(prefix: IdPrefix, now: number): string {
  return `${prefix}_${timeDigits(now)}${randomText(base62, 14)}`;
}

/** Whether `text` has the format of {@link newId}. Saves a query for ids that cannot exist. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9A-Za-z]{20,40}$/.test(text.slice(prefix.length + 1));
}

/** An id of a rule or a variant of a code: the prefix and 64 random bits. */
export function newRuleId(prefix: 'r' | 'v'): string {
  return prefix + randomText(base58, 11);
}

/** Seven base58 characters: about 2 × 10¹² short codes, without characters that look alike. */
export function newShortCode(): string {
  return randomText(base58, 7);
}

/** The token of a shared page, or of a link to unsubscribe: longer than a short code can be, so that no path can name both. */
export function newShareToken(): string {
  return randomText(base62, 52);
}

/** The secret part of an API key: 43 base62 characters, 256 bits. */
export function newSecret(): string {
  return randomText(base62, 43);
}

/** A recovery code, which people write down: three groups of five characters, 74 bits. */
export function newRecoveryCode(): string {
  return [5, 5, 5].map((length) => randomText(readable, length)).join('-');
}

/** The token of a claim of a domain: 26 base58 characters, 152 bits, which people copy into the DNS. */
export function newDomainToken(): string {
  return randomText(base58, 26);
}

export const isDomainToken = (text: string): boolean => /^[1-9A-HJ-NP-Za-km-z]{26}$/.test(text);
