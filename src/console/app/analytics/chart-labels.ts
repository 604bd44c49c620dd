import { type Interval, isSoFar, startOf } from './period.ts';

/** The start of a bucket. */
export const secondsOf = (date: string) => startOf(date) / 1000;

/** Hours are times, which are shown in the time zone; days and months are names, which `startOf` has put into UTC. */
export const zoneOf = (interval: Interval, timezone: string) => (interval === 'hour' ? timezone : 'UTC');

const formats = {
  hour: { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  day: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
  week: { day: 'numeric', month: 'short', year: 'numeric' },
  month: { month: 'long', year: 'numeric' },
  axisHour: { hour: '2-digit', minute: '2-digit' },
  axisDay: { day: 'numeric', month: 'short' },
  axisMonth: { month: 'short', year: '2-digit' },
} satisfies Record<string, Intl.DateTimeFormatOptions>;

const format = (name: keyof typeof formats, seconds: number, timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', { ...formats[name], timeZone }).format(seconds * 1000);

/** The name of a bucket: "Mon, 2 Mar 2026, so far". */
export function bucketLabel(date: string, interval: Interval, timezone: string): string {
  const text = format(interval, secondsOf(date), zoneOf(interval, timezone));
  return `${interval === 'week' ? `Week of ${text}` : text}${isSoFar(date, interval, timezone) ? ', so far' : ''}`;
}

/** The label of an axis mark: a time, a day or a month, depending on the distance between marks. */
export function axisLabel(seconds: number, markDistance: number, timeZone: string): string {
  const clock = format('axisHour', seconds, timeZone);
  if (markDistance < 86_400 && clock !== '00:00') return clock;
  return format(markDistance < 28 * 86_400 ? 'axisDay' : 'axisMonth', seconds, timeZone);
}
