import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { StyleSchema } from '../../../events/style.ts';
import { listedStatuses } from '../../codes/codes.ts';
import { actorName, exact, time } from '../http/schemas.ts';
import { hasPassword } from './code-passwords.ts';
import { targetingResponse } from './targeting-schemas.ts';

/** Schemas of QR codes in responses. */

const url = (description: string, example: string) => t.String({ format: 'uri', description, examples: [example] });

const id = t.String({ description: 'Identifier of the code.', examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] });
const name = t.String({ description: 'Display name, 1 to 255 characters.', examples: ['Spring menu'] });
// Not `uri`: it is returned as it was given, and may have characters beyond ASCII.
const destination = t.String({
  format: 'iri',
  description: 'Where the short link leads: http or https, at most 2,048 characters.',
  examples: ['https://example.com/menu'],
});
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

const domain = t.String({
  description: 'The custom domain of the short link. Present only if the code is on one.',
  examples: ['go.example.com'],
});

/** Set by the operator's import, and never changed. */
const importedResponse = {
  imported_at: t.Optional(
    time('In the single read of a code that was imported: when its link was created at the service that it came from.'),
  ),
  imported_scans: t.Optional(
    t.Integer({
      minimum: 0,
      description:
        'In the single read of a code that was imported: how often its link had been opened before. Not part of `total_scans`, nor of any analytics.',
      examples: [6409],
    }),
  ),
};

export const QrCode = t.Object(
  {
    id,
    name,
    destination_url: destination,
    short_code: t.String({ description: 'Slug of the short link.', examples: ['spring-26'] }),
    short_url: shortUrl,
    domain: t.Optional(domain),
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
    has_password: hasPassword,
    disabled: t.Optional(Disabled),
    ...targetingResponse,
    ...importedResponse,
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
    domain: t.Optional(domain),
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
      description:
        'Key (`key_…`) or person (`usr_…`) that made the change, `operator`, or `scanlog` for the service itself.',
      examples: ['key_0VMNcq2hE3kx0dTtWq8LbY'],
    }),
    client: t.Optional(
      t.String({
        description: 'The MCP client that made the change with the key, by the name that it gives itself.',
        examples: ['claude-code'],
      }),
    ),
    actor: t.String({ description: 'The same as `key_id`.', examples: ['key_0VMNcq2hE3kx0dTtWq8LbY'] }),
    actor_name: actorName,
  },
  exact,
);
