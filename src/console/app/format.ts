/** Formatting of numbers, times, names and URLs for display. */

const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const dateOnly = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const dateAndTime = { ...dateOnly, hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const countries = new Intl.DisplayNames('en', { type: 'region' });

export const number = (value: number) => whole.format(value);
export const compact = (value: number) => (value < 1_000_000 ? whole.format(value) : short.format(value));
export const percent = (share: number) => `${share > 0 && share < 0.01 ? '<1' : Math.round(share * 100)}%`;
/** Above this number, the service estimates the visitors of a period to 1 %. */
const maxExactVisitors = 5_000;
export const visitors = (count: number) => `${count > maxExactVisitors ? '≈ ' : ''}${number(count)}`;
/** An average: whole, or below 10 with one decimal. */
export const average = (value: number) => number(value < 10 ? Math.round(value * 10) / 10 : Math.round(value));

/** Formats of the time zone that was used last: making one costs more than using it a hundred times. */
let formats: { timeZone: string; date: Intl.DateTimeFormat; time: Intl.DateTimeFormat } | undefined;
let currentZone = () => 'UTC';

/** Sets where the time zone of all dates and times comes from. */
export const showTimesIn = (zoneOf: () => string): void => {
  currentZone = zoneOf;
};

function formatsNow() {
  const timeZone = currentZone();
  if (formats?.timeZone !== timeZone) {
    const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', { ...options, timeZone });
    formats = { timeZone, date: format(dateOnly), time: format(dateAndTime) };
  }
  return formats;
}

export const date = (iso: string) => formatsNow().date.format(new Date(iso));
export const time = (iso: string) => formatsNow().time.format(new Date(iso));
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
/** The order of names as people count: "Table 2" before "Table 10". */
export const compareNames = (a: string, b: string) => collator.compare(a, b);

export const plural = (count: number, one: string, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

export function relativeTime(iso: string, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return unit === 'second' ? 'just now' : relative.format(Math.round(seconds / size), unit);
}

/** Relative time of something that is due: "in 5 minutes", or "in a moment" within the next minute. */
export const dueTime = (iso: string) => (Date.parse(iso) - Date.now() < 60_000 ? 'in a moment' : relativeTime(iso));

export function country(code: string): string {
  if (code === 'XX') return 'Unknown';
  try {
    return countries.of(code) ?? code;
  } catch {
    return code;
  }
}

const displayNames: Record<string, string> = {
  ios: 'iPhone and iPad',
  android: 'Android',
  desktop: 'Desktop and other',
  safari: 'Safari',
  chrome: 'Chrome',
  samsung_browser: 'Samsung Internet',
  other: 'Other',
};
export const displayName = (value: string) => displayNames[value] ?? value;

/** A URL without its scheme and trailing slash. */
export const displayUrl = (url: string) => url.replace(/^https?:\/\//, '').replace(/\/$/, '');
