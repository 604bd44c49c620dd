import { Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { oneOf } from './one-of.ts';
import { type Mode, modes } from './plans.ts';
import { type Scope, scopes } from './scopes.ts';

/** What a key may do, until when, and from where. null does not limit it. */
export interface KeyLimits {
  scopes: readonly Scope[] | null;
  expires_at: Date | null;
  /** CIDR ranges and single addresses of the clients that may use the key. */
  allowed_cidrs: readonly string[] | null;
}

export const unlimited: KeyLimits = { scopes: null, expires_at: null, allowed_cidrs: null };

const text = Type.String();
const mode = oneOf(modes);
const time = Type.String({ format: 'date-time' });
const exact = { additionalProperties: false };

export const keyEvents = {
  key_created: defineEvent(
    2,
    Type.Object(
      {
        key: text,
        name: text,
        mode,
        /** SHA-256 of the secret in hex; the secret has 256 random bits, so it cannot be recovered. */
        hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
        last4: text,
        scopes: Type.Union([Type.Array(oneOf(scopes)), Type.Null()]),
        expires_at: Type.Union([time, Type.Null()]),
        allowed_cidrs: Type.Union([Type.Array(text), Type.Null()]),
      },
      exact,
    ),
    { 1: (old) => ({ ...old, scopes: null, expires_at: null, allowed_cidrs: null }) },
  ),
  /** Another key takes the place of the key, which works until `expires_at`. */
  key_rotated: defineEvent(1, Type.Object({ key: text, mode, replaced_by: text, expires_at: time }, exact)),
  key_revoked: defineEvent(1, Type.Object({ key: text }, exact)),
};

export type KeyEvent = EventOf<typeof keyEvents>;

export interface Key extends KeyLimits {
  id: string;
  account: string;
  name: string;
  mode: Mode;
  hash: string;
  last4: string;
  created_at: Date;
  revoked_at: Date | null;
  /** The key that took its place in a rotation. */
  replaced_by: string | null;
}

export const revokeKey = (key: Key): KeyEvent[] =>
  key.revoked_at === null ? [{ type: 'key_revoked', data: { key: key.id } }] : [];

/** The key works until `endsAt`, or until its own expiry if that comes first; without `endsAt` it ends at once. */
export function replaceKey(key: Key, replacedBy: string, { now, endsAt }: { now: Date; endsAt?: Date }): KeyEvent[] {
  const end = endsAt ?? now;
  const expires = key.expires_at !== null && key.expires_at < end ? key.expires_at : end;
  const { id, mode } = key;
  const data = { key: id, mode, replaced_by: replacedBy, expires_at: expires.toISOString() };
  // The clocks of instances differ: only a revocation is effective at once on all of them.
  return [{ type: 'key_rotated', data }, ...(endsAt === undefined ? revokeKey(key) : [])];
}
