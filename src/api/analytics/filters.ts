import { type Static, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { maxPlaces, topCount } from '../../analytics/figures.ts';
import { botChoices, type Selection } from '../../analytics/selection.ts';
import { comparisons, periodQuery } from './period.ts';
import { browsers, devices } from './schemas.ts';

/** Query parameters that narrow an analytics read to some scans. */
const filterQuery = {
  bots: t.Optional(
    oneOf(botChoices, {
      default: 'include',
      description:
        '`include` counts every scan, `exclude` leaves out scans by bots, `only` leaves out all other scans.',
    }),
  ),
  country: t.Optional(
    t.String({
      pattern: '^[A-Za-z]{2}$',
      description: 'Only scans from this country: ISO 3166-1 alpha-2, `XX` for unknown.',
      examples: ['DE'],
      'x-expected': 'a country code of two letters, such as DE',
    }),
  ),
  city: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Only scans from this city, by its English name as in `top_cities`, case-sensitive; `Unknown` for unknown. Cities of the same name in several countries are told apart by `country`.',
      examples: ['Berlin'],
      'x-expected': 'the name of a city, of 1 to 255 characters',
    }),
  ),
  device: t.Optional(oneOf(devices, { description: 'Only scans by this kind of device.' })),
  browser: t.Optional(oneOf(browsers, { description: 'Only scans with this browser.' })),
};

/** Query parameters of every analytics read. */
export const analyticsQuery = { ...periodQuery, ...filterQuery };

export type FilterQuery = Static<ReturnType<typeof t.Object<typeof filterQuery>>>;

export const filtersOf = ({ bots = 'include', country, city, device, browser }: FilterQuery) =>
  ({
    bots,
    filters: { country: country?.toUpperCase(), city, device, browser },
  }) satisfies Partial<Selection>;

/** Query parameter of reads whose summary has more figures on request: clients of the contract get the figures of the contract. */
export const includeQuery = {
  include: t.Optional(
    oneOf(['counts'], { description: '`counts` adds `unique_scans` and `bot_scans` to every `summary`.' }),
  ),
};

const placeCount = (description: string) =>
  t.Optional(t.Integer({ minimum: 1, maximum: maxPlaces, default: topCount, description, examples: [maxPlaces] }));

/** Query parameters of reads that list countries and cities. */
export const placesQuery = {
  countries: placeCount('How many countries `top_countries` has at most.'),
  cities: placeCount('How many cities `top_cities` has at most.'),
};

/** Query parameter of reads that can compare with an earlier period. */
export const compareQuery = {
  compare: t.Optional(
    oneOf(comparisons, {
      description:
        'Adds the same figures for an earlier period, as `previous`. `previous`: the period of equal length before; a period that begins with a day of `timezone` and ends in the present one is moved by whole days, so that today until 14:37 is compared with yesterday until 14:37. The others keep weekdays and times of day: `previous_weeks` goes back by the least number of whole weeks that is not shorter than the period, `week_before` by a week, `year_before` by 364 days.',
    }),
  ),
};
