import type { Rule, When } from '../../../../events/targeting/targeting-schema.ts';
import { type Weekday, weekdays } from '../../../../events/targeting/targeting-words.ts';
import { displayDestination } from '../codes/destination.ts';
import { country } from '../format.ts';
import { dayChoices, language } from './words.ts';
import { dateTimeText, zoneName } from './zoned-time.ts';

/** Rules in words. `ownZone` is the time zone of the reader, which is not named. */

const deviceWords: Record<string, string> = { ios: 'iPhone or iPad', android: 'Android', desktop: 'a computer' };
const browserWords: Record<string, string> = {
  safari: 'Safari',
  chrome: 'Chrome',
  samsung_browser: 'Samsung Internet',
  other: 'another browser',
};

const anyOf = new Intl.ListFormat('en', { type: 'disjunction' });
const allOf = new Intl.ListFormat('en', { type: 'conjunction' });

const dayName = (day: Weekday) => new Map(dayChoices).get(day) ?? day;

/** "Monday to Friday", "Saturday and Sunday", "Monday, Wednesday and Friday". */
export function daysText(days: readonly Weekday[]): string {
  const runs: Weekday[][] = [];
  for (const day of weekdays) {
    if (!days.includes(day)) continue;
    const last = runs.at(-1)?.at(-1);
    if (last !== undefined && weekdays.indexOf(day) === weekdays.indexOf(last) + 1) runs.at(-1)?.push(day);
    else runs.push([day]);
  }
  return allOf
    .format(
      runs.flatMap((run) =>
        run.length > 2 ? [`${dayName(run[0] as Weekday)} to ${dayName(run.at(-1) as Weekday)}`] : run.map(dayName),
      ),
    )
    .replace(/, and /, ' and ');
}

/** "7:00", and "midnight" for the end of the day. */
const clockText = (time: string) => (time === '24:00' ? 'midnight' : time.replace(/^0/, ''));

const list = (words: string[]) => anyOf.format(words).replace(/, or /, ' or ');

/** The conditions of a rule: "On Android, in Germany or Austria, from 7:00 to 11:00". */
export function conditionsText(when: When | undefined, ownZone: string): string {
  const { countries, devices, browsers, languages, from, until, days, hours, timezone = 'UTC' } = when ?? {};
  const parts = [
    devices && `on ${list(devices.map((device) => deviceWords[device] ?? device))}`,
    browsers && `with ${list(browsers.map((browser) => browserWords[browser] ?? browser))}`,
    countries && `in ${list(countries.map((code) => (code === 'XX' ? 'an unknown country' : country(code))))}`,
    languages && `with a phone in ${list(languages.map(language))}`,
    days && `on ${daysText(days)}`,
    hours && `from ${clockText(hours.from)} to ${clockText(hours.to)}`,
    (days || hours) && timezone !== ownZone && zoneName(timezone),
    from && `from ${dateTimeText(from, ownZone)}`,
    until && `until ${dateTimeText(until, ownZone)}`,
  ].filter((part) => typeof part === 'string');
  return parts.length === 0 ? 'Everyone' : parts.join(', ').replace(/^./, (letter) => letter.toUpperCase());
}

/** The share of each weight in whole percent. */
export function sharesOf(weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => (total === 0 ? 0 : Math.round((weight / total) * 100)));
}

/** Where a rule leads: a URL, or each variant of a split with its share. */
export function leadText(rule: Rule): string {
  if (!('split' in rule)) return displayDestination(rule.destination_url);
  const shares = sharesOf(rule.split.map(({ weight }) => weight));
  return rule.split
    .map(({ name, destination_url }, i) => `${shares[i]}% ${name ?? displayDestination(destination_url)}`)
    .join(', ');
}

/** The whole rule: "On Android, in Germany → example.com/breakfast". */
export const ruleText = (rule: Rule, ownZone: string) => `${conditionsText(rule.when, ownZone)} → ${leadText(rule)}`;

/** A short name for tables and messages: the name, or the conditions. */
export const ruleTitle = (rule: Rule, ownZone: string) => rule.name ?? conditionsText(rule.when, ownZone);
