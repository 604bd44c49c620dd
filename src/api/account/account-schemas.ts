import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { modes, plans } from '../../../events/plans.ts';
import { exact, orNull, time } from '../http/schemas.ts';

/** Schemas of the account. */

const guestLogo = orNull(t.String({ description: 'Id of a live logo.', examples: ['logo_0VMNcq2hE3kx0dTtWq8LbY'] }));
const guestPageDescription =
  'Shows the name of the account, and a logo of up to 128 KiB unless it is null, on the pages that guests see instead of a destination: paused, not started, expired, limit reached, deleted. null shows neither.';

const guestPage = orNull(t.Object({ logo: guestLogo }, { ...exact, description: guestPageDescription }));
const guestPageChange = t.Union(
  [t.Object({ logo: t.Optional(guestLogo) }, { ...exact, description: guestPageDescription }), t.Null()],
  { 'x-expected': 'an object with the id of a logo, such as {"logo": null}, or null' },
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
        given_short_codes: t.Integer({
          description:
            'Maximum number of codes with a `short_code` of your choice that can be created in 30 days, live and test counted apart.',
          examples: [500],
        }),
        domains: t.Integer({ description: 'Maximum number of custom domains.', examples: [3] }),
      },
      exact,
    ),
    usage: t.Object(
      {
        qr_codes: t.Union([t.Integer(), t.Null()], {
          description: 'Number of live codes, which count against the limit; null for a test key.',
          examples: [12],
        }),
        test_qr_codes: t.Integer({
          description: 'Number of test codes, which do not count against the limit.',
          examples: [3],
        }),
        given_short_codes: t.Integer({
          description:
            'Codes with a `short_code` of your choice that were created in the last 30 days in the mode of the API key, deleted ones included.',
          examples: [4],
        }),
        domains: t.Integer({ description: 'Number of custom domains, pending ones included.', examples: [1] }),
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
    guest_page: guestPage,
    created_at: time('When the account was created.'),
  },
  exact,
);

export const AccountChange = t.Object(
  {
    timezone: t.Optional(
      t.String({
        description:
          'IANA name of a time zone. Rules that are written from then on have it unless they name another; rules that exist keep theirs.',
        examples: ['Europe/Berlin'],
        'x-expected': 'the IANA name of a time zone, such as Europe/Berlin',
      }),
    ),
    guest_page: t.Optional(guestPageChange),
  },
  { ...exact, minProperties: 1, examples: [{ timezone: 'Europe/Berlin', guest_page: { logo: null } }] },
);
