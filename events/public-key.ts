import { Type } from '@sinclair/typebox';
import { oneOf } from './one-of.ts';
import { modes } from './plans.ts';
import { scopes } from './scopes.ts';

/** What the owner of an account sees of events of API keys (public-types.ts). */

const exact = { additionalProperties: false };
const mode = oneOf(modes);

export const keyId = Type.String({ description: 'Identifier of the key.', examples: ['key_0VMNcq2hE3kx0dTtWq8LbY'] });

export const CreatedKeyData = Type.Object(
  {
    key_id: keyId,
    name: Type.String({ examples: ['CI'] }),
    mode,
    last4: Type.String({ description: 'The last four characters of the key.', examples: ['x7Qa'] }),
    scopes: Type.Union([Type.Array(oneOf(scopes)), Type.Null()], {
      description: 'What the key may do; null for full access.',
      examples: [['codes.read']],
    }),
    expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the key stops working; null if it does not expire.',
      examples: ['2026-12-31T23:00:00.000Z'],
    }),
    allowed_cidrs: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'The networks that the key may be used from; null for all.',
      examples: [['203.0.113.0/24']],
    }),
  },
  exact,
);

export const RotatedKeyData = Type.Object(
  {
    key_id: keyId,
    mode,
    replaced_by: Type.String({ description: 'The new key.', examples: ['key_0VMNcq2hE3kx0dTtWq8LbZ'] }),
    expires_at: Type.String({
      format: 'date-time',
      description: 'When the replaced key stops working.',
      examples: ['2026-05-04T08:00:00.000Z'],
    }),
  },
  exact,
);
