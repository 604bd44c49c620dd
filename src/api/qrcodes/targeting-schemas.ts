import { Kind, type TSchema, TypeRegistry, Type as t } from '@sinclair/typebox';
import type { OptionalField } from '../../../events/code-fields.ts';
import { maxNoteLength } from '../../../events/fields.ts';
import { oneOf } from '../../../events/one-of.ts';
import { normalizeTag } from '../../../events/tags.ts';
import { availabilities } from '../../../events/targeting/targeting.ts';
import { RulesSchema, TagsSchema, UtmSchema, WhenSchema } from '../../../events/targeting/targeting-schema.ts';
import {
  browsers,
  devices,
  maxRules,
  maxScansLimit,
  maxTagLength,
  maxTags,
  maxVariants,
  maxWeight,
  minVariants,
} from '../../../events/targeting/targeting-words.ts';
import { type TagFilter, tagMatches } from '../../codes/codes.ts';
import { exact, orNull } from '../http/schemas.ts';

/** Schemas of what decides where a code leads, in requests and responses. */

const time = (description: string) =>
  t.String({ format: 'date-time', description, examples: ['2026-12-01T09:00:00.000Z'] });
const fallbackUrl = t.String({
  format: 'iri',
  description: 'Where scans lead while the code is not `live`. Without it they get a 404 page that says why.',
  examples: ['https://example.com/closed'],
});
const startsAt = time('From when on the code redirects to its destinations.');
const expiresAt = time('Until before when the code redirects to its destinations.');
const maxScans = t.Integer({
  minimum: 1,
  maximum: maxScansLimit,
  description:
    'The number of redirects to destinations, over all instances, after which the code is `limit_reached`. Scans by bots and to `fallback_url` do not count. While the database is unavailable, a code with a limit answers 503.',
  examples: [500],
});
const forwardQuery = t.Boolean({
  description:
    "Whether the query string of the short link is added to the destination. The destination's own parameters win.",
});

const note = t.String({
  maxLength: maxNoteLength,
  description: `A text for the people who manage the code, which visitors do not see: up to ${maxNoteLength} characters, with line breaks. An empty one is removed.`,
  examples: ['Printed on the menu cards of the terrace'],
});

export const availability = oneOf(availabilities, {
  description:
    'Whether the code redirects to its destinations now, by `starts_at`, `expires_at` and `max_scans`. `status` is independent of it.',
});

/** Fields of a code in responses, each present only if it is set. */
export const targetingResponse = {
  availability: t.Optional(availability),
  rules: t.Optional(RulesSchema),
  starts_at: t.Optional(startsAt),
  expires_at: t.Optional(expiresAt),
  max_scans: t.Optional(maxScans),
  remaining_scans: t.Optional(
    t.Integer({ minimum: 0, description: 'Redirects left until `max_scans`; present with it.', examples: [120] }),
  ),
  fallback_url: t.Optional(fallbackUrl),
  forward_query: t.Optional(forwardQuery),
  utm: t.Optional(UtmSchema),
  tags: t.Optional(TagsSchema),
  note: t.Optional(note),
} satisfies Record<OptionalField, TSchema> & Record<string, TSchema>;

TypeRegistry.Set('Documented', () => true);

/** A schema that only documents: events/read-fields.ts validates the value, and names the place of every error. */
const documented = (schema: TSchema, description?: string): TSchema =>
  t.Optional({
    ...orNull(schema),
    ...(description === undefined ? {} : { description }),
    [Kind]: 'Documented',
  } as unknown as TSchema);

const givenId = t.Optional(
  t.String({ description: 'Id of the rule or variant that it replaces, to keep the id. Otherwise by its content.' }),
);
const givenName = t.Optional(t.String({ minLength: 1, maxLength: 255 }));
const givenUrl = t.String({ description: 'The same requirements as `destination_url` of the code.' });

const GivenVariant = t.Object(
  { id: givenId, name: givenName, weight: t.Integer({ minimum: 1, maximum: maxWeight }), destination_url: givenUrl },
  exact,
);

export const NewRule = t.Union([
  t.Object({ id: givenId, name: givenName, when: WhenSchema, destination_url: givenUrl }, exact),
  t.Object(
    {
      id: givenId,
      name: givenName,
      when: t.Optional(WhenSchema),
      split: t.Array(GivenVariant, { minItems: minVariants, maxItems: maxVariants }),
    },
    exact,
  ),
]);

/** Fields of a create or a change; null removes. */
export const targetingRequest = {
  rules: documented(
    t.Array(NewRule, { maxItems: maxRules }),
    'The first rule whose conditions hold decides where a scan leads; if none does, `destination_url`. Replaces all rules.',
  ),
  starts_at: documented(startsAt),
  expires_at: documented(expiresAt),
  max_scans: documented(maxScans),
  fallback_url: documented(fallbackUrl),
  forward_query: documented(forwardQuery),
  utm: documented(UtmSchema),
  tags: documented(
    t.Array(t.String({ minLength: 1, maxLength: maxTagLength }), { maxItems: maxTags }),
    'Labels, kept as written and compared without regard to case: of two that differ only in case, the first. Replaces all tags.',
  ),
  note: documented(note),
} satisfies Record<OptionalField, TSchema>;

/** The query parameters of reads that can be narrowed to tags. */
export const tagQuery = {
  tag: t.Optional(
    t.Array(t.String({ minLength: 1, maxLength: 255, pattern: '^[^\\u0000]*$', 'x-expected': 'a tag' }), {
      minItems: 1,
      maxItems: 100,
      description: 'Only codes with this tag, ignoring case. Repeat it for several tags.',
      examples: [['summer']],
    }),
  ),
  tag_match: t.Optional(
    oneOf(tagMatches, {
      default: 'any',
      description: 'Whether codes must have `any` or `all` of several tags.',
    }),
  ),
};

/** The filter of `tagQuery`; undefined without a tag. */
export const tagFilterOf = ({
  tag,
  tag_match: match = 'any',
}: {
  tag?: string[];
  tag_match?: TagFilter['match'];
}): TagFilter | undefined => tag && { tags: tag.map(normalizeTag), match };

export const Tags = t.Object(
  {
    data: t.Array(
      t.Object(
        {
          tag: t.String({ examples: ['summer'] }),
          qrcodes: t.Integer({ description: 'Number of codes that have it.', examples: [12] }),
        },
        exact,
      ),
    ),
  },
  exact,
);

export const ResolveRequest = t.Object(
  {
    country: t.Optional(
      t.String({
        pattern: '^[A-Za-z]{2}$',
        description: 'ISO 3166-1 alpha-2. Default: `XX`, unknown.',
        'x-expected': 'a two-letter country code',
      }),
    ),
    device: t.Optional(oneOf(devices, { description: 'Default: desktop.' })),
    browser: t.Optional(oneOf(browsers, { description: 'Default: other.' })),
    language: t.Optional(
      t.String({ maxLength: 1_000, description: 'A language tag, or a whole `Accept-Language` header.' }),
    ),
    at: t.Optional(
      t.String({
        description: 'When the scan happens. Default: `as_of`, or now.',
        'x-expected': 'a timestamp such as 2026-12-01T09:00:00Z',
      }),
    ),
    as_of: t.Optional(
      t.String({
        description: 'The code as it was at this time, not in the future. Default: as it is now.',
        'x-expected': 'a timestamp such as 2026-12-01T09:00:00Z',
      }),
    ),
    query: t.Optional(t.String({ maxLength: 8_000, description: 'Query string of the scan, such as `table=5`.' })),
    visitor: t.Optional(
      t.String({ maxLength: 1_000, description: 'Any text: equal texts get the same variant of a split.' }),
    ),
  },
  { ...exact, examples: [{ country: 'DE', device: 'ios', language: 'de-AT', at: '2026-12-01T11:30:00Z' }] },
);

export const Resolved = t.Object(
  {
    destination_url: orNull(
      t.String({ description: 'Where the scan leads.', examples: ['https://example.com/lunch'] }),
    ),
    location: orNull(
      t.String({
        description: 'The `Location` header: with forwarded query and utm.',
        examples: ['https://example.com/lunch?table=5'],
      }),
    ),
    rule: orNull(t.String({ description: 'Id of the rule that decided.', examples: ['r7dKm2VbNcXz'] })),
    variant: orNull(t.String({ description: 'Id of the variant of its split.', examples: ['v3hXb9TkPqRw'] })),
    availability,
  },
  { ...exact, description: 'null for both URLs if the scan would get a page that says why.' },
);
