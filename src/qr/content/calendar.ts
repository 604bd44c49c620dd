import { instantOf, timeZoneNamed, timeZoneProblem } from '../../../events/targeting/local-time.ts';
import { problemWithLine, problemWithLines } from './characters.ts';
import { escapeText, foldLines } from './lines.ts';
import type { ContentOf, ContentProblem } from './schemas.ts';

type Event = ContentOf<'event'>;

/** A moment, or a day without a time. */
type When = { atMs: number; isDay: boolean };

const dayMs = 86_400_000;
const dayPattern = /^\d{4}-\d{2}-\d{2}$/;
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(Z|[+-]\d{2}:\d{2})?$/;

const timeProblem = 'must be a time such as 2026-06-01T19:00, or a day such as 2026-06-01';

/** The moment that a text names, or what is wrong with it. */
function readTime(text: string, timezone: string | undefined): When | string {
  if (dayPattern.test(text)) {
    const atMs = Date.parse(`${text}T00:00:00Z`);
    return isOnCalendar(text, atMs) ? { atMs, isDay: true } : timeProblem;
  }
  const match = timePattern.exec(text);
  if (match === null) return timeProblem;
  if (match[1] !== undefined) {
    const atMs = Date.parse(text);
    return Number.isNaN(atMs) ? timeProblem : { atMs, isDay: false };
  }
  const localMs = Date.parse(`${text}Z`);
  if (!isOnCalendar(text, localMs)) return timeProblem;
  if (timezone === undefined) return 'needs timezone, or an offset such as +02:00 or Z';
  return { atMs: instantOf(localMs, timezone), isDay: false };
}

/** `Date.parse` takes 31 February for 3 March. */
const isOnCalendar = (text: string, atMs: number) =>
  !Number.isNaN(atMs) && new Date(atMs).toISOString().slice(0, 10) === text.slice(0, 10);

const zoneOf = ({ timezone = '' }: Event) => (timezone === '' ? undefined : timeZoneNamed(timezone));

export function problemsWithEvent(event: Event): ContentProblem[] {
  const { title, starts_at, ends_at = '', timezone = '', location = '', description = '' } = event;
  const problems: ContentProblem[] = [];
  const add = (field: string, problem: string | undefined) => {
    if (problem !== undefined) problems.push({ field, problem });
  };
  add('title', title.trim() === '' ? 'must not be empty' : problemWithLine(title));
  add('location', problemWithLine(location));
  add('description', problemWithLines(description));
  if (timezone !== '' && zoneOf(event) === undefined) {
    add('timezone', timeZoneProblem);
    return problems;
  }
  const start = readTime(starts_at, zoneOf(event));
  if (typeof start === 'string') add('starts_at', start);
  if (ends_at === '') return problems;
  const end = readTime(ends_at, zoneOf(event));
  if (typeof end === 'string') add('ends_at', end);
  else if (typeof start === 'object' && start.isDay !== end.isDay)
    add('ends_at', start.isDay ? 'must be a day, like starts_at' : 'must have a time, like starts_at');
  else if (typeof start === 'object' && (end.atMs < start.atMs || (end.atMs === start.atMs && !end.isDay)))
    add('ends_at', 'must be after starts_at');
  return problems;
}

/**
 * Times are written in UTC, which needs no description of the time zone in the file and is the same moment on every phone.
 * Call it for an event without problems.
 */
export function writeEvent(event: Event): string {
  const { title, starts_at, ends_at = '', location = '', description = '' } = event;
  const moment = (text: string) => {
    const when = readTime(text, zoneOf(event));
    if (typeof when === 'string') throw new RangeError(`${text} ${when}`);
    return when;
  };
  const start = moment(starts_at);
  const end = ends_at === '' ? undefined : moment(ends_at);
  const body = [
    timeLine('DTSTART', start),
    // The day after the last one.
    ...(end === undefined ? [] : [timeLine('DTEND', end.isDay ? { atMs: end.atMs + dayMs, isDay: true } : end)]),
    `SUMMARY:${escapeText(title)}`,
    ...(location === '' ? [] : [`LOCATION:${escapeText(location)}`]),
    ...(description === '' ? [] : [`DESCRIPTION:${escapeText(description)}`]),
  ];
  return foldLines([
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Scanlog//EN',
    'BEGIN:VEVENT',
    // The same event has the same UID: a calendar adds it once, however often it is scanned.
    `UID:${fingerprint(body.join('\n'))}`,
    // Required, and meant for updates, which a printed code never has: the same event always gives the same image.
    `DTSTAMP:${stamp(start.atMs)}`,
    ...body,
    'END:VEVENT',
    'END:VCALENDAR',
  ]);
}

const timeLine = (property: string, { atMs, isDay }: When) =>
  isDay ? `${property};VALUE=DATE:${stamp(atMs).slice(0, 8)}` : `${property}:${stamp(atMs)}`;

/** `20260601T170000Z` */
const stamp = (atMs: number) => `${new Date(atMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;

/** FNV-1a of 64 bits: no crypto, because the console computes it too, without waiting. */
function fingerprint(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(36);
}
