import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { StyleSchema } from '../../../events/style.ts';
import { exact, orNull } from '../http/schemas.ts';
import { password } from './code-passwords.ts';
import { targetingRequest } from './targeting-schemas.ts';

/** Schemas of requests that create and change QR codes. */

export const NewQrCode = t.Object(
  {
    name: t.String({
      description: 'Display name, 1 to 255 characters.',
      'x-expected': 'a string of 1 to 255 characters',
    }),
    destination_url: t.Optional(
      t.String({
        description:
          'Where the short link leads: http or https, at most 2,048 characters. Required, under this name or as `destination`.',
        'x-expected': 'an http or https URL',
      }),
    ),
    short_code: t.Optional(
      t.String({
        description:
          'Slug of the short link: 3 to 50 letters, digits, `-` or `_`, kept as given. The short link also works in any other case, so a short code that differs from a given one only in case is taken. Generated if omitted, and then case-sensitive. Never assigned to another code, also after a delete, so an account can choose only so many in 30 days (`limits.given_short_codes` of `GET /v1/account`).',
        'x-expected': 'a string of 3 to 50 letters, digits, "-" or "_"',
      }),
    ),
    domain: t.Optional(
      t.String({
        description:
          'The custom domain of the short link: an active domain of the account (`GET /v1/domains`). Its short codes are apart from all others, are compared without case, and do not count in `limits.given_short_codes`. Default: the domain of the service. Cannot be changed later.',
        examples: ['go.example.com'],
        'x-expected': 'the name of a domain',
      }),
    ),
    status: t.Optional(
      oneOf(['active', 'draft'], {
        default: 'active',
        description: 'The short link of a draft does not redirect until PATCH sets `active` to true.',
      }),
    ),
    style: t.Optional(StyleSchema),
    allow_unreadable: t.Optional(
      t.Boolean({
        description:
          'Creates the code even if no decoder reads it because of its logo, frame, gradient or quiet zone. Default: false. Colors and shapes alone are never refused.',
      }),
    ),
    password,
    ...targetingRequest,
    type: t.Optional(oneOf(['url'], { description: 'Variant shape: the kind of destination.' })),
    destination: t.Optional(
      t.String({ description: 'Variant shape: the same as `destination_url`.', 'x-expected': 'an http or https URL' }),
    ),
  },
  {
    ...exact,
    examples: [{ name: 'Spring menu', destination_url: 'https://example.com/menu', style: { dotsType: 'rounded' } }],
  },
);

export const NewQrCodes = t.Object(
  { qrcodes: t.Array(NewQrCode, { minItems: 1, maxItems: 1_000 }) },
  {
    ...exact,
    examples: [
      {
        qrcodes: [
          { name: 'Table 1', destination_url: 'https://example.com/?table=1' },
          { name: 'Table 2', destination_url: 'https://example.com/?table=2', short_code: 'table-2' },
        ],
      },
    ],
  },
);

const {
  short_code,
  domain,
  status: newStatus,
  style,
  allow_unreadable,
  ...newFields
} = t.Partial(NewQrCode).properties;

const overrides = {
  ...newFields,
  name: t.Optional(t.String({ description: 'Display name of the copy. Default: the name of the original.' })),
  destination_url: t.Optional(
    t.String({ description: 'Where the short link of the copy leads. Default: the destination of the original.' }),
  ),
  short_code: t.Optional(orNull(short_code)),
  domain: t.Optional(orNull(domain)),
  status: t.Optional(orNull(newStatus)),
  style: t.Optional(orNull(style)),
  allow_unreadable: t.Optional(orNull(allow_unreadable)),
};

/** Documents only: the validated payload is the payload of a create, with the fields of the original in it. */
export const QrCodeDuplicate = t.Object(
  {
    ...overrides,
    overrides: t.Optional(
      t.Object(overrides, { ...exact, description: 'The same fields, in an object instead of in the body itself.' }),
    ),
  },
  { ...exact, examples: [{ name: 'Spring menu, dark', style: { dotsColor: '#1F2937' }, tags: null }] },
);

const fixed = (instead: string) => `is fixed after creation; use ${instead}`;
const copyWith = (what: string) => `POST /v1/qrcodes/:id/duplicate to create a copy with another ${what}`;

/** Fields of a code that PATCH does not accept, each with the reason and what to use instead. */
const refusedChanges = {
  id: fixed('POST /v1/qrcodes to create a new code'),
  short_code: fixed(copyWith('short code')),
  short_url: fixed(copyWith('short_code')),
  domain: fixed(copyWith('domain')),
  image_url: fixed('GET /v1/qrcodes/:id/download for other sizes and formats of the image'),
  style: fixed(copyWith('style')),
  type: fixed('destination_url to change where the code leads'),
  status: 'cannot be set directly; use active (true resumes or publishes, false pauses)',
  destination: 'is not accepted by PATCH; use destination_url',
  ...Object.fromEntries(
    ['total_scans', 'unique_scans', 'scans', 'remaining_scans'].map((field) => [
      field,
      'is counted by the service: remove it',
    ]),
  ),
  ...Object.fromEntries(['created_at', 'updated_at'].map((field) => [field, 'is set by the service: remove it'])),
  ...Object.fromEntries(
    ['imported_at', 'imported_scans'].map((field) => [field, 'is set by the import of the operator: remove it']),
  ),
  version: 'is set by the service; send it as If-Match to change only this version',
  disabled: 'is set by the operator of the service: remove it',
  has_password: 'follows from password: change that',
  availability: 'follows from starts_at, expires_at and max_scans: change these',
};

export const QrCodeChange = t.Object(
  {
    name: t.Optional(t.String({ description: 'New display name.', 'x-expected': 'a string of 1 to 255 characters' })),
    destination_url: t.Optional(t.String({ description: 'New destination.', 'x-expected': 'an http or https URL' })),
    active: t.Optional(
      t.Boolean({ description: 'true resumes a paused code or publishes a draft; false pauses an active code.' }),
    ),
    password,
    ...targetingRequest,
  },
  {
    ...exact,
    minProperties: 1,
    examples: [{ destination_url: 'https://example.com/summer' }],
    'x-refused': refusedChanges,
  },
);

export const RestoreRequest = t.Object(
  {
    version: t.Integer({
      minimum: 1,
      maximum: 2 ** 31 - 1,
      description: 'The version to bring back, as the history lists it.',
      examples: [2],
      'x-expected': 'the number of a version, from 1',
    }),
  },
  { ...exact, examples: [{ version: 2 }] },
);
