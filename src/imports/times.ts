import { readTimestamp } from '../../events/timestamp.ts';

/** Digits of seconds since 1970; timestamps with more are milliseconds. */
const maxDigitsOfSeconds = 11;

/**
 * A time as other services write it: ISO 8601 with any offset, date and time without one (UTC), a date, or a number of seconds
 * or milliseconds since 1970. Undefined for everything else: a guess could be wrong by months.
 *
 * @example readTime('2020-05-01T12:00:00+0000'), readTime('2020-05-01 12:00:00'), readTime('1588334400')
 */
export function readTime(value: unknown): Date | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).trim();
  if (/^\d{9,13}$/.test(text)) {
    const ms = Number(text) * (text.length <= maxDigitsOfSeconds ? 1_000 : 1);
    return readTimestamp(new Date(ms).toISOString());
  }
  const iso = text
    .replace(/^(\d{4}-\d\d-\d\d)$/, '$1T00:00:00Z')
    .replace(/^(\d{4}-\d\d-\d\d) (?=\d)/, '$1T')
    .replace(/ ?UTC$/, 'Z')
    .replace(/([+-]\d\d)(\d\d)$/, '$1:$2')
    .replace(/(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)$/, '$1Z');
  return readTimestamp(iso);
}
