import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { shareBots } from '../../../events/share.ts';
import { exact, orNull, time } from '../http/schemas.ts';
import { nameField, qrIdsField, tagsField } from '../http/shared-fields.ts';

export const maxShareCodes = 100;
export const maxFrameOrigins = 10;
export const minPasswordLength = 6;

const id = t.String({ description: 'Identifier of the page.', examples: ['shr_0VMNcq2hE3kx0dTtWq8LbY'] });
const name = nameField('Title of the page, 1 to 255 characters.', 'Summer campaign');
const password = t.String({
  description: `Asked for before the page is shown, ${minPasswordLength} to 255 characters. Only its hash is stored.`,
  'x-expected': `a string of ${minPasswordLength} to 255 characters`,
});
const bots = oneOf(shareBots, { description: 'Whether scans by bots are counted. Default: exclude.' });
const frameOrigins = t.Array(t.String(), {
  maxItems: maxFrameOrigins,
  minItems: 0,
  description: `Websites that may show the page in a frame, such as https://example.com; up to ${maxFrameOrigins}. Default: none.`,
  examples: [['https://example.com']],
});
const qrIds = qrIdsField(
  maxShareCodes,
  `The codes that it is about, up to ${maxShareCodes}; a code that is deleted later leaves it.`,
);
const tags = tagsField('It is about all codes with one of these tags, also those that get it later.', 'summer');

export const Share = t.Object(
  {
    id,
    name,
    url: orNull(
      t.String({
        description:
          'The link to the page. Everyone who has it can open the page. Add `.json` for its figures as JSON.',
        examples: ['https://qr.example.com/s/4fQ0m2…'],
      }),
    ),
    qr_ids: orNull(qrIds),
    tags: orNull(tags),
    has_password: t.Boolean({ description: 'Whether it asks for a password.' }),
    expires_at: orNull(time('When the page ends by itself; null for never.')),
    bots,
    frame_origins: frameOrigins,
    created_at: time('When it was created.'),
  },
  exact,
);

export const Shares = t.Object({ data: t.Array(Share) }, exact);

const timestamp = t.String({
  description: 'When the page ends by itself, in the future. Default: never.',
  examples: ['2027-01-01T00:00:00Z'],
  'x-expected': 'a timestamp such as 2027-01-01T00:00:00Z',
});

export const NewShare = t.Object(
  {
    name,
    qr_ids: t.Optional(qrIds),
    tags: t.Optional(tags),
    password: t.Optional(orNull(password)),
    expires_at: t.Optional(orNull(timestamp)),
    bots: t.Optional(bots),
    frame_origins: t.Optional(frameOrigins),
  },
  { ...exact, examples: [{ name: 'Summer campaign', tags: ['summer'], password: 'sunflower' }] },
);

export const ShareChange = t.Object(
  {
    name: t.Optional(name),
    qr_ids: t.Optional(qrIds),
    tags: t.Optional(tags),
    password: t.Optional(orNull(password)),
    expires_at: t.Optional(orNull(timestamp)),
    bots: t.Optional(bots),
    frame_origins: t.Optional(frameOrigins),
  },
  {
    ...exact,
    minProperties: 1,
    examples: [{ password: null, expires_at: '2027-01-01T00:00:00Z' }],
    'x-refused': { url: 'is fixed after creation; create another page' },
  },
);
