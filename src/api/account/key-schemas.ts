import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { modes } from '../../../events/plans.ts';
import { scopes } from '../../../events/scopes.ts';
import { maxOverlapHours } from '../../accounts/keys.ts';
import { exact, time } from '../http/schemas.ts';

/** Schemas of API keys. */

const limits = {
  scopes: t.Union([t.Array(oneOf(scopes)), t.Null()], {
    description: 'What the key may do; null for full access. Each operation names the scope that it needs.',
    examples: [['codes.read', 'analytics.read']],
  }),
  expires_at: t.Union([t.String({ format: 'date-time' }), t.Null()], {
    description: 'When the key stops working; null if it does not expire.',
    examples: ['2026-12-31T23:00:00.000Z'],
  }),
  allowed_cidrs: t.Union([t.Array(t.String()), t.Null()], {
    description: 'The networks that the key works from, as CIDR ranges or single addresses; null for all.',
    examples: [['203.0.113.0/24', '2001:db8::/32']],
  }),
};

export const ApiKey = t.Object(
  {
    id: t.String({ examples: ['key_0VMNcq2hE3kx0dTtWq8LbY'] }),
    name: t.String({ examples: ['Website'] }),
    mode: oneOf(modes),
    prefix: t.String({ examples: ['sk_live_'] }),
    last4: t.String({ examples: ['x7Qd'] }),
    scopes: limits.scopes,
    expires_at: limits.expires_at,
    allowed_cidrs: limits.allowed_cidrs,
    created_at: time('When the key was created.'),
    last_used_at: t.Union([t.String({ format: 'date-time' }), t.Null()], {
      description: 'To the minute; null if never used.',
      examples: ['2026-03-02T18:04:00.000Z'],
    }),
    unused: t.Boolean({
      description: 'Whether the key was neither used nor created in the last 90 days: revoke it if nothing needs it.',
      examples: [false],
    }),
    replaced_by: t.Optional(
      t.String({ description: 'The key that took its place in a rotation.', examples: ['key_0VMNcq2hE3kx0dTtWq8LbZ'] }),
    ),
    revoked_at: t.Optional(time('When the key was revoked; only with `include=revoked`.')),
  },
  exact,
);

const secret = t.String({ description: 'The secret, shown only in this response.', examples: ['sk_live_…'] });

export const CreatedApiKey = t.Object({ ...ApiKey.properties, key: secret }, exact);

export const RotatedApiKey = t.Object(
  {
    ...ApiKey.properties,
    key: secret,
    replaced: t.Object(
      {
        id: t.String({ description: 'The key that was rotated.', examples: ['key_0VMNcq2hE3kx0dTtWq8LbY'] }),
        works_until: time('Until when the rotated key works.'),
      },
      exact,
    ),
  },
  exact,
);

const maxNetworks = 50;

const expiry = (description: string) =>
  t.Optional(
    t.Union([t.String(), t.Null()], {
      description,
      examples: ['2026-12-31T23:00:00Z'],
      'x-expected': 'a timestamp with its offset from UTC, such as 2026-12-31T23:00:00Z, or null',
    }),
  );

export const NewApiKey = t.Object(
  {
    name: t.String({ description: 'What the key is for.', 'x-expected': 'a string of 1 to 255 characters' }),
    mode: t.Optional(oneOf(modes, { description: 'Default: the mode of the API key of this request.' })),
    scopes: t.Optional(
      t.Union([t.Array(oneOf(scopes), { minItems: 1, maxItems: scopes.length }), t.Null()], {
        description: 'What the key may do. Without them it has full access.',
        'x-expected': `a list of scopes (${scopes.join(', ')}), or null`,
      }),
    ),
    expires_at: expiry('When the key stops working. Without it the key does not expire.'),
    allowed_cidrs: t.Optional(
      t.Union([t.Array(t.String({ maxLength: 64 }), { minItems: 1, maxItems: maxNetworks }), t.Null()], {
        description: `The networks that the key works from: up to ${maxNetworks} CIDR ranges or single addresses, IPv4 or IPv6. Without them it works from everywhere.`,
        'x-expected': `a list of 1 to ${maxNetworks} IP addresses or CIDR ranges, or null`,
      }),
    ),
  },
  {
    ...exact,
    examples: [
      { name: 'Website', mode: 'live' },
      { name: 'Report', mode: 'live', scopes: ['codes.read', 'analytics.read'], expires_at: '2026-12-31T23:00:00Z' },
    ],
  },
);

export const KeyRotation = t.Object(
  {
    overlap_hours: t.Optional(
      t.Number({
        minimum: 0,
        maximum: maxOverlapHours,
        default: 24,
        description: 'How long the old secret still works. 0 ends it at once: do not lose the response.',
      }),
    ),
    expires_at: expiry('When the new key stops working; null for never. Default: when the old one would have.'),
  },
  { ...exact, examples: [{ overlap_hours: 24 }] },
);
