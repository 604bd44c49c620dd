import { instantOf, offsetOf } from '../../../../events/targeting/local-time.ts';

/** Conversion between timestamps and the value of a `datetime-local` input in a time zone. */

/** `2026-12-01T09:00` for a timestamp; an empty text stays empty. */
export const toLocal = (iso: string, timeZone: string): string => {
  const atMs = Date.parse(iso);
  return Number.isNaN(atMs) ? '' : new Date(atMs + offsetOf(timeZone, atMs)).toISOString().slice(0, 16);
};

/** The timestamp of a local time: see `instantOf` for those that the clocks skip or repeat. */
export function toIso(local: string, timeZone: string): string {
  const localMs = Date.parse(`${local}Z`);
  return Number.isNaN(localMs) ? '' : new Date(instantOf(localMs, timeZone)).toISOString();
}

const dateText = { day: 'numeric', month: 'short', year: 'numeric' } as const;

/** "1 Dec 2026", or "1 Dec 2026, 09:30" if it is not midnight. */
export function dateTimeText(iso: string, timeZone: string): string {
  const time = toLocal(iso, timeZone).slice(11);
  const date = new Intl.DateTimeFormat('en-GB', { ...dateText, timeZone }).format(new Date(iso));
  return time === '00:00' ? date : `${date}, ${time}`;
}

/** "Berlin time" for `Europe/Berlin`. */
export const zoneName = (timeZone: string) =>
  timeZone === 'UTC' ? 'UTC' : `${timeZone.slice(timeZone.lastIndexOf('/') + 1).replaceAll('_', ' ')} time`;
