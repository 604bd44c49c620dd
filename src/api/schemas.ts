import { type TSchema, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../events/one-of.ts';
import { modes, plans } from '../../events/plans.ts';
import { StyleSchema } from '../../events/style.ts';
import { listedStatuses } from '../codes/codes.ts';
import { errorCodes } from '../lib/errors.ts';
import { targetingAnswer, targetingRequest } from './targeting-schemas.ts';

/** Schemas of requests and responses, used for validation, documentation and types. */

const exact = { additionalProperties: false } as const;

const time = (description: string) =>
  t.String({ format: 'date-time', description, examples: ['2026-03-01T09:30:00.000Z'] });
const url = (description: string, example: string) => t.String({ format: 'uri', description, examples: [example] });

const id = t.String({ description: 'Identifier of the code.', examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] });
const name = t.String({ description: 'Display name, 1 to 255 characters.', examples: ['Spring menu'] });
const destination = url(
  'Where the short link leads: http or https, at most 2,048 characters.',
  'https://example.com/menu',
);
const shortUrl = url('The short link, which the image encodes.', 'https://go.example.com/spring-26');
const status = oneOf(listedStatuses, { description: 'State of the code.', examples: ['active'] });
const totalScans = t.Integer({ description: 'Number of scans.', examples: [42] });
const version = t.Integer({
  minimum: 1,
  description:
    'In the single read and after a restore: the number of changes of the code, its creation included; scans are not counted. Send it in quotes as `If-Match` to change only this version, or to `restore` to bring it back later.',
  examples: [3],
});
const createdAt = time('When the code was created.');

const Warning = t.Object(
  { field: t.String({ examples: ['style.dotsColor'] }), message: t.String() },
  { ...exact, description: 'A property of the style that makes the code hard to scan.' },
);

const Disabled = t.Object(
  {
    reason: t.String({ description: 'Reason given by the operator.', examples: ['Reported as phishing.'] }),
    at: time('When the code was disabled.'),
  },
  {
    ...exact,
    description:
      'Present only while the operator of the service has disabled the code, or blocked the host of its destination; its short link answers 410.',
  },
);

export const QrCode = t.Object(
  {
    id,
    name,
    destination_url: destination,
    short_code: t.String({ description: 'Slug of the short link.', examples: ['spring-26'] }),
    short_url: shortUrl,
    image_url: url('The public image.', 'https://qr.example.com/images/qr_0VMNcq2hE3kx0dTtWq8LbY/public'),
    status,
    active: t.Boolean({
      description: 'Whether the short link redirects: true for active, false for paused and draft.',
    }),
    total_scans: totalScans,
    unique_scans: t.Integer({ description: 'Number of scans by new visitors.', examples: [30] }),
    created_at: createdAt,
    updated_at: time('When the code was last changed.'),
    version: t.Optional(version),
    style: StyleSchema,
    disabled: t.Optional(Disabled),
    ...targetingAnswer,
  },
  exact,
);

export const CreatedQrCode = t.Object(
  {
    ...QrCode.properties,
    warnings: t.Optional(t.Array(Warning)),
    type: t.Optional(oneOf(['url'], { description: 'Present only in the response to the variant shape.' })),
    destination: t.Optional(t.String({ description: 'Present only in the response to the variant shape.' })),
    scans: t.Optional(t.Integer({ description: 'Present only in the response to the variant shape.' })),
  },
  exact,
);

export const ListedQrCode = t.Object(
  {
    id,
    name,
    destination_url: destination,
    short_url: shortUrl,
    status,
    total_scans: totalScans,
    created_at: createdAt,
  },
  exact,
);

const thenOrNull = (count: typeof totalScans) =>
  t.Union([count, t.Null()], {
    description:
      'Number until then; null if the operator has deleted scans of before that time by `SCAN_RETENTION_MONTHS`, since only their number is known, not when they were.',
    examples: [42],
  });

/** A code at an earlier time. */
export const PastQrCode = t.Object(
  { ...QrCode.properties, total_scans: thenOrNull(totalScans), unique_scans: thenOrNull(totalScans) },
  { ...exact, description: 'A code as it was at the time `as_of`.' },
);

export const PastListedQrCode = t.Object(
  { ...ListedQrCode.properties, total_scans: thenOrNull(totalScans) },
  { ...exact, description: 'A code as it was at the time `as_of`.' },
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
          'Slug of the short link: 3 to 50 letters, digits, `-` or `_`, kept as given. The short link also works in any other case, so a short code that differs from a given one only in case is taken. Generated if omitted, and then case-sensitive. Never assigned to another code.',
        'x-expected': 'a string of 3 to 50 letters, digits, "-" or "_"',
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

const orNull = <S extends TSchema>(schema: S) => t.Union([schema, t.Null()]);

const { short_code, status: newStatus, style, allow_unreadable, ...newFields } = t.Partial(NewQrCode).properties;

const overrides = {
  ...newFields,
  name: t.Optional(t.String({ description: 'Display name of the copy. Default: that of the original.' })),
  destination_url: t.Optional(
    t.String({ description: 'Where the short link of the copy leads. Default: as that of the original.' }),
  ),
  short_code: t.Optional(orNull(short_code)),
  status: t.Optional(orNull(newStatus)),
  style: t.Optional(orNull(style)),
  allow_unreadable: t.Optional(orNull(allow_unreadable)),
};

/** Documents only: the validated payload is that of a create, with the fields of the original in it. */
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
  version: 'is set by the service; send it as If-Match to change only this version',
  disabled: 'is set by the operator of the service: remove it',
  availability: 'follows from starts_at, expires_at and max_scans: change these',
};

export const QrCodeChange = t.Object(
  {
    name: t.Optional(t.String({ description: 'New display name.', 'x-expected': 'a string of 1 to 255 characters' })),
    destination_url: t.Optional(t.String({ description: 'New destination.', 'x-expected': 'an http or https URL' })),
    active: t.Optional(
      t.Boolean({ description: 'true resumes a paused code or publishes a draft; false pauses an active code.' }),
    ),
    ...targetingRequest,
  },
  {
    ...exact,
    minProperties: 1,
    examples: [{ destination_url: 'https://example.com/summer' }],
    'x-refused': refusedChanges,
  },
);

export const Deleted = t.Object(
  {
    deleted: t.Literal(true),
    id: t.String({ description: 'Identifier of what was deleted.', examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
  },
  exact,
);

export const HistoryEntry = t.Object(
  {
    id: t.String({ description: 'Identifier of the event.', examples: ['evt_0VMNcq2hE3kx0dTtWq8LbY'] }),
    event: t.String({ description: 'Type of the event.', examples: ['destination_changed'] }),
    version: t.Integer({ description: 'Version of the code after the change, which can be restored.', examples: [2] }),
    timestamp: time('When the change was made.'),
    field: t.Union([t.String(), t.Null()], {
      description:
        'The field that changed, or `schedule`, `query` for several; `version` for a restore, whose changes follow as entries of their own; null for create and delete.',
      examples: ['destination_url'],
    }),
    from: t.Unknown({ description: 'Value before the change.', examples: ['https://example.com/menu'] }),
    to: t.Unknown({ description: 'Value after the change.', examples: ['https://example.com/summer'] }),
    key_id: t.String({
      description: 'Key that made the change, `operator`, or `scanlog` for the service itself.',
      examples: ['key_0VMNcq2hE3kx0dTtWq8LbY'],
    }),
  },
  exact,
);

export const Account = t.Object(
  {
    id: t.String({ examples: ['acct_0VMNcq2hE3kx0dTtWq8LbY'] }),
    name: t.String({ examples: ['Café Lumière'] }),
    plan: oneOf(plans),
    mode: oneOf(modes, { description: 'Mode of the API key of this request.' }),
    limits: t.Object(
      {
        requests_per_minute: t.Integer({ examples: [60] }),
        qr_codes: t.Union([t.Integer(), t.Null()], {
          description: 'Maximum number of live codes; null if unlimited.',
          examples: [50],
        }),
      },
      exact,
    ),
    usage: t.Object(
      {
        qr_codes: t.Integer({ description: 'Number of live codes, which count against the limit.', examples: [12] }),
        test_qr_codes: t.Integer({
          description: 'Number of test codes, which do not count against the limit.',
          examples: [3],
        }),
        requests: t.Integer({
          description: 'Requests in the current rate limit window, including this one.',
          examples: [1],
        }),
      },
      exact,
    ),
    timezone: t.String({
      description:
        'IANA name of the time zone that a rule gets if it names none when it is written, and that the console shows.',
      examples: ['Europe/Berlin'],
    }),
    created_at: time('When the account was created.'),
  },
  exact,
);

export const AccountChange = t.Object(
  {
    timezone: t.String({
      description:
        'IANA name of a time zone. Rules that are written from then on have it unless they name another; rules that exist keep theirs.',
      examples: ['Europe/Berlin'],
      'x-expected': 'the IANA name of a time zone, such as Europe/Berlin',
    }),
  },
  exact,
);

export const ApiKey = t.Object(
  {
    id: t.String({ examples: ['key_0VMNcq2hE3kx0dTtWq8LbY'] }),
    name: t.String({ examples: ['Website'] }),
    mode: oneOf(modes),
    prefix: t.String({ examples: ['sk_live_'] }),
    last4: t.String({ examples: ['x7Qd'] }),
    created_at: time('When the key was created.'),
    last_used_at: t.Union([t.String({ format: 'date-time' }), t.Null()], {
      description: 'To the minute; null if never used.',
      examples: ['2026-03-02T18:04:00.000Z'],
    }),
    revoked_at: t.Optional(time('When the key was revoked; only with `include=revoked`.')),
  },
  exact,
);

export const CreatedApiKey = t.Object(
  {
    ...ApiKey.properties,
    key: t.String({ description: 'The secret, shown only in this response.', examples: ['sk_live_…'] }),
  },
  exact,
);

export const NewApiKey = t.Object(
  {
    name: t.String({ description: 'What the key is for.', 'x-expected': 'a string of 1 to 255 characters' }),
    mode: t.Optional(oneOf(modes, { description: 'Default: the mode of the API key of this request.' })),
  },
  { ...exact, examples: [{ name: 'Website', mode: 'live' }] },
);

const Pagination = t.Object(
  { page: t.Integer(), limit: t.Integer(), total: t.Integer(), total_pages: t.Integer() },
  { ...exact, examples: [{ page: 1, limit: 20, total: 1, total_pages: 1 }] },
);

export const pageOf = <S extends Parameters<typeof t.Array>[0]>(item: S) =>
  t.Object({ data: t.Array(item), pagination: Pagination }, exact);

/** The query parameters of a paged list. */
export const pageQuery = (limits: { default: number; maximum: number }) => ({
  page: t.Optional(
    t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1, description: 'Page number, from 1.' }),
  ),
  limit: t.Optional(t.Integer({ minimum: 1, ...limits, description: `Items per page, at most ${limits.maximum}.` })),
});

export const ErrorAnswer = t.Object(
  {
    error: t.Object(
      {
        code: oneOf(errorCodes, { description: 'Machine-readable error code.' }),
        message: t.String({ description: 'Human-readable message.' }),
        details: t.Optional(
          t.Array(t.Object({ index: t.Optional(t.Integer()), field: t.String(), message: t.String() }, exact), {
            description: 'Every invalid field, and what it must be.',
          }),
        ),
      },
      exact,
    ),
  },
  exact,
);
