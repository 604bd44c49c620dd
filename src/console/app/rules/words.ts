import { countries, type Weekday, weekdays } from '../../../../events/targeting/targeting-words.ts';
import { country } from '../format.ts';

/** Names of what conditions can name, in the order in which the user chooses from them. */

export type Choice = readonly [value: string, name: string];

const byName = ([, a]: Choice, [, b]: Choice) => a.localeCompare(b, 'en');

export const countryChoices: Choice[] = [...countries]
  .map((code): Choice => [code, code === 'XX' ? 'Unknown country' : country(code)])
  .sort(byName);

const languageNames = new Intl.DisplayNames('en', { type: 'language' });

/** The English name of a language tag: "Brazilian Portuguese" for `pt-BR`. */
export function language(tag: string): string {
  try {
    return languageNames.of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** Languages that phones offer most; the API accepts any tag. */
export const languageChoices: Choice[] = (
  'af am ar az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko ' +
  'ky lo lt lv mk ml mn mr ms my nb ne nl pa pl pt pt-BR ro ru si sk sl sq sr sv sw ta te th tr uk ur uz vi zh-Hans ' +
  'zh-Hant zu'
)
  .split(' ')
  .map((tag): Choice => [tag, language(tag)])
  .sort(byName);

export const deviceChoices: Choice[] = [
  ['ios', 'iPhone or iPad'],
  ['android', 'Android'],
  ['desktop', 'Computer or other'],
];

export const browserChoices: Choice[] = [
  ['safari', 'Safari'],
  ['chrome', 'Chrome'],
  ['samsung_browser', 'Samsung Internet'],
  ['other', 'Another browser'],
];

const dayNames: Record<Weekday, string> = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
};
export const dayChoices = weekdays.map((day) => [day, dayNames[day]] as const);
