import { acceptedTags } from './languages.ts';
import { type LocalTime, localTime } from './local-time.ts';
import type { When } from './targeting-schema.ts';
import { weekdays } from './targeting-words.ts';

/** What the conditions of rules are compared with. */
export interface Facts {
  country: string;
  device: string;
  browser: string;
  /** The `Accept-Language` header; empty if there is none. */
  language: string;
  atMs: number;
}

type Condition = (facts: Facts) => boolean;

/** Compiles conditions to a function, so that a scan only compares. */
export function compileWhen(when: When = {}): Condition {
  const conditions = [...conditionsOf(when)];
  return (facts) => {
    for (const holds of conditions) if (!holds(facts)) return false;
    return true;
  };
}

/** The cheapest first. */
function* conditionsOf(when: When): Generator<Condition> {
  const { from, until } = when;
  if (when.devices !== undefined) yield includes(when.devices, ({ device }) => device);
  if (when.browsers !== undefined) yield includes(when.browsers, ({ browser }) => browser);
  if (when.countries !== undefined) yield includes(when.countries, ({ country }) => country);
  if (from !== undefined) {
    const fromMs = Date.parse(from);
    yield ({ atMs }) => atMs >= fromMs;
  }
  if (until !== undefined) {
    const untilMs = Date.parse(until);
    yield ({ atMs }) => atMs < untilMs;
  }
  if (when.days !== undefined || when.hours !== undefined) yield inWeek(when);
  if (when.languages !== undefined) {
    const tags = new Set(when.languages.map((tag) => tag.toLowerCase()));
    yield ({ language }) => acceptedTags(language).some((tag) => tags.has(tag));
  }
}

function includes(values: readonly string[], factOf: (facts: Facts) => string): Condition {
  const set = new Set(values);
  return (facts) => set.has(factOf(facts));
}

const minuteOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));

function inWeek({ days, hours, timezone = 'UTC' }: When): Condition {
  const onDay = new Array<boolean>(7).fill(days === undefined);
  for (const day of days ?? []) onDay[weekdays.indexOf(day)] = true;
  const isOn = (weekday: number) => onDay[weekday] === true;
  const from = minuteOf(hours?.from ?? '00:00');
  const to = minuteOf(hours?.to ?? '24:00');
  const holds =
    from < to
      ? ({ weekday, minute }: LocalTime) => minute >= from && minute < to && isOn(weekday)
      : // After midnight, the hours belong to the day before.
        ({ weekday, minute }: LocalTime) => (minute >= from ? isOn(weekday) : minute < to && isOn((weekday + 6) % 7));
  return ({ atMs }) => holds(localTime(timezone, atMs));
}
