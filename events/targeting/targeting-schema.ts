import { type Static, Type } from '@sinclair/typebox';
import { oneOf } from '../one-of.ts';
import {
  browsers,
  devices,
  maxRules,
  maxTagLength,
  maxTags,
  maxVariants,
  maxWeight,
  minVariants,
  type utmFields,
  weekdays,
} from './targeting-words.ts';

/** Schemas of rules, utm and tags as they are stored and returned. read-fields.ts validates what clients send. */

const exact = { additionalProperties: false } as const;

const url = Type.String({
  description: 'Where the scan leads; the same requirements as `destination_url` of the code.',
  examples: ['https://example.com/lunch'],
});
const name = Type.Optional(Type.String({ description: 'Name, 1 to 255 characters.', examples: ['Lunch'] }));
const id = (description: string, example: string) => Type.String({ description, examples: [example] });

const time = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', description, examples: ['2026-12-01T00:00:00.000Z'] }));
const clockTime = (description: string, example: string) =>
  Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$|^24:00$', description, examples: [example] });

export const WhenSchema = Type.Object(
  {
    countries: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Z]{2}$', examples: ['DE'] }), {
        description: 'ISO 3166-1 alpha-2 codes; `XX` if unknown.',
      }),
    ),
    devices: Type.Optional(Type.Array(oneOf(devices))),
    browsers: Type.Optional(Type.Array(oneOf(browsers))),
    languages: Type.Optional(
      Type.Array(Type.String({ examples: ['de'] }), {
        description:
          'BCP 47 tags. Compared with `Accept-Language` by RFC 4647 lookup: `de` includes a visitor with `de-AT`, and not the other way round.',
      }),
    ),
    from: time('First moment.'),
    until: time('The condition holds until before this moment.'),
    days: Type.Optional(
      Type.Array(oneOf(weekdays), { description: 'Days of the week in `timezone`, on which `hours` begin.' }),
    ),
    hours: Type.Optional(
      Type.Object(
        {
          from: clockTime('First minute, `HH:MM`.', '11:00'),
          to: clockTime('Until before this minute, `HH:MM`; `24:00` is the end of the day.', '15:00'),
        },
        {
          ...exact,
          description:
            'Time of day in `timezone`. Hours that pass midnight, such as 22:00 to 02:00, belong to the day on which they begin.',
        },
      ),
    ),
    timezone: Type.Optional(
      Type.String({
        description:
          'IANA name of the time zone of `days` and `hours`, daylight saving included. A rule that names none takes the time zone of the account when it is saved, and shows it from then on: a later change of the account does not move rules that may be in print. Absent in responses: UTC.',
        examples: ['Europe/Berlin'],
      }),
    ),
  },
  {
    ...exact,
    description: 'All given conditions must hold; a list holds if one of its items does.',
    examples: [
      { days: ['mon', 'tue', 'wed', 'thu', 'fri'], hours: { from: '11:00', to: '15:00' }, timezone: 'Europe/Berlin' },
    ],
  },
);
export type When = Static<typeof WhenSchema>;

const VariantSchema = Type.Object(
  {
    id: id('Identifier of the variant.', 'v3hXb9TkPqRw'),
    name,
    weight: Type.Integer({ minimum: 1, maximum: maxWeight, description: 'Its share is weight ÷ sum of all weights.' }),
    destination_url: url,
  },
  { ...exact, examples: [{ id: 'v3hXb9TkPqRw', weight: 50, destination_url: 'https://example.com/a' }] },
);
export type Variant = Static<typeof VariantSchema>;

const ruleId = id('Identifier of the rule, kept while its content stays.', 'r7dKm2VbNcXz');
const split = Type.Array(VariantSchema, {
  minItems: minVariants,
  maxItems: maxVariants,
  description: 'A/B split. A visitor always gets the same variant; other weights move as few visitors as possible.',
});

export const RuleSchema = Type.Union(
  [
    Type.Object({ id: ruleId, name, when: WhenSchema, destination_url: url }, exact),
    Type.Object({ id: ruleId, name, when: Type.Optional(WhenSchema), split }, exact),
  ],
  {
    examples: [
      {
        id: 'r7dKm2VbNcXz',
        name: 'Lunch',
        when: { hours: { from: '11:00', to: '15:00' }, timezone: 'Europe/Berlin' },
        destination_url: 'https://example.com/lunch',
      },
    ],
  },
);
export type Rule = Static<typeof RuleSchema>;

export const RulesSchema = Type.Array(RuleSchema, {
  minItems: 1,
  maxItems: maxRules,
  description: 'The first rule whose conditions hold decides where a scan leads; if none does, `destination_url`.',
});

const utm = (field: string, example: string) =>
  Type.Optional(Type.String({ description: `Value of \`utm_${field}\`.`, examples: [example] }));

export const UtmSchema = Type.Object(
  {
    source: utm('source', 'flyer'),
    medium: utm('medium', 'qr'),
    campaign: utm('campaign', 'spring'),
    term: utm('term', 'menu'),
    content: utm('content', 'front'),
  } satisfies Record<(typeof utmFields)[number], unknown>,
  {
    ...exact,
    description: 'Parameters that are added to the destination, unless it or the forwarded query has them.',
    examples: [{ source: 'flyer', medium: 'qr' }],
  },
);
export type Utm = Static<typeof UtmSchema>;

export const TagsSchema = Type.Array(Type.String({ minLength: 1, maxLength: maxTagLength, examples: ['summer'] }), {
  minItems: 1,
  maxItems: maxTags,
  description: 'Labels; two that differ only in case are the same.',
});
