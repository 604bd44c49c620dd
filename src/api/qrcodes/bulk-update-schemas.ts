import { Type as t } from '@sinclair/typebox';
import { maxTagLength, maxTags } from '../../../events/targeting/targeting-words.ts';
import { maxUpdatedCodes } from '../../codes/bulk-update.ts';
import { exact, orNull } from '../http/schemas.ts';
import { targetingRequest } from './targeting-schemas.ts';

const { starts_at, expires_at, fallback_url, tags } = targetingRequest;

const set = t.Object(
  {
    destination_url: t.Optional(
      t.String({ description: 'Destination of all codes.', 'x-expected': 'an http or https URL' }),
    ),
    active: t.Optional(
      t.Boolean({ description: 'true resumes paused codes and publishes drafts; false pauses active codes.' }),
    ),
    starts_at,
    expires_at,
    fallback_url,
    tags,
  },
  { ...exact, minProperties: 1, description: 'The same values for all codes; null removes.' },
);

const tagList = (description: string) =>
  t.Optional(
    t.Array(t.String({ minLength: 1, maxLength: maxTagLength }), {
      minItems: 1,
      maxItems: maxTags,
      description,
      examples: [['summer']],
    }),
  );

export const BulkUpdateRequest = t.Object(
  {
    qr_ids: t.Optional(
      t.Array(t.String({ maxLength: 50, examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'], 'x-expected': 'an id' }), {
        minItems: 1,
        maxItems: maxUpdatedCodes,
        description: 'Ids of the codes.',
      }),
    ),
    tag: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 255,
        pattern: '^[^\\u0000]*$',
        description: 'In place of `qr_ids`: all codes with this tag, ignoring case.',
        examples: ['tables'],
        'x-expected': 'a tag',
      }),
    ),
    q: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 255,
        pattern: '^[^\\u0000]*$',
        description: 'In place of `qr_ids`: all codes that `q` of the list finds.',
        examples: ['old.example'],
        'x-expected': 'a text of 1 to 255 characters',
      }),
    ),
    set: t.Optional(set),
    replace: t.Optional(
      t.Object(
        {
          find: t.String({
            minLength: 1,
            maxLength: 2_048,
            description: 'The text to replace, wherever it occurs, with regard to case.',
            examples: ['https://old.example/'],
          }),
          with: t.String({ maxLength: 2_048, description: 'The new text.', examples: ['https://new.example/'] }),
        },
        { ...exact, description: 'Replaces a text in `destination_url`, `fallback_url` and the URLs of `rules`.' },
      ),
    ),
    tags: t.Optional(
      t.Object(
        { add: tagList('Tags that each code gets.'), remove: tagList('Tags that each code loses.') },
        { ...exact, minProperties: 1, description: 'Adds and removes tags; other tags stay.' },
      ),
    ),
    dry_run: t.Optional(
      t.Boolean({ default: false, description: 'true computes the same response and changes nothing.' }),
    ),
  },
  {
    ...exact,
    examples: [
      { tag: 'tables', replace: { find: 'https://old.example/', with: 'https://new.example/' }, dry_run: true },
    ],
  },
);

export const BulkUpdateResponse = t.Object(
  {
    changed: t.Integer({ description: 'Number of codes that change.', examples: [1] }),
    data: t.Array(
      t.Object(
        {
          qr_id: t.String({ examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
          name: t.String({ description: 'Name of the code.', examples: ['Table 1'] }),
          changes: t.Array(
            t.Object(
              {
                field: t.String({
                  description: 'As in the history of the code: a field, or `schedule` for several.',
                  examples: ['destination_url'],
                }),
                from: t.Unknown({ description: 'Value before.', examples: ['https://old.example/?table=1'] }),
                to: t.Unknown({ description: 'Value after.', examples: ['https://new.example/?table=1'] }),
              },
              exact,
            ),
          ),
        },
        exact,
      ),
      { description: 'Every code that changes, with its changes: in the order of `qr_ids`, or newest first.' },
    ),
    skipped: t.Array(
      t.Object(
        {
          qr_id: t.String({ examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
          reason: t.String({ examples: ['It already has these values, or nothing to replace.'] }),
        },
        exact,
      ),
      { description: 'Codes that stay as they are, and why, in sentences for people.' },
    ),
    undo: orNull(
      t.Object(
        {
          actor: t.String({ examples: ['key_0VMNcq2hE3kx0dTtWq8LbY'] }),
          from: t.String({ format: 'date-time', examples: ['2026-05-03T12:00:00.000Z'] }),
          to: t.String({ format: 'date-time', examples: ['2026-05-03T12:00:00.000Z'] }),
        },
        {
          ...exact,
          description:
            'The body of `POST /v1/account/revert` that undoes the update: it undoes what this key changed at this moment. null if nothing was changed.',
        },
      ),
    ),
  },
  exact,
);
