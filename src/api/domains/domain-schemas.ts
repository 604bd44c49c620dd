import { Type as t } from '@sinclair/typebox';
import { domainProblem } from '../../../events/domain.ts';
import { oneOf } from '../../../events/one-of.ts';
import { exact, orNull, time } from '../http/schemas.ts';

/** Schemas of custom domains. */

/** Size of the files that `app_links` has, together and as JSON. */
export const maxAppLinksBytes = 65_536;

const anyObject = t.Object({}, { additionalProperties: true, 'x-expected': 'an object' });
const appLinksDescription = `Files that let phones open links of the domain in an app, together at most ${maxAppLinksBytes / 1024} KiB: \`apple\` is served as \`/.well-known/apple-app-site-association\`, \`android\` as \`/.well-known/assetlinks.json\`. null for none.`;
const appLinks = t.Object(
  {
    apple: t.Optional(
      t.Object(
        {
          applinks: t.Optional(anyObject),
          webcredentials: t.Optional(anyObject),
          appclips: t.Optional(anyObject),
          activitycontinuation: t.Optional(anyObject),
        },
        { ...exact, minProperties: 1 },
      ),
    ),
    android: t.Optional(
      t.Array(
        t.Object(
          { relation: t.Array(t.String(), { minItems: 1, maxItems: 100 }), target: anyObject },
          { additionalProperties: true },
        ),
        { minItems: 1, maxItems: 100 },
      ),
    ),
  },
  {
    ...exact,
    minProperties: 1,
    description: appLinksDescription,
    examples: [
      {
        apple: { applinks: { details: [{ appIDs: ['ABCDE12345.com.example.app'], components: [{ '/': '/*' }] }] } },
      },
    ],
  },
);

const url = (description: string) => orNull(t.String({ description, examples: ['https://example.com/'] }));
const settings = {
  root_url: url('Where the domain itself leads, without a short code; null for a page of the service.'),
  not_found_url: url('Where a short code leads that the domain does not have; null for a page of the service.'),
  expired_url: url(
    'Where codes lead that are not live, unless they have a `fallback_url`; null for a page of the service.',
  ),
  app_links: orNull(appLinks),
};
const primary = t.Boolean({ description: 'Whether the console suggests this domain for new codes.' });

const DnsRecord = t.Object(
  {
    type: oneOf(['TXT', 'CNAME', 'A', 'AAAA'], { examples: ['TXT'] }),
    name: t.String({ examples: ['_scanlog.go.example.com'] }),
    value: t.String({ examples: ['scanlog-verify=4dGsTqKuhYx2Vb7mRz9cWnPe3L'] }),
  },
  exact,
);

export const Domain = t.Object(
  {
    id: t.String({ description: 'Identifier of the domain.', examples: ['dom_0VMNcq2hE3kx0dTtWq8LbY'] }),
    name: t.String({ description: 'In lower case and punycode.', examples: ['go.example.com'] }),
    status: oneOf(['pending', 'active', 'failing'], {
      description:
        '`pending` until the proof is complete; then `active`. `failing`: the proof is no longer complete. The domain still redirects, but another account that proves that it is theirs gets it.',
    }),
    records: t.Array(DnsRecord, {
      description: 'What the DNS of the domain must have: the proof, and a record that leads to this service.',
    }),
    ...settings,
    primary,
    codes: t.Integer({ description: 'Number of codes on this domain, without deleted ones.', examples: [12] }),
    problems: t.Array(domainProblem, {
      description:
        'What the last check has missed, and what it found instead; empty if nothing, or before the first check.',
      examples: [
        [
          {
            check: 'txt',
            expected:
              'A TXT record at _scanlog.go.example.com with the value scanlog-verify=4dGsTqKuhYx2Vb7mRz9cWnPe3L.',
            found:
              'We found no TXT record at _scanlog.go.example.com. A new record can take an hour until it is found.',
          },
        ],
      ],
    }),
    created_at: time('When the domain was claimed.'),
    checked_at: orNull(time('When the proof was last checked; null before the first check.')),
  },
  exact,
);

export const NewDomain = t.Object(
  {
    name: t.String({
      description:
        'A domain of yours, such as `go.example.com`. Upper case, other scripts and a dot at the end are accepted.',
      examples: ['go.example.com'],
    }),
  },
  exact,
);

const fixed = 'cannot be changed: remove the domain, and add the other';
export const DomainChange = t.Partial(t.Object({ ...settings, primary }, exact), {
  ...exact,
  minProperties: 1,
  examples: [{ root_url: 'https://example.com/', primary: true }],
  'x-refused': { name: fixed, id: 'cannot be changed', status: 'cannot be changed; POST …/verify checks the domain' },
});
